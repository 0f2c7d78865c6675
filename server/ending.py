"""Why and when a lesson ends: at once, or after the sentence."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from server.deadline import Deadline

log = logging.getLogger(__name__)

# A restart lets the tutor's sentence end, but no longer than this; a session that has no longer
# than this left takes no new turn.
SENTENCE_S = 4.0
# The learner asked for the end of what is being said: as long as a long answer.
FAREWELL_S = 60.0


class Ending:
    """`session_id` is for the log. The first reason counts; `reached` is set once and for all.

    `arm` is called when an end begins to wait for quiet: it may be quiet already.
    """

    def __init__(self, session_id: str, arm: Callable[[], None] = lambda: None) -> None:
        self._session_id, self._arm = session_id, arm
        self._loop = asyncio.get_running_loop()
        self._deadline = Deadline(lambda: self.now(self._planned))
        self._limit = Deadline(lambda: self.now("session-limit"))
        self._last_call_at: float | None = None
        self._planned = ""
        self._asked_for = False
        self.reason = ""
        self.reached = asyncio.Event()
        self.at_quiet = False

    def limit(self, seconds: float) -> None:
        """VOICE-63: the lesson ends this long from now, to the second; what is being said then
        has had SENTENCE_S to end, and the minute before that to come to it."""
        end = self._loop.time() + seconds
        self._limit.set(end)
        self._last_call_at = end - min(SENTENCE_S, seconds / 2)

    @property
    def expiring(self) -> bool:
        """The end is near and nothing that the learner does puts it off."""
        last_call = self._last_call_at is not None and self._loop.time() >= self._last_call_at
        return last_call or (self.at_quiet and not self._asked_for) or self.reached.is_set()

    def now(self, reason: str) -> None:
        if not self.reached.is_set():
            self.reason = reason
            self._deadline.set(None)
            self._limit.set(None)
            log.info("lesson ends", extra={"session": self._session_id, "why": reason})
            self.reached.set()

    def when_quiet(self, reason: str) -> None:
        """Once nobody speaks and all is played, SENTENCE_S from now at the latest."""
        if not self.reached.is_set():
            self._asked_for = False
            self._plan(reason, SENTENCE_S)
            self.at_quiet = True
            self._arm()

    def after_reply(self, reason: str) -> None:
        """As `when_quiet`, asked for by the learner: FAREWELL_S, and off when they cut in."""
        if not (self.reached.is_set() or self.at_quiet):
            self._asked_for = True
            self._plan(reason, FAREWELL_S)
            self.at_quiet = True
            self._arm()

    def cut_in(self) -> None:
        """The learner goes on: an end that they had asked for is off (PAINS T30)."""
        if self.at_quiet and self._asked_for:
            self.at_quiet = self._asked_for = False
            self._deadline.set(None)
            log.info("lesson goes on", extra={"session": self._session_id})

    def quiet(self) -> None:
        if self.at_quiet:
            self.now(self._planned)

    def _plan(self, reason: str, seconds: float) -> None:
        self._planned = reason
        self._deadline.set(self._loop.time() + seconds)

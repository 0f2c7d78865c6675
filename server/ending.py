"""Why and when a lesson ends: at once, after the sentence, or once the page has heard of it."""

from __future__ import annotations

import asyncio
import logging

from server.deadline import Deadline

log = logging.getLogger(__name__)

# A restart lets the tutor's sentence end, but no longer than this.
SENTENCE_S = 4.0
# A lesson that fails at once waits so long for the page that has to be told.
PAGE_S = 10.0


class Ending:
    """`session_id` is for the log. The first reason counts; `reached` is set once and for all."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._loop = asyncio.get_running_loop()
        self._deadline = Deadline(lambda: self.now(self._planned))
        self._planned = "session-limit"
        self.reason = ""
        self.reached = asyncio.Event()
        self.at_quiet = False
        self.at_page = False

    def limit(self, seconds: float) -> None:
        """VOICE-63: the lesson ends this long from now."""
        self._deadline.set(self._loop.time() + seconds)

    def now(self, reason: str) -> None:
        if not self.reached.is_set():
            self.reason = reason
            self._deadline.set(None)
            log.info("lesson ends", extra={"session": self._session_id, "why": reason})
            self.reached.set()

    def when_quiet(self, reason: str) -> None:
        """Once nobody speaks, SENTENCE_S from now at the latest."""
        self._plan(reason, SENTENCE_S)
        self.at_quiet = True

    def when_page_heard(self, reason: str) -> None:
        """Once the page is ready, PAGE_S from now at the latest."""
        self._plan(reason, PAGE_S)
        self.at_page = True

    def quiet(self) -> None:
        if self.at_quiet:
            self.now(self._planned)

    def page_heard(self) -> None:
        if self.at_page:
            self.now(self._planned)

    def _plan(self, reason: str, seconds: float) -> None:
        self._planned = reason
        self.limit(seconds)

"""The limit of a voice session announced: a line for the learner, a silent word to the tutor, and
a spoken one when neither has said anything since."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pydantic import BaseModel

from agent.prompts.wrap_up import WRAP_UP
from server import rtvi
from server.deadline import Deadline

# This long before the end. A session that is hardly longer is not announced.
NOTICE_S = 60.0
LAST_MINUTE = "One minute is left in this voice session."


class LastMinute:
    """`tell` reaches the page; `steer` is called when the tutor should know, `say` when half of
    the time is over that was left then."""

    def __init__(
        self,
        tell: Callable[[BaseModel], None],
        steer: Callable[[], None],
        say: Callable[[], None] = lambda: None,
    ) -> None:
        self._tell, self._steer = tell, steer
        self._loop = asyncio.get_running_loop()
        self._deadline = Deadline(self._announce)
        self._reminder = Deadline(say)
        self._announced = False

    def limit(self, seconds: float) -> None:
        """The session ends this long from now (VOICE-63)."""
        if seconds > 1.5 * NOTICE_S:
            end = self._loop.time() + seconds
            self._deadline.set(end - NOTICE_S)
            self._reminder.set(end - NOTICE_S / 2)

    def close(self) -> None:
        self._deadline.set(None)
        self._reminder.set(None)

    def steered(self, update: str) -> str:
        """A state update takes the place of an older one, so it carries the word on."""
        return f"{update}\n{WRAP_UP}" if self._announced else update

    def _announce(self) -> None:
        self._announced = True
        self._tell(rtvi.System(text=LAST_MINUTE, code="last-minute"))
        self._steer()

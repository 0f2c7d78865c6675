"""The way back to a Live session for a lesson that goes on without one: when it is tried, and when
a session that opened may be trusted. Nobody hears of a try that fails. No I/O."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from media.live.link_events import LinkDown, LinkEvent, LinkFailed, LinkUp
from media.live.port import LiveEvent

# The first try, and the longest wait between two; each wait is twice the one before.
FIRST_S, LONGEST_S = 30.0, 480.0
# A session that is still there after this much has not only been let in.
STEADY_S = 1.0
# One that lasted so long: what comes after it is another story.
RELIABLE_S = 120.0


class Waits:
    """How long to wait before the next try."""

    def __init__(self) -> None:
        self._next_s = FIRST_S

    def next(self) -> float:
        """Seconds; the one after it is longer."""
        wait_s, self._next_s = self._next_s, min(LONGEST_S, 2 * self._next_s)
        return wait_s

    def lasted(self, seconds: float) -> None:
        """So long did a session live that was taken."""
        if seconds >= RELIABLE_S:
            self._next_s = FIRST_S


class Trial:
    """The ear of a Live session that is tried. Until `taken` nothing of it is passed on."""

    def __init__(self, pass_on: Callable[[LiveEvent | LinkEvent], None]) -> None:
        self._pass_on = pass_on
        self._news = asyncio.Event()
        self._up = False
        self.model = ""
        self.taken = False

    def hear(self, event: LiveEvent | LinkEvent) -> None:
        if self.taken:
            self._pass_on(event)
        elif isinstance(event, LinkUp):
            self._up, self.model = True, event.model
            self._news.set()
        elif isinstance(event, LinkDown | LinkFailed):
            self.call_off()

    def call_off(self) -> None:
        self._up = False
        self._news.set()

    async def stands(self) -> bool:
        """Whether it opened and was still there STEADY_S later. The link bounds the opening."""
        await self._news.wait()
        if not self._up:
            return False
        self._news.clear()
        try:
            async with asyncio.timeout(STEADY_S):
                await self._news.wait()
        except TimeoutError:
            return True
        return False

"""What one running turn of the move agent shares between its model, its tools and its owner.

A turn is bound to the tasks that work on it by a context variable: the model is never asked whose
turn it is (API-20).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from agent.dialogue import MoveRequest
from agent.failures import ModelError
from agent.topic import Grounded
from agent.usage import TokenUsage

# Grounds the bound topic again by live search and returns it; raises on failure.
Refresh = Callable[[], Awaitable[Grounded]]


class Slot:
    """One of the few places for agent work on the event loop, given back while the model thinks.

    A turn blocks the loop for 4 to 6 ms at a step; two at a time keep audio pacing intact.
    """

    def __init__(self, places: asyncio.Semaphore) -> None:
        self._places = places
        self._held = False

    async def __aenter__(self) -> None:
        await self._places.acquire()
        self._held = True

    async def __aexit__(self, *_: object) -> None:
        if self._held:
            self._held = False
            self._places.release()

    @asynccontextmanager
    async def yielded(self) -> AsyncIterator[None]:
        """Gives the place up for the body; a cancelled return leaves nothing held."""
        await self.__aexit__()
        try:
            yield
        finally:
            await self.__aenter__()


@dataclass(slots=True)
class Turn:
    """`topic` is the bound topic, replaced when a tool refreshed it; `steps` are model answers
    of the whole turn, `calls` model calls of the running attempt."""

    request: MoveRequest
    topic: Grounded
    slot: Slot
    refresh: Refresh | None = None
    usage: TokenUsage = field(default_factory=TokenUsage)
    steps: int = 0
    calls: int = 0
    tools: list[str] = field(default_factory=list)
    failure: ModelError | None = None


CURRENT: ContextVar[Turn] = ContextVar("pidjin_turn")

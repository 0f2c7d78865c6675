"""Calls to one mind, one at a time and in order, while the session goes on listening."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from local_gemini.workers import Workers

# More silent contexts than this without an answer in between hold up the reader.
MAX_WAITING = 64


class MindDesk:
    """`run()` is owned by the session's TaskGroup; an error of the mind reaches whoever waits."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._waiting: asyncio.Queue[tuple[Callable[[], Any], asyncio.Future[Any]]] = asyncio.Queue(
            MAX_WAITING
        )

    async def post(self, call: Callable[[], Any]) -> asyncio.Future[Any]:
        """Queues a call; the future is its outcome. Waits only when the queue is full."""
        outcome: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        await self._waiting.put((call, outcome))
        return outcome

    async def ask(self, call: Callable[[], Any]) -> Any:
        """Queues a call and waits for it. A cancelled caller does not cancel the call: what the
        mind has begun it finishes, and the next call comes after."""
        return await (await self.post(call))

    async def run(self) -> None:
        while True:
            call, outcome = await self._waiting.get()
            try:
                value = await self._workers.think(call)
            except Exception as error:  # boundary: belongs to the caller of `ask`
                if outcome.cancelled():
                    continue
                outcome.set_exception(error)
            else:
                if not outcome.cancelled():
                    outcome.set_result(value)

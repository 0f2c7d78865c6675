"""Threads in which the engine may block: one hears, one speaks, a few think. Bounded queues are
the callers' duty; a job that is no longer wanted when its turn comes is a no-op."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

THINKERS = 4


class Workers:
    """Owned by the server; `close()` waits for nothing."""

    def __init__(self, threads: bool) -> None:
        self._threads = threads
        self._ears = ThreadPoolExecutor(1, "local-gemini-ears")
        self._mouth = ThreadPoolExecutor(1, "local-gemini-mouth")
        self._heads = ThreadPoolExecutor(THINKERS, "local-gemini-head")

    async def hear(self, job: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._run(self._ears, lambda: job(*args, **kwargs))

    async def think(self, job: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._run(self._heads, lambda: job(*args, **kwargs))

    async def speak(
        self, job: Callable[[str], bytes], text: str, wanted: Callable[[], bool]
    ) -> bytes:
        """Speech of one sentence; empty when nobody wants it any more."""
        return await self._run(self._mouth, lambda: job(text) if wanted() else b"")

    async def _run(self, pool: ThreadPoolExecutor, job: Callable[[], T]) -> T:
        if not self._threads:
            return job()
        return await asyncio.get_running_loop().run_in_executor(pool, job)

    def close(self) -> None:
        for pool in (self._ears, self._mouth, self._heads):
            pool.shutdown(wait=False, cancel_futures=True)

"""What a lesson has under way while it goes on listening: one errand of a kind at a time.

Every errand has a deadline and an owner; what it brings is told once, or never, when it was called
off. Nothing here knows what an errand is for.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from server.errors import Code, PidjinError, Unavailable

log = logging.getLogger(__name__)

Result = TypeVar("Result")

TOO_LATE = "This took too long. Please try again."
BROKEN = "Something went wrong on our side. Please try again."


class Errands:
    """`run` is owned by the lesson; `start` and `call_off` may come at any time before `finish`."""

    def __init__(self) -> None:
        self._group: asyncio.TaskGroup | None = None
        self._running: dict[str, asyncio.Task[None]] = {}
        self._finished = asyncio.Event()

    async def run(self) -> None:
        """Until `finish`; raises what a callback raises."""
        async with asyncio.TaskGroup() as self._group:
            await self._finished.wait()
            for task in self._running.values():
                task.cancel()

    def start(
        self,
        kind: str,
        work: Callable[[], Awaitable[Result]],
        done: Callable[[Result], None],
        failed: Callable[[PidjinError], None],
        *,
        within_s: float,
    ) -> None:
        """Takes the place of an errand of the same kind. A lesson that ends starts none."""
        self.call_off(kind)
        if self._group is None or self._finished.is_set():
            return
        job = self._do(kind, work, done, failed, within_s)
        task = self._group.create_task(job, name=f"lesson:{kind}")
        self._running[kind] = task
        task.add_done_callback(lambda over: self._forget(kind, over))

    def call_off(self, kind: str) -> None:
        """Nothing more will be heard of it."""
        task = self._running.pop(kind, None)
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    def finish(self) -> None:
        """Calls everything off; idempotent."""
        self._finished.set()

    def _forget(self, kind: str, over: asyncio.Task[None]) -> None:
        if self._running.get(kind) is over:
            del self._running[kind]

    async def _do(
        self,
        kind: str,
        work: Callable[[], Awaitable[Result]],
        done: Callable[[Result], None],
        failed: Callable[[PidjinError], None],
        within_s: float,
    ) -> None:
        error: PidjinError
        try:
            async with asyncio.timeout(within_s):
                result = await work()
        except PidjinError as known:
            error = known
        except TimeoutError:
            error = Unavailable(TOO_LATE, code=Code.DEADLINE_EXCEEDED)
        except Exception:  # boundary: a bug in one errand costs that errand
            log.exception("errand broke", extra={"errand": kind})
            error = Unavailable(BROKEN, code=Code.INTERNAL)
        else:
            done(result)
            return
        log.warning("errand failed", extra={"errand": kind, "why": error.code})
        failed(error)

"""Does one job a day at a time of the UTC day, whatever happens to the clock in between.

Nothing is planned ahead: every CHECK_S the wall clock is read anew and the question is whether
today's job is due and not yet settled. So a clock that is put forward or back, a machine that
slept and a late start need no case of their own; a day that passed unseen is not made up for.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime, time

from server.clock import Clock

log = logging.getLogger(__name__)

CHECK_S = 30.0
# Between two attempts on one day, when the first one failed.
RETRY_S = 300.0
ATTEMPTS_A_DAY = 3
STOP_S = 5.0
# A clock put back by less than this many days repeats none of them.
DAYS_KEPT = 30

# Whether today's job is settled; False asks to be called again soon.
Job = Callable[[], Awaitable[bool]]


class Daily:
    """Owns one task between `start` and `close`; both are safe to call twice."""

    def __init__(self, name: str, at: time, clock: Clock, job: Job) -> None:
        self._name = name
        self._at = at
        self._clock = clock
        self._job = job
        self._task: asyncio.Task[None] | None = None
        self._settled: deque[date] = deque(maxlen=DAYS_KEPT)
        self._failed: deque[date] = deque(maxlen=ATTEMPTS_A_DAY)
        self._not_before = 0.0

    async def __aenter__(self) -> Daily:
        self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def start(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name=f"daily:{self._name}")

    async def close(self) -> None:
        """Cancels a running job too; waits at most STOP_S for it."""
        task, self._task = self._task, None
        if task is None:
            return
        task.cancel()
        _, pending = await asyncio.wait({task}, timeout=STOP_S)
        if pending:
            log.error("daily_job_would_not_stop", extra={"job": self._name})

    async def _run(self) -> None:
        while True:
            now = self._clock.now().astimezone(UTC)
            if self._due(now):
                await self._attempt(now.date())
            await asyncio.sleep(self._pause_s())

    def _due(self, now: datetime) -> bool:
        if now.time() < self._at or now.date() in self._settled:
            return False
        return asyncio.get_running_loop().time() >= self._not_before

    async def _attempt(self, today: date) -> None:
        try:
            settled = await self._job()
        except Exception:  # boundary: one failed attempt, never the end of the schedule
            log.exception("daily_job_failed", extra={"job": self._name})
            self._failed.append(today)
            settled = self._failed.count(today) >= ATTEMPTS_A_DAY
            self._not_before = asyncio.get_running_loop().time() + RETRY_S
        if settled:
            self._settled.append(today)

    def _pause_s(self) -> float:
        """Until the hour itself if that comes before the next check."""
        now = self._clock.now().astimezone(UTC)
        due = datetime.combine(now.date(), self._at, UTC)
        left_s = (due - now).total_seconds()
        return min(CHECK_S, left_s) if left_s > 0 else CHECK_S

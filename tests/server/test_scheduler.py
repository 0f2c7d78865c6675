"""The daily schedule under every kind of clock, in virtual time."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine
from datetime import UTC, datetime, time, timedelta, timezone
from typing import Any

import pytest

from server.news.schedule import NEWS_AT
from server.scheduler import ATTEMPTS_A_DAY, CHECK_S, RETRY_S, STOP_S, Daily
from tests.virtual_time import run_virtual

NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)


class LoopClock:
    """Wall time that runs with the loop's own, and can be put forward or back."""

    def __init__(self, start: datetime) -> None:
        self._start = start
        self._at = asyncio.get_running_loop().time()

    def now(self) -> datetime:
        passed = asyncio.get_running_loop().time() - self._at
        return self._start + timedelta(seconds=passed)

    def put(self, **by: float) -> None:
        self._start += timedelta(**by)


class Bench:
    """A schedule at 05:00 and the moments at which its job was called."""

    def __init__(self, start: datetime, job: Callable[[], Awaitable[bool]] | None = None) -> None:
        self.clock = LoopClock(start)
        self.runs: list[datetime] = []
        self._job = job
        self.daily = Daily("news", NEWS_AT, self.clock, self._called)

    async def _called(self) -> bool:
        self.runs.append(self.clock.now())
        return await self._job() if self._job else True

    async def __aenter__(self) -> Bench:
        self.daily.start()
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.daily.close()

    @property
    def days(self) -> list[int]:
        return [run.day for run in self.runs]


def virtual(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Runs the test in virtual time."""

    def run(*args: Any, **kwargs: Any) -> None:
        run_virtual(test(*args, **kwargs))

    run.__name__ = test.__name__
    run.__signature__ = inspect.signature(test)  # type: ignore[attr-defined]
    return run


@pytest.mark.req("PIPE-8", "API-45", "TEST-17")
@virtual
async def test_the_job_is_done_at_five_once_a_day() -> None:
    async with Bench(datetime(2026, 1, 15, 4, 50, 7, tzinfo=UTC)) as bench:
        assert bench.runs == []
        await asyncio.sleep(592)
        assert bench.runs == []
        await asyncio.sleep(1.1)
        assert bench.runs == [datetime(2026, 1, 15, 5, 0, 0, tzinfo=UTC)]
        await asyncio.sleep(12 * 3600)
        assert len(bench.runs) == 1


@pytest.mark.req("PIPE-8", "API-45")
@virtual
async def test_summer_time_changes_nothing() -> None:
    """Over the last Sunday of March, on a wall clock of Berlin."""
    days = []
    for day in (28, 29, 30):
        berlin = timezone(timedelta(hours=1 if day == 28 else 2))
        start = datetime(2026, 3, day, 4, 30, tzinfo=UTC).astimezone(berlin)
        async with Bench(start) as bench:
            await asyncio.sleep(3600)
            days += [run.astimezone(UTC) for run in bench.runs]
    assert days == [datetime(2026, 3, day, 5, tzinfo=UTC) for day in (28, 29, 30)]


@pytest.mark.req("API-45")
@virtual
async def test_days_follow_each_other_without_a_double_or_a_gap() -> None:
    async with Bench(datetime(2026, 1, 15, 4, tzinfo=UTC)) as bench:
        for _ in range(4):
            await asyncio.sleep(1.5 * 3600)  # past five
            bench.clock.put(hours=22.5)  # the rest of the day passes asleep
        await asyncio.sleep(CHECK_S + 1)
        assert bench.days == [15, 16, 17, 18]


@pytest.mark.req("API-45")
@virtual
async def test_a_start_after_five_catches_up_and_one_before_five_waits() -> None:
    async with Bench(NOON) as late:
        await asyncio.sleep(CHECK_S)
        assert late.runs == [NOON]
    async with Bench(datetime(2026, 1, 15, 0, 0, 1, tzinfo=UTC)) as early:
        await asyncio.sleep(CHECK_S)
        assert early.runs == []  # what yesterday missed is not made up for


@pytest.mark.req("API-45", "TEST-17")
@pytest.mark.parametrize(
    ("start", "forward", "days"),
    [
        ((4, 0), {"hours": 1}, [15]),  # over five
        ((4, 0), {"minutes": 30}, []),  # up to five
        ((4, 0), {"hours": 25}, [16]),  # over five and a day
        ((4, 0), {"hours": 22}, []),  # over five, into the next night
        ((12, 0), {"hours": 2}, [15]),
        ((12, 0), {"hours": 24}, [15, 16]),
        ((12, 0), {"days": 400}, [15, 19]),
    ],
)
@virtual
async def test_a_clock_put_forward(
    start: tuple[int, int], forward: dict[str, float], days: list[int]
) -> None:
    async with Bench(datetime(2026, 1, 15, *start, tzinfo=UTC)) as bench:
        bench.clock.put(**forward)
        await asyncio.sleep(CHECK_S + 1)
        assert bench.days == days


@pytest.mark.req("API-45", "TEST-17")
@pytest.mark.parametrize(
    "back", [{"minutes": 2}, {"hours": 8}, {"days": 1}, {"days": 3, "hours": 1}], ids=str
)
@virtual
async def test_a_clock_put_back_repeats_no_day(back: dict[str, float]) -> None:
    async with Bench(datetime(2026, 1, 15, 4, 59, tzinfo=UTC)) as bench:
        await asyncio.sleep(61)
        assert bench.days == [15]
        bench.clock.put(**{unit: -by for unit, by in back.items()})
        await asyncio.sleep(CHECK_S + 1)
        bench.clock.put(**back)
        await asyncio.sleep(20 * 3600)
        assert bench.days.count(15) == 1
        assert sorted(bench.days) == sorted(set(bench.days))
        bench.clock.put(hours=4)
        await asyncio.sleep(CHECK_S + 1)
        assert bench.days[-1] == 16


@virtual
async def test_a_clock_put_back_while_it_waits_still_meets_five() -> None:
    async with Bench(datetime(2026, 1, 15, 4, 59, tzinfo=UTC)) as bench:
        bench.clock.put(hours=-2)
        await asyncio.sleep(2 * 3600 + 59)
        assert bench.runs == []
        await asyncio.sleep(2)
        assert bench.days == [15]


@pytest.mark.req("PIPE-22")
@virtual
async def test_a_job_that_somebody_else_is_at_is_asked_again_until_it_is_settled() -> None:
    answers = [False, False, True]

    async def job() -> bool:
        return answers.pop(0)

    async with Bench(NOON, job) as bench:
        await asyncio.sleep(3600)
        assert [(run - NOON).total_seconds() for run in bench.runs] == [0, CHECK_S, 2 * CHECK_S]


@virtual
async def test_a_failed_job_is_tried_three_times_a_day_and_the_schedule_goes_on() -> None:
    async def job() -> bool:
        raise OSError("the disk is full")

    logging.disable(logging.ERROR)
    try:
        async with Bench(NOON, job) as bench:
            await asyncio.sleep(8 * 3600)
            assert len(bench.runs) == ATTEMPTS_A_DAY
            assert bench.runs[1] - bench.runs[0] >= timedelta(seconds=RETRY_S)
            bench.clock.put(hours=16)
            await asyncio.sleep(CHECK_S + 1)
            assert bench.days == [15] * ATTEMPTS_A_DAY + [16]
    finally:
        logging.disable(logging.NOTSET)


@virtual
async def test_a_job_without_end_does_not_run_twice_and_stops_with_the_schedule() -> None:
    ended = asyncio.Event()

    async def job() -> bool:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return True

    async with Bench(NOON, job) as bench:
        await asyncio.sleep(3 * 24 * 3600 // 4)
        assert len(bench.runs) == 1
    assert ended.is_set()
    assert len(asyncio.all_tasks()) == 1


@virtual
async def test_a_job_that_will_not_stop_holds_the_exit_for_a_bounded_time() -> None:
    release = asyncio.Event()

    async def job() -> bool:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return True

    logging.disable(logging.ERROR)
    try:
        async with Bench(NOON, job) as bench:
            before = asyncio.get_running_loop().time()
            await bench.daily.close()
            assert asyncio.get_running_loop().time() - before == STOP_S
            await bench.daily.close()
            release.set()
            await asyncio.sleep(0)
    finally:
        logging.disable(logging.NOTSET)


@virtual
async def test_starting_twice_is_one_schedule() -> None:
    async with Bench(NOON) as bench:
        bench.daily.start()
        await asyncio.sleep(1)
        assert len(bench.runs) == 1
    await bench.daily.close()


def test_the_hour_is_five() -> None:
    assert time(5, 0) == NEWS_AT

"""The 20 ms clock under a clock that jumps."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from media.pacer import CATCH_UP_S, FILLED, PERIOD_S, SLOTS, Pacer
from tests.virtual_time import VirtualLoop, run_virtual


class Bench:
    def __init__(self) -> None:
        self.errors: list[tuple[object, Exception]] = []
        self.pacer = Pacer(lambda tick, error: self.errors.append((tick, error)))

    async def run(self, seconds: float) -> None:
        task = asyncio.create_task(self.pacer.run())
        await asyncio.sleep(seconds)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


def test_every_tick_comes_once_per_20_ms_on_an_absolute_schedule() -> None:
    async def main() -> None:
        bench, times = Bench(), [[] for _ in range(SLOTS * FILLED + 2)]
        for seen in times:
            bench.pacer.add(seen.append)
        await bench.run(10.0)
        for seen in times:
            assert abs(len(seen) - 500) <= 1
            # No drift: the last is where the schedule says, whatever was added in between.
            assert seen[-1] - seen[0] == pytest.approx(PERIOD_S * (len(seen) - 1), abs=1e-6)
            assert all(b - a == pytest.approx(PERIOD_S) for a, b in itertools.pairwise(seen))
        offsets = sorted(round((seen[0] - times[0][0]) % PERIOD_S, 4) for seen in times)
        assert len(set(offsets)) == SLOTS
        assert max(map(offsets.count, offsets)) == FILLED + 1
        assert bench.pacer.lateness.worst < 1e-6

    run_virtual(main())


def test_few_lessons_share_a_turn_of_the_loop() -> None:
    async def main() -> None:
        bench, times = Bench(), [[] for _ in range(FILLED)]
        for seen in times:
            bench.pacer.add(seen.append)
        await bench.run(1.0)
        assert all(seen == times[0] for seen in times)

    run_virtual(main())


def _stall(seconds: float) -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    loop._jumping.now += seconds


@pytest.mark.parametrize(("stall", "caught_up"), [(0.07, True), (3.0, False)])
def test_a_short_stall_is_caught_up_a_long_one_starts_anew(stall: float, caught_up: bool) -> None:
    async def main() -> None:
        bench, seen = Bench(), []

        def tick(at: float) -> None:
            seen.append(at)
            if len(seen) == 50:
                _stall(stall)

        bench.pacer.add(tick)
        await bench.run(1.0 + stall + 1.0)
        expected = (2.0 + stall) / PERIOD_S if caught_up else 2.0 / PERIOD_S
        assert abs(len(seen) - expected) <= CATCH_UP_S / PERIOD_S + 1
        assert bench.pacer.lateness.restarts == (0 if caught_up else 1)
        burst = sum(b - a < PERIOD_S / 2 for a, b in itertools.pairwise(seen))
        assert burst <= CATCH_UP_S / PERIOD_S

    run_virtual(main())


def test_a_tick_that_raises_is_removed_and_reported() -> None:
    async def main() -> None:
        bench, good = Bench(), []

        def bad(at: float) -> None:
            raise RuntimeError("broken lesson")

        bench.pacer.add(bad)
        for _ in range(SLOTS):
            bench.pacer.add(good.append)
        await bench.run(1.0)
        assert [tick for tick, _ in bench.errors] == [bad]
        assert len(bench.pacer) == SLOTS
        assert len(good) >= 49 * SLOTS

    run_virtual(main())


def test_a_tick_may_remove_itself_and_its_neighbours() -> None:
    async def main() -> None:
        bench, removes, calls = Bench(), [], []

        def tick(name: str, at: float) -> None:
            calls.append(name)
            for remove in removes:
                remove()

        for name in ("a", "b", "c", "d", "e"):
            removes.append(bench.pacer.add(lambda at, name=name: tick(name, at)))
        await bench.run(0.5)
        assert len(calls) == 1
        assert len(bench.pacer) == 0

    run_virtual(main())


def test_it_sleeps_while_nobody_ticks() -> None:
    async def main() -> None:
        bench, seen = Bench(), []
        task = asyncio.create_task(bench.pacer.run())
        await asyncio.sleep(3600.0)
        assert bench.pacer.lateness.worst == 0.0
        remove = bench.pacer.add(seen.append)
        await asyncio.sleep(0.1)
        assert abs(len(seen) - 5) <= 1
        remove()
        remove()
        count = len(seen)
        await asyncio.sleep(3600.0)
        assert len(seen) == count
        task.cancel()
        await asyncio.wait([task])

    run_virtual(main())

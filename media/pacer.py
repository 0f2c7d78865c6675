"""One 20 ms clock for every lesson of a process: absolute deadlines, four slots of 5 ms.

Spreading the ticks over slots keeps any one stall of the loop short; one timer instead of one
per lesson, and no task that it must wake, keep the process cheap. While nobody ticks, it sleeps.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

PERIOD_S = 0.020
SLOTS = 4
# A slot is filled so far before the next one is opened: few lessons need few turns of the loop.
FILLED = 4
# A stall is caught up tick by tick up to this; beyond it the schedule starts anew, because audio
# sent in a burst is only thrown away (or stretched) by the receiver.
CATCH_UP_S = 0.100
STEP_S = PERIOD_S / SLOTS
_SAMPLES = 1000

Tick = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Lateness:
    """How late recent slots ran, in seconds, and how often the schedule had to start anew."""

    p50: float
    p99: float
    worst: float
    restarts: int


class Pacer:
    """Calls every added tick once per 20 ms with the loop's time.

    A tick that raises is removed and reported to `on_error(tick, error)`; the others go on.
    """

    def __init__(self, on_error: Callable[[Tick, Exception], None]) -> None:
        self._on_error = on_error
        self._slots: list[list[Tick]] = [[] for _ in range(SLOTS)]
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._start, self._count = 0.0, 0
        self._late: deque[float] = deque(maxlen=_SAMPLES)
        self._restarts = 0

    def add(self, tick: Tick) -> Callable[[], None]:
        """Starts ticking; returns the function that stops it (idempotent)."""
        open_ones = (slot for slot in self._slots if 0 < len(slot) < FILLED)
        slot = next(open_ones, None) or min(self._slots, key=len)
        slot.append(tick)
        if self._loop is not None and self._timer is None:
            self._begin(self._loop)

        def remove() -> None:
            if tick in slot:
                slot.remove(tick)

        return remove

    def __len__(self) -> int:
        return sum(map(len, self._slots))

    @property
    def lateness(self) -> Lateness:
        """Over the last 1000 slots (about 5 s with one lesson or more in each)."""
        late = sorted(self._late) or [0.0]
        return Lateness(late[len(late) // 2], late[len(late) * 99 // 100], late[-1], self._restarts)

    async def run(self) -> None:
        """Runs until cancelled."""
        self._loop = asyncio.get_running_loop()
        self._begin(self._loop)
        try:
            await self._loop.create_future()
        finally:
            self._loop = None
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """A schedule of its own from now on, if anybody ticks."""
        self._start, self._count = loop.time(), 0
        self._arm(loop)

    def _arm(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        if any(self._slots):
            self._count = self._next(self._count)
            # Even when late: one turn of the loop, so that packets come in between.
            self._timer = loop.call_at(self._due, self._wake, loop)

    @property
    def _due(self) -> float:
        return self._start + self._count * STEP_S

    def _wake(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        try:
            # After a stall every lesson's tick that is due, once, in one turn of the loop.
            for _ in range(SLOTS):
                late = now - self._due
                self._late.append(max(0.0, late))
                if late > CATCH_UP_S:
                    self._start, self._restarts = now - self._count * STEP_S, self._restarts + 1
                self._run_slot(self._slots[self._count % SLOTS], now)
                if not any(self._slots):
                    break
                following = self._next(self._count)
                if self._start + following * STEP_S > now:
                    break
                self._count = following
        finally:
            if self._loop is loop:
                self._arm(loop)

    def _next(self, count: int) -> int:
        """The next step whose slot has a tick; some slot has."""
        count += 1
        while not self._slots[count % SLOTS]:
            count += 1
        return count

    def _run_slot(self, slot: list[Tick], now: float) -> None:
        for tick in tuple(slot):
            if tick not in slot:
                continue  # removed by a tick before it
            try:
                tick(now)
            # The boundary between the clock and the lessons: one broken lesson stops only itself.
            except Exception as error:
                if tick in slot:
                    slot.remove(tick)
                self._on_error(tick, error)

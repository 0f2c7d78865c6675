"""One 20 ms clock for every lesson of a process: absolute deadlines, four slots of 5 ms.

Spreading the ticks over slots keeps any one stall of the loop short; one timer instead of one
per lesson keeps the process cheap. While nobody ticks, it sleeps.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

PERIOD_S = 0.020
SLOTS = 4
# A stall is caught up tick by tick up to this; beyond it the schedule starts anew, because audio
# sent in a burst is only thrown away (or stretched) by the receiver.
CATCH_UP_S = 0.100
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
        self._wanted = asyncio.Event()
        self._late: deque[float] = deque(maxlen=_SAMPLES)
        self._restarts = 0

    def add(self, tick: Tick) -> Callable[[], None]:
        """Starts ticking; returns the function that stops it (idempotent)."""
        slot = min(self._slots, key=len)
        slot.append(tick)
        self._wanted.set()

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
        loop = asyncio.get_running_loop()
        step = PERIOD_S / SLOTS
        while True:
            self._wanted.clear()
            if not any(self._slots):
                await self._wanted.wait()
            start, count = loop.time(), 0
            while any(self._slots):
                count = self._next(count)
                due = start + count * step
                # Even when late: one turn of the loop, so that packets come in between.
                await asyncio.sleep(max(0.0, due - loop.time()))
                now = loop.time()
                # After a stall every lesson's tick that is due, once, in one turn of the loop.
                for _ in range(SLOTS):
                    self._late.append(max(0.0, now - due))
                    if now - due > CATCH_UP_S:
                        start, self._restarts = now - count * step, self._restarts + 1
                    self._run_slot(self._slots[count % SLOTS], now)
                    if not any(self._slots):
                        break
                    due = start + self._next(count) * step
                    if due > now:
                        break
                    count = self._next(count)

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

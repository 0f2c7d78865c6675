"""One timer that follows a deadline which keeps moving."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Deadline:
    """Calls `due` once whenever the deadline last set has come."""

    def __init__(self, due: Callable[[], object]) -> None:
        self._due = due
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None

    def set(self, at: float | None) -> None:
        """`at` in loop time; None: nothing is due."""
        timer = self._timer
        if timer is not None:
            if at == timer.when():
                return
            timer.cancel()
        self._timer = None if at is None else self._loop.call_at(at, self._fire)

    def _fire(self) -> None:
        self._timer = None
        self._due()

"""An asyncio loop whose clock jumps: a test of minutes runs in milliseconds, in exact order.

`time()` stands still while anything is ready and jumps to the next timer when nothing is. Sockets
are not waited for, so such a test owns no real I/O (in-memory doubles only).
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

# A test that would wait longer than this in virtual time has lost its deadline.
HORIZON_S = 24 * 3600.0


class _JumpingSelector(selectors.SelectSelector):
    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0

    def select(self, timeout: float | None = None) -> list[Any]:
        ready = super().select(0)
        if ready:
            return ready
        if timeout is None:
            # Nothing is scheduled: only another thread (an executor) can wake the loop.
            return super().select(5.0)
        if timeout > 0:
            self.now += timeout
            if self.now > HORIZON_S:
                raise RuntimeError("virtual time ran past its horizon: a wait without an end")
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


def run_virtual(main: Coroutine[Any, Any, T]) -> T:
    """Runs `main` on a fresh virtual loop; unretrieved task exceptions fail the caller."""
    problems: list[dict[str, Any]] = []
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.get_loop().set_exception_handler(lambda _, context: problems.append(context))
        result = runner.run(main)
    if problems:
        raise AssertionError(f"unhandled in the loop: {problems}")
    return result

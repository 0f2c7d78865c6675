"""Gives back what ended lessons have left, once nobody is being heard.

A lesson is a graph of callbacks that point at each other, and so are its sockets (the TLS buffers
of a Live connection alone are half a megabyte): only a collection frees it, and with a frozen heap
Python's own comes rarely. What is freed then lies scattered in the allocator, which returns pages
from the top of its heap only. Both cost milliseconds in which no audio moves, so neither is done
while there is a lesson.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import sys
from collections.abc import Callable

log = logging.getLogger(__name__)

# After the last lesson: its tasks are over by then, and a learner who comes back at once is not
# kept waiting.
REST_S = 3.0


def trim() -> None:
    """Returns free pages of the C allocator to the system; does nothing without glibc."""
    if sys.platform != "linux":
        return
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(0)


class Tidying:
    """Belongs to the event loop. `busy` tells whether there is a lesson."""

    def __init__(self, busy: Callable[[], bool], trim: Callable[[], None] = trim) -> None:
        self._busy, self._trim = busy, trim
        self._timer: asyncio.TimerHandle | None = None

    def lesson_over(self, _: object = None) -> None:
        """REST_S after the last of these calls everything is tidied, unless there is a lesson."""
        self.close()
        self._timer = asyncio.get_running_loop().call_later(REST_S, self._tidy)

    def close(self) -> None:
        """Nothing is tidied any more. Idempotent."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _tidy(self) -> None:
        self._timer = None
        if self._busy():
            return
        found = gc.collect()
        self._trim()
        log.debug("tidied", extra={"objects": found})

"""Awaits foreign work that may ignore cancellation, without ever being held by it.

The work runs in a task of its own. When the waiter is cancelled, the work is too, gets a short
grace to end, and is then left behind: it keeps running detached and its outcome is dropped.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
_LOG = logging.getLogger(__name__)

GRACE_S = 0.1
_left_behind: set[asyncio.Task[Any]] = set()


async def fenced(work: Coroutine[Any, Any, T], *, name: str, grace_s: float = GRACE_S) -> T:
    """The result of `work`; on cancellation returns within `grace_s` whatever `work` does."""
    task = asyncio.create_task(work, name=name)
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        task.cancel()
        try:
            await asyncio.wait({task}, timeout=grace_s)
        finally:
            _leave(task)
        raise
    return task.result()


def _leave(task: asyncio.Task[Any]) -> None:
    _left_behind.add(task)
    task.add_done_callback(_forget)


def _forget(task: asyncio.Task[Any]) -> None:
    _left_behind.discard(task)
    if not task.cancelled() and (error := task.exception()) is not None:
        _LOG.warning("work left behind failed", extra={"work": task.get_name()}, exc_info=error)

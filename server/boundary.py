"""The boundary between a lesson and whoever calls it back: a bug of ours never travels further."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Boundary:
    """`broke` is told of every exception that was stopped here."""

    def __init__(self, broke: Callable[[Exception], None]) -> None:
        self._broke = broke

    def guarded(self, callback: Callable[P, R], instead: R) -> Callable[P, R]:
        """`callback`, which gives `instead` when it breaks."""

        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return callback(*args, **kwargs)
            except Exception as error:
                self._broke(error)
                return instead

        return call

    async def kept(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Runs `work`; of what it raises only a cancellation goes on. Cancelled before its first
        step it has begun nothing."""
        try:
            await work()
        except* Exception as broken:
            self._broke(broken)

"""The meter of one lesson: tokens as the Live service reports them, shown and counted in order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from pydantic import BaseModel

from media.live import port
from server import rtvi
from server.errors import PidjinError

log = logging.getLogger(__name__)

# Reports that wait to be stored; the service sends a few a turn.
QUEUE_MAX = 256


class Meter:
    """`used` stores one report; `tell` shows the sum so far."""

    def __init__(
        self,
        used: Callable[[port.Usage], Awaitable[None]],
        tell: Callable[[BaseModel], None],
    ) -> None:
        self._used, self._tell = used, tell
        self._queue: asyncio.Queue[port.Usage | None] = asyncio.Queue(QUEUE_MAX + 1)
        self.cost = rtvi.Cost(input_tokens=0, output_tokens=0, cached_tokens=0, usd=None, model="")

    def bind(self, model: str) -> None:
        """The model that answers from now on."""
        self.cost = self.cost.model_copy(update={"model": model})

    def count(self, usage: port.Usage) -> None:
        cost = self.cost
        self.cost = cost.model_copy(
            update={
                "input_tokens": cost.input_tokens + usage.prompt,
                "output_tokens": cost.output_tokens + usage.response + usage.thoughts,
                "cached_tokens": cost.cached_tokens + usage.cached,
            }
        )
        self._tell(self.cost)
        if self._queue.qsize() < QUEUE_MAX:
            self._queue.put_nowait(usage)
        else:
            log.error("usage report dropped", extra={"tokens": usage.total})

    def finish(self) -> None:
        """No more will come: `run` ends when what waits is stored. Called once."""
        self._queue.put_nowait(None)

    async def run(self) -> None:
        while (usage := await self._queue.get()) is not None:
            try:
                await self._used(usage)
            except PidjinError as error:
                log.error("usage not counted", extra={"why": error.code, "tokens": usage.total})
            except Exception:  # boundary: a report that breaks costs that report
                log.exception("usage not counted", extra={"tokens": usage.total})

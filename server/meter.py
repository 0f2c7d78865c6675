"""The meter of one lesson: tokens and money as the Live service reports them, shown and counted in
order, by modality, at the prices of the model that answered."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from pydantic import BaseModel

from media.live import port
from server import rtvi
from server.errors import PidjinError
from server.prices import Rates, dollars, spoken_nano
from server.usage_stream import UsageStream, counting_of

log = logging.getLogger(__name__)

# Reports that wait to be stored; the service sends a few a turn.
QUEUE_MAX = 256


class Meter:
    """`used` stores what one report adds, with the model that it is of; `tell` shows the sum so
    far; `prices` knows what a model costs, or None: then the lesson has no price."""

    def __init__(
        self,
        used: Callable[[port.Usage, str], Awaitable[None]],
        tell: Callable[[BaseModel], None],
        prices: Callable[[str], Rates | None],
    ) -> None:
        self._used, self._tell, self._prices = used, tell, prices
        self._queue: asyncio.Queue[tuple[port.Usage, str] | None] = asyncio.Queue(QUEUE_MAX + 1)
        self._streams: dict[str, UsageStream] = {}
        self._rates: Rates | None = None
        self._nano: int | None = 0
        self.cost = rtvi.Cost(input_tokens=0, output_tokens=0, cached_tokens=0, usd=None, model="")

    def bind(self, model: str) -> None:
        """The model that answers from now on, as it was negotiated."""
        self._rates = self._prices(model)
        usd = dollars(self._nano) if self._nano is not None and self._rates else None
        self.cost = self.cost.model_copy(update={"model": model, "usd": usd})

    @property
    def _stream(self) -> UsageStream:
        model = self.cost.model
        if model not in self._streams:
            self._streams[model] = UsageStream(counting_of(model))
        return self._streams[model]

    def sound(self, ms: float) -> None:
        """So much of a reply has come."""
        self._stream.sound(ms)

    def turn_ended(self) -> None:
        self._stream.turn_ended()

    def count(self, report: port.Usage) -> None:
        usage, cost = self._stream.report(report), self.cost
        self.cost = cost.model_copy(
            update={
                "input_tokens": cost.input_tokens + usage.prompt,
                "output_tokens": cost.output_tokens + usage.response + usage.thoughts,
                "cached_tokens": cost.cached_tokens + usage.cached,
                "usd": self._spend(usage),
            }
        )
        self._tell(self.cost)
        if self._queue.qsize() < QUEUE_MAX:
            self._queue.put_nowait((usage, cost.model))
        else:
            log.error("usage report dropped", extra={"tokens": usage.total})

    def _spend(self, usage: port.Usage) -> float | None:
        """Dollars so far; None for good once something had no price."""
        if self._rates is None:
            self._nano = None
        if self._nano is None or self._rates is None:
            return None
        self._nano += spoken_nano(self._rates, usage)
        return dollars(self._nano)

    def finish(self) -> None:
        """No more will come: `run` ends when what waits is stored. Called once."""
        self._queue.put_nowait(None)

    async def run(self) -> None:
        while (item := await self._queue.get()) is not None:
            usage, model = item
            try:
                await self._used(usage, model)
            except PidjinError as error:
                log.error("usage not counted", extra={"why": error.code, "tokens": usage.total})
            except Exception:  # boundary: a report that breaks costs that report
                log.exception("usage not counted", extra={"tokens": usage.total})

"""Counts what each person's calls to the model cost, per UTC day (AUTH-17 to AUTH-19, DATA-24)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agent.usage import TokenUsage
from server.clock import Clock, day, stamp
from server.prices import Rates, dollars, written_nano
from server.store.port import Document, Store, Transaction
from server.store.records import spending_path, usage_path

log = logging.getLogger(__name__)

# Concurrent calls of one person meet in one document; each loses a race at most this often.
ATTEMPTS = 20

_COUNTERS = (
    "geminiCallCount",
    "geminiInputTokens",
    "geminiOutputTokens",
    "geminiThoughtTokens",
    "geminiCachedTokens",
    "geminiTotalTokens",
)


@dataclass(frozen=True, slots=True)
class Bill:
    """Tokens and their price in nano-dollars; `unpriced` of them have none."""

    tokens: TokenUsage = field(default_factory=TokenUsage)
    nano: int = 0
    unpriced: int = 0

    @classmethod
    def of(cls, tokens: TokenUsage, nano: int | None) -> Bill:
        return cls(tokens, 0, tokens.total) if nano is None else cls(tokens, nano)

    def __add__(self, other: Bill) -> Bill:
        return Bill(
            self.tokens + other.tokens, self.nano + other.nano, self.unpriced + other.unpriced
        )


class Tally:
    """Collects the usage reports of one operation; `sink` is what the agent calls. `rates` knows
    what a model costs."""

    def __init__(self, rates: Callable[[str], Rates | None]) -> None:
        self._rates = rates
        self.bill = Bill()
        self.reports = 0

    def sink(self, handler: str, model: str, usage: TokenUsage) -> None:
        rates = self._rates(model)
        nano = written_nano(rates, usage.input, usage.output + usage.thoughts) if rates else None
        log_usage(handler, model, usage, rates, nano)
        self.bill += Bill.of(usage, nano)
        self.reports += 1


def log_usage(
    handler: str,
    model: str,
    usage: TokenUsage,
    rates: Rates | None = None,
    nano: int | None = None,
) -> None:
    """One `gemini_usage` line per model response: numbers only, no text, no key.

    `model` is the one that answered: where another was `asked`, the line has both. `nano` is its
    price in nano-dollars, where somebody knows it.
    """
    more: dict[str, float | str] = {}
    if rates is not None and rates.answered_by:
        model, more["asked"] = rates.answered_by, model
    if nano is not None:
        more["usd"] = dollars(nano)
    log.info(
        "gemini_usage",
        extra={
            "handler": handler,
            "model": model,
            "input_tokens": usage.input,
            "output_tokens": usage.output,
            "thought_tokens": usage.thoughts,
            "cached_tokens": usage.cached,
            "total_tokens": usage.total,
            **more,
        },
    )


class UsageLedger:
    """The only writer of `usage/{uid}_{yyyymmdd}`, and of its price in `spending/{uid}_{yyyymmdd}`:
    `costNano` nano-dollars at list prices, and `unpricedTokens` that are in no sum of money."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def calls_today(self, uid: str) -> int:
        doc = await self._store.get(usage_path(uid, day(self._clock.now())))
        count = doc.data.get("geminiCallCount") if doc else 0
        return count if isinstance(count, int) else 0

    async def count_call(self, uid: str, *, calls: int = 1) -> None:
        """One more billable call, or several, before they are made (AUTH-22)."""
        await self._add(uid, calls, Bill())

    async def add(self, uid: str, bill: Bill) -> None:
        """Adds what answers cost that have already been logged."""
        if bill != Bill():
            await self._add(uid, 0, bill)

    async def record(
        self,
        uid: str,
        handler: str,
        model: str,
        usage: TokenUsage,
        rates: Rates | None = None,
        nano: int | None = None,
    ) -> None:
        """Logs and adds one report of a Live session (RTC-23)."""
        log_usage(handler, model, usage, rates, nano)
        await self.add(uid, Bill.of(usage, nano))

    async def _add(self, uid: str, calls: int, bill: Bill) -> None:
        now = self._clock.now()
        path = usage_path(uid, day(now))
        tokens = bill.tokens
        increments = (
            calls,
            tokens.input,
            tokens.output,
            tokens.thoughts,
            tokens.cached,
            tokens.total,
        )
        spending = spending_path(uid, day(now))

        async def work(transaction: Transaction) -> None:
            doc = await transaction.get(path)
            paid = await transaction.get(spending) if bill != Bill() else None
            data: Document = dict(doc.data) if doc else {"uid": uid, "date": day(now)}
            for name, increment in zip(_COUNTERS, increments, strict=True):
                data[name] = _count(data.get(name)) + increment
            data["lastCallAt"] = stamp(now)
            transaction.set(path, data)
            if bill != Bill():
                price: Document = dict(paid.data) if paid else {"uid": uid, "date": day(now)}
                price["costNano"] = _count(price.get("costNano")) + bill.nano
                price["unpricedTokens"] = _count(price.get("unpricedTokens")) + bill.unpriced
                transaction.set(spending, price)

        await self._store.transaction(work, attempts=ATTEMPTS)


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0

"""Counts what each person's calls to the model cost, per UTC day (AUTH-17 to AUTH-19, DATA-24)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from agent.usage import TokenUsage
from server.clock import Clock, day, stamp
from server.prices import Rates, dollars, written_nano
from server.store.port import Document, Store, Transaction
from server.store.records import usage_path

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


class Tally:
    """Collects the usage reports of one operation; `sink` is what the agent calls. `rates` knows
    what a model costs: the price of each answer is logged, and only there."""

    def __init__(self, rates: Callable[[str], Rates | None]) -> None:
        self._rates = rates
        self.tokens = TokenUsage()
        self.reports = 0

    def sink(self, handler: str, model: str, usage: TokenUsage) -> None:
        log_usage(handler, model, usage, self._rates(model))
        self.tokens += usage
        self.reports += 1


def log_usage(
    handler: str,
    model: str,
    usage: TokenUsage,
    rates: Rates | None = None,
    *,
    written: bool = True,
) -> None:
    """One `gemini_usage` line per model response: numbers only, no text, no key.

    `model` is the one that answered: where another was `asked`, the line has both. A price only
    for what is written: these counts do not tell sound from words.
    """
    more: dict[str, float | str] = {}
    if rates is not None and rates.answered_by:
        model, more["asked"] = rates.answered_by, model
    if rates is not None and written:
        more["usd"] = dollars(written_nano(rates, usage.input, usage.output + usage.thoughts))
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
    """The only writer of `usage/{uid}_{yyyymmdd}`."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def calls_today(self, uid: str) -> int:
        doc = await self._store.get(usage_path(uid, day(self._clock.now())))
        count = doc.data.get("geminiCallCount") if doc else 0
        return count if isinstance(count, int) else 0

    async def count_call(self, uid: str, *, calls: int = 1) -> None:
        """One more billable call, or several, before they are made (AUTH-22)."""
        await self._add(uid, calls=calls, tokens=TokenUsage())

    async def add(self, uid: str, tokens: TokenUsage) -> None:
        """Adds tokens of answers that have already been logged."""
        if tokens != TokenUsage():
            await self._add(uid, calls=0, tokens=tokens)

    async def record(
        self, uid: str, handler: str, model: str, usage: TokenUsage, rates: Rates | None = None
    ) -> None:
        """Logs and adds one report of a Live session (RTC-23)."""
        log_usage(handler, model, usage, rates, written=False)
        await self.add(uid, usage)

    async def _add(self, uid: str, *, calls: int, tokens: TokenUsage) -> None:
        now = self._clock.now()
        path = usage_path(uid, day(now))
        increments = (
            calls,
            tokens.input,
            tokens.output,
            tokens.thoughts,
            tokens.cached,
            tokens.total,
        )

        async def work(transaction: Transaction) -> None:
            doc = await transaction.get(path)
            data: Document = dict(doc.data) if doc else {"uid": uid, "date": day(now)}
            for name, increment in zip(_COUNTERS, increments, strict=True):
                data[name] = _count(data.get(name)) + increment
            data["lastCallAt"] = stamp(now)
            transaction.set(path, data)

        await self._store.transaction(work, attempts=ATTEMPTS)


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0

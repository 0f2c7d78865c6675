"""Who used how much of the model in the last 24 hours, for admins (OPEN: counters are per UTC day).

A day's counters count as a whole when their last call lies in the window.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from server.clock import day, stamp
from server.news.runs import SCHEDULER_UID
from server.prices import dollars
from server.store.port import Doc, Store
from server.store.records import user_path

WINDOW = timedelta(hours=24)
CALLS = "geminiCallCount"
COST, UNPRICED = "costNano", "unpricedTokens"
FIGURES = (
    "geminiInputTokens",
    "geminiOutputTokens",
    "geminiThoughtTokens",
    "geminiCachedTokens",
    "geminiTotalTokens",
    COST,
    UNPRICED,
)
SCHEDULER_NAME = "Scheduled news"
_PAGE = 200


def summed(counters: Iterable[Mapping[str, Any]], since: datetime) -> list[dict[str, Any]]:
    """One row per user with calls after `since`, busiest first. Pure.

    Token counts, and `costUsd` at list prices, are absent, not zero, where no counter has them
    (UI-48). Tokens of unknown price are in no sum of money.
    """
    rows: dict[str, dict[str, Any]] = {}
    edge = stamp(since)
    for counter in counters:
        last = str(counter.get("lastCallAt", ""))
        if last <= edge:
            continue
        uid = str(counter["uid"])
        row = rows.setdefault(uid, {"uid": uid, CALLS: 0, "lastCallAt": last})
        row[CALLS] += counter.get(CALLS, 0)
        row["lastCallAt"] = max(row["lastCallAt"], last)
        for name in FIGURES:
            if name in counter:
                row[name] = row.get(name, 0) + counter[name]
    for row in rows.values():
        if (nano := row.pop(COST, None)) is not None:
            row["costUsd"] = dollars(nano)
    return sorted(rows.values(), key=lambda row: (-row[CALLS], row["uid"]))


async def last_day(store: Store, now: datetime) -> list[dict[str, Any]]:
    """The rows of the 24 hours before `now`, with display name and e-mail where known."""
    since = now - WINDOW
    counters: list[Doc] = []
    dates = sorted({day(since), day(now)})
    for date in dates:
        counters += await of_day(store, date)
    prices = {
        doc.path.partition("/")[2]: {name: doc.data.get(name, 0) for name in (COST, UNPRICED)}
        for date in dates
        for doc in await of_day(store, date, "spending")
    }
    priced = (doc.data | prices.get(doc.path.partition("/")[2], {}) for doc in counters)
    rows = summed(priced, since)
    for row in rows:
        row.update(await _person(store, row["uid"]))
    return rows


async def of_day(store: Store, date: str, collection: str = "usage") -> list[Doc]:
    """All counters of one UTC day, or what they cost (`spending`), in no order: sorting there
    would need an index (DATA-25)."""
    found: list[Doc] = []
    last: Doc | None = None
    while True:
        page = await store.query(collection, where={"date": date}, limit=_PAGE, after=last)
        found += page
        if len(page) < _PAGE:
            return found
        last = page[-1]


async def _person(store: Store, uid: str) -> dict[str, str]:
    if uid == SCHEDULER_UID:
        return {"displayName": SCHEDULER_NAME}
    doc = await store.get(user_path(uid))
    known = doc.data if doc else {}
    return {name: known[name] for name in ("displayName", "email") if known.get(name)}

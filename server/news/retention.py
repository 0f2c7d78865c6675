"""Deletes catalog items that nobody touched for 22 hours, whatever their status (PIPE-12)."""

from __future__ import annotations

from datetime import datetime, timedelta

from server.clock import stamp
from server.news.catalog import CATALOG
from server.store.port import Store, Transaction

RETENTION = timedelta(hours=22)
_PAGE = 100


async def prune(store: Store, now: datetime) -> int:
    """The number of deleted items; an item of exactly 22 hours stays. Touches only the catalog."""
    # Stamps have one fixed width, so their text order is their time order, to the millisecond.
    cutoff = stamp(now - RETENTION)
    deleted = 0
    while True:
        oldest = await store.query(CATALOG, order_by="updatedAt", limit=_PAGE)
        old = [doc for doc in oldest if str(doc.data["updatedAt"]) < cutoff]
        for doc in old:
            deleted += await _delete(store, doc.path, cutoff)
        if len(old) < _PAGE:
            return deleted


async def _delete(store: Store, path: str, cutoff: str) -> bool:
    """Whether it was deleted: an item that an admin touched meanwhile stays."""

    async def work(transaction: Transaction) -> bool:
        doc = await transaction.get(path)
        if doc is None or str(doc.data.get("updatedAt", "")) >= cutoff:
            return False
        transaction.delete(path)
        return True

    return await store.transaction(work)

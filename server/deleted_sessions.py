"""What is left of a deleted conversation: that it is gone, so that a turn on its way to the store
does not bring it back. No words of it; forgotten after a day."""

from __future__ import annotations

from datetime import datetime, timedelta

from server.clock import moment, stamp
from server.store.port import Store, Transaction
from server.store.records import deleted_session_path

# A turn is decided on and stored within minutes; a page that slept may ask later than that.
KEPT = timedelta(days=1)
# Removed at one start.
PURGE_MAX = 500


def mark(transaction: Transaction, session_id: str, now: datetime) -> None:
    """In the transaction that deletes the conversation."""
    transaction.set(deleted_session_path(session_id), {"expiresAt": stamp(now + KEPT)})


async def marked(transaction: Transaction, session_id: str) -> bool:
    """In a transaction that found no conversation, before it writes one."""
    return await transaction.get(deleted_session_path(session_id)) is not None


async def purge(store: Store, now: datetime) -> None:
    """Forgets what has expired. Raises StoreError."""
    docs = await store.query("deletedSessions", order_by="expiresAt", limit=PURGE_MAX)
    for doc in docs:
        if moment(doc.data["expiresAt"]) <= now:
            await store.delete(doc.path)

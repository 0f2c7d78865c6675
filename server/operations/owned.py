"""Looks up a caller's own documents; somebody else's are refused, whatever the role."""

from __future__ import annotations

from server.context import Context
from server.errors import denied, missing, not_ready
from server.store.port import Doc, Document, Transaction
from server.store.records import StoredTopic, session_path, topic_path


async def owned_topic(ctx: Context, uid: str, topic_id: str) -> StoredTopic | None:
    """The topic, or None if there is none. Raises `permission-denied` if it is another's."""
    doc = await ctx.store.get(topic_path(topic_id))
    if doc is None:
        return None
    if doc.data.get("uid") != uid:
        raise denied("This topic belongs to somebody else.")
    return StoredTopic.from_store(topic_id, doc.data)


async def owned_session(ctx: Context, uid: str, session_id: str) -> Document | None:
    """The session, or None if it has not been stored yet. Raises `permission-denied`."""
    return check_owner(await ctx.store.get(session_path(session_id)), uid)


def check_owner(doc: Doc | None, uid: str) -> Document | None:
    if doc is not None and doc.data.get("uid") != uid:
        raise denied("This conversation belongs to somebody else.")
    return doc.data if doc else None


async def stored_session(transaction: Transaction, uid: str, session_id: str) -> Document:
    """For operations on a session that must exist. Raises `not-found`, `permission-denied`."""
    session = check_owner(await transaction.get(session_path(session_id)), uid)
    if session is None:
        raise missing("There is no such conversation.")
    return session


def require_open(session: Document | None) -> None:
    if session is not None and session.get("endedAt"):
        raise not_ready("This conversation has ended. Reopen it to go on.", reason="ended")

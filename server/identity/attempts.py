"""Sign-ins under way at Google: one browser, one answer, ten minutes.

The browser holds a random id and nothing else; what must match the answer is stored under its hash
and deleted by the transaction that reads it, so an answer counts once, whichever node it meets.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import timedelta

from server.clock import Clock, moment, stamp
from server.store.port import Document, Store, Transaction

LIFETIME = timedelta(minutes=10)
ID_BYTES = 24
# Each start takes this many abandoned ones away, so that their number stays small.
SWEEP = 20
_COLLECTION = "signInAttempts"


class AttemptGone(Exception):
    """Unknown, answered already, or too old."""


class AttemptForeign(Exception):
    """The answer belongs to the attempt of another browser."""


class Attempts:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def begin(self, state: str, session_id: str) -> str:
        """The id for the browser's cookie."""
        now = self._clock.now()
        for doc in await self._store.query(_COLLECTION, order_by="expiresAt", limit=SWEEP):
            if doc.data["expiresAt"] <= stamp(now):
                await self._store.delete(doc.path)
        attempt = secrets.token_urlsafe(ID_BYTES)
        await self._store.create(
            _path(attempt),
            {
                "state": _hash(state),
                "sessionId": session_id,
                "expiresAt": stamp(now + LIFETIME),
            },
        )
        return attempt

    async def end(self, attempt: str, state: str) -> str:
        """The session id that Google gave, once. Raises AttemptGone, AttemptForeign (which uses
        nothing up: another site could send such an answer)."""
        doc = await self._store.get(_path(attempt))
        if doc is None:
            raise AttemptGone
        if not hmac.compare_digest(doc.data["state"], _hash(state)):
            raise AttemptForeign

        async def work(transaction: Transaction) -> Document | None:
            found = await transaction.get(_path(attempt))
            if found is not None:
                transaction.delete(_path(attempt))
            return found.data if found else None

        taken = await self._store.transaction(work)
        if taken is None or moment(taken["expiresAt"]) <= self._clock.now():
            raise AttemptGone
        return str(taken["sessionId"])


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def _path(attempt: str) -> str:
    return f"{_COLLECTION}/{_hash(attempt)}"

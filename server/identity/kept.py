"""Credentials that the store keeps, each until its `expiresAt`; of either kind of sign-in."""

from __future__ import annotations

from server.clock import Clock, moment, stamp
from server.store.port import Store

# Expired ones that one sweep takes away.
SWEEP_MAX = 500


class Kept:
    """The credentials of one collection."""

    def __init__(self, store: Store, clock: Clock, collection: str) -> None:
        self._store, self._clock, self._collection = store, clock, collection

    def path(self, credential_id: str) -> str:
        return f"{self._collection}/{credential_id}"

    async def end(self, credential_id: str) -> None:
        await self._store.delete(self.path(credential_id))

    async def ended(self, credential_id: str) -> bool:
        doc = await self._store.get(self.path(credential_id))
        return doc is None or moment(doc.data["expiresAt"]) <= self._clock.now()

    async def sweep(self) -> None:
        """Forgets what has expired, oldest first."""
        now = stamp(self._clock.now())
        for doc in await self._store.query(self._collection, order_by="expiresAt", limit=SWEEP_MAX):
            if doc.data["expiresAt"] > now:
                return
            await self._store.delete(doc.path)

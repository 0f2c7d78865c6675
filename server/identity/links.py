"""One-time links: the printed sign-in of the bootstrap admin, invites that admins mint, and ways
back for people whose browser has forgotten them.

Only a hash of the code is stored, and redeeming deletes it in the same transaction, so a link
works once whoever is faster.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from server.clock import Clock, moment, stamp
from server.errors import Refused, invalid
from server.store.port import Document, Store, Transaction

Kind = Literal["signin", "invite", "return"]

SIGNIN_LIFETIME = timedelta(hours=24)
INVITE_LIFETIME = timedelta(days=7)
RETURN_LIFETIME = timedelta(hours=24)
_LIFETIMES: Mapping[Kind, timedelta] = {
    "signin": SIGNIN_LIFETIME,
    "invite": INVITE_LIFETIME,
    "return": RETURN_LIFETIME,
}
CODE_BYTES = 24
_COLLECTION = "localLinks"
_CLEANUP_MAX = 500


@dataclass(frozen=True, slots=True)
class Link:
    """A link as stored: `uid` is whom it signs in, or who minted an invite."""

    kind: Kind
    uid: str
    email: str
    display_name: str


def _gone() -> Refused:
    return invalid("This link has been used already or has expired. Ask for a new one.")


class OneTimeLinks:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def mint(self, link: Link) -> str:
        """The code of a new link. One that signs somebody in replaces the earlier ones: of the
        admin all, of anybody else their own."""
        if link.kind != "invite":
            same = {"kind": link.kind, **({"uid": link.uid} if link.kind == "return" else {})}
            for doc in await self._store.query(_COLLECTION, where=same, limit=_CLEANUP_MAX):
                await self._store.delete(doc.path)
        lifetime = _LIFETIMES[link.kind]
        code = secrets.token_urlsafe(CODE_BYTES)
        await self._store.create(
            _path(code),
            {
                "kind": link.kind,
                "uid": link.uid,
                "email": link.email,
                "displayName": link.display_name,
                "expiresAt": stamp(self._clock.now() + lifetime),
            },
        )
        return code

    async def peek(self, code: str) -> Link:
        """What the code stands for, without using it up. Raises Refused."""
        doc = await self._store.get(_path(code))
        return self._open(doc.data if doc else None)

    async def redeem(self, code: str) -> Link:
        """Uses the code up. Raises Refused when it is unknown, used or expired."""

        async def work(transaction: Transaction) -> Document | None:
            doc = await transaction.get(_path(code))
            if doc is not None:
                transaction.delete(_path(code))
            return doc.data if doc else None

        return self._open(await self._store.transaction(work))

    def _open(self, data: Document | None) -> Link:
        if data is None or moment(data["expiresAt"]) <= self._clock.now():
            raise _gone()
        kind = next(known for known in _LIFETIMES if known == data["kind"])
        return Link(kind, data["uid"], data["email"], data["displayName"])


def _path(code: str) -> str:
    return f"{_COLLECTION}/{hashlib.sha256(code.encode()).hexdigest()}"

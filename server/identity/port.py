"""What the server asks of a sign-in, whichever adapter answers. No I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Identity:
    """A person as the sign-in vouches for them, never as a request body claims."""

    uid: str
    email: str
    email_verified: bool
    display_name: str


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A verified credential: whose it is, and the id under which it can be revoked."""

    identity: Identity
    credential_id: str


class SignInUnusable(Exception):
    """The sign-in lacks something; the sentence names what to set."""


class IdentityVerifier(Protocol):
    async def open(self) -> None:
        """Called once at start. Raises SignInUnusable."""

    async def verify(self, token: str) -> SignedIn:
        """Raises Refused `unauthenticated` for anything but a live credential of ours,
        Unavailable when that cannot be told now."""

    async def revoke(self, credential_id: str) -> None:
        """Signs out: no token of this credential is taken any more."""

    async def close(self) -> None: ...

"""What the server asks of a sign-in, whichever adapter answers, and how it says no. No I/O."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from server.errors import Code, Refused


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


def refused(message: str, reason: str) -> Refused:
    """`unauthenticated`; `reason` tells a program why."""
    return Refused(Code.UNAUTHENTICATED, message, details={"reason": reason})


def nobody() -> Refused:
    return refused("Please sign in.", "none")


def expired() -> Refused:
    return refused("Your sign-in has expired. Please sign in again.", "expired")


def signed_out() -> Refused:
    return refused(
        "You were signed out, here or in another tab. Please sign in again.", "signed-out"
    )


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


class BrowserSignIns(Protocol):
    """Whoever issues the cookies of browsers; `lifetime` is that of a cookie since its last use."""

    @property
    def lifetime(self) -> timedelta: ...

    async def verify_cookie(self, cookie: str) -> SignedIn:
        """As `IdentityVerifier.verify`, for the value of a cookie."""

    def csrf_of(self, cookie: str) -> str:
        """The value that `X-CSRF-Token` must carry beside a verified cookie."""

    async def renew(self, cookie: str, credential_id: str) -> str | None:
        """The value of a later-ending cookie; None while the present one is young."""

    async def revoke(self, credential_id: str) -> None:
        """Signs one browser out; idempotent."""

    async def ended(self, credential_id: str) -> bool:
        """Whether that sign-in is over; False for a credential that somebody else issued."""

    async def sweep(self) -> None:
        """Forgets what has ended."""

"""From a request to a caller: verified identity, and the role the store holds at this moment."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from aiohttp import hdrs, web

from server.clock import Clock
from server.config import ConfigSource
from server.errors import denied
from server.identity.port import BrowserSignIns, Identity, IdentityVerifier, SignedIn, nobody
from server.roles import Role, initial_role, role_of
from server.store.port import Document, Store, Transaction
from server.store.records import new_user, user_path

SESSION_COOKIE = "pidjin_session"
CSRF_COOKIE = "pidjin_csrf"
CSRF_HEADER = "X-CSRF-Token"
SAFE_METHODS = frozenset({hdrs.METH_GET, hdrs.METH_HEAD, hdrs.METH_OPTIONS})


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, with the role and user document read for this call (AUTH-9)."""

    identity: Identity
    role: Role
    user: Document
    credential_id: str
    via: Literal["cookie", "bearer"] = "bearer"

    @property
    def uid(self) -> str:
        return self.identity.uid


class Callers:
    """Authenticates requests; provisions `users/{uid}` at first contact (AUTH-3)."""

    def __init__(
        self,
        store: Store,
        config: ConfigSource,
        identity: IdentityVerifier,
        clock: Clock,
        *,
        browsers: BrowserSignIns | None = None,
    ) -> None:
        """`browsers`: whose cookies are taken; without it there are only bearers."""
        self._store = store
        self._config = config
        self._identity = identity
        self._browsers = browsers
        self._clock = clock

    async def authenticate(self, request: web.Request) -> Caller:
        """Raises `unauthenticated`, or `permission-denied` for a cookie without its CSRF header."""
        token = bearer_of(request.headers)
        if token is not None:
            signed_in = await self._identity.verify(token)
            via: Literal["cookie", "bearer"] = "bearer"
        else:
            cookie = request.cookies.get(SESSION_COOKIE)
            if not cookie or self._browsers is None:
                raise nobody()
            signed_in, via = await self._browsers.verify_cookie(cookie), "cookie"
            if request.method not in SAFE_METHODS:
                _check_csrf(request, self._browsers.csrf_of(cookie))
        return await self.caller_of(signed_in, via=via)

    async def caller_of(
        self, signed_in: SignedIn, *, via: Literal["cookie", "bearer"] = "bearer"
    ) -> Caller:
        user = await self.provision(signed_in.identity)
        return Caller(
            signed_in.identity, role_of(user.get("role")), user, signed_in.credential_id, via
        )

    async def provision(self, identity: Identity, role: Role | None = None) -> Document:
        """The user document, created if absent; an existing one is never touched (AUTH-5)."""
        doc = await self._store.get(user_path(identity.uid))
        if doc is not None:
            return doc.data
        if role is None:
            role = initial_role(
                identity.email,
                email_verified=identity.email_verified,
                admin_email=(await self._config.load()).admin_email,
            )
        return await self._create(identity, role, self._clock.now())

    async def _create(self, identity: Identity, role: Role, now: datetime) -> Document:
        fresh = new_user(
            email=identity.email, display_name=identity.display_name, role=role.value, now=now
        )

        async def work(transaction: Transaction) -> Document:
            existing = await transaction.get(user_path(identity.uid))
            if existing is not None:
                return existing.data
            transaction.create(user_path(identity.uid), fresh)
            return fresh

        return await self._store.transaction(work)


def _check_csrf(request: web.Request, wanted: str) -> None:
    given = request.headers.get(CSRF_HEADER, "")
    if not hmac.compare_digest(given.encode(errors="replace"), wanted.encode()):
        raise denied(
            f"Reload the page and try again ({CSRF_HEADER} is missing or wrong).", reason="csrf"
        )


def bearer_of(headers: Mapping[str, Any]) -> str | None:
    """The token of `Authorization: Bearer …`; None when there is no such header."""
    scheme, _, token = headers.get(hdrs.AUTHORIZATION, "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None

"""Sign-in without any account elsewhere: identities bound to a browser by signed credentials.

A credential is `v1.<payload>.<HMAC-SHA256>` over a random id, its end, and what it is for: a cookie
is no bearer and a bearer no cookie. The signature makes garbage cheap to refuse; the stored
`localSessions/{id}` makes a credential revocable. The e-mail is what the person typed: shown as
unverified, and never a reason for any role.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import os
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from server.clock import Clock, moment, stamp
from server.errors import Refused
from server.identity.kept import Kept
from server.identity.port import Identity, SignedIn, expired, nobody, refused, signed_out
from server.store.port import Store

# Losing the cookie means losing a local identity, so it lives long and is renewed in use.
COOKIE_LIFETIME = timedelta(days=180)
COOKIE_RENEWAL = timedelta(days=1)
BEARER_LIFETIME = timedelta(hours=24)
SECRET_BYTES = 32
TOKEN_MAX_CHARS = 1024

DEV_UID = "dev-admin"
DEV_IDENTITY = Identity(DEV_UID, "dev@localhost", False, "Dev token")
_COLLECTION = "localSessions"

Purpose = Literal["cookie", "bearer"]


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a sign-in hands out: a cookie value, its CSRF partner, and a bearer for scripts."""

    cookie: str
    csrf: str
    bearer: str
    bearer_expires_at: datetime


class SecretDamaged(ValueError):
    """The stored signing secret cannot be used; the message says what to do."""


def load_secret(data_dir: Path) -> bytes:
    """The signing secret, made on first start, readable by the owner only.

    Raises SecretDamaged, OSError.
    """
    path = data_dir / "signing-secret"
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return _stored_secret(path)
    secret = secrets.token_bytes(SECRET_BYTES)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(secret.hex())
    return secret


def _stored_secret(path: Path) -> bytes:
    try:
        secret = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except ValueError:
        secret = b""
    if len(secret) < SECRET_BYTES:
        raise SecretDamaged(f"{path} is damaged; delete it to sign everybody out")
    return secret


def _forgotten() -> Refused:
    return refused(
        "This browser was not used here for too long. An admin can give you a link back.", "expired"
    )


class LocalIdentity:
    """Adapter `local` of IdentityVerifier and BrowserSignIns; only it issues its credentials."""

    lifetime = COOKIE_LIFETIME

    def __init__(
        self, store: Store, clock: Clock, secret: bytes, *, dev_token: str | None = None
    ) -> None:
        self._store = store
        self._kept = Kept(store, clock, _COLLECTION)
        self._clock = clock
        self._secret = secret
        self._dev_token = dev_token.encode() if dev_token else None

    async def open(self) -> None:
        await self.sweep()

    async def close(self) -> None:
        """Holds nothing."""

    async def issue(self, *, uid: str, email: str, display_name: str) -> Credentials:
        """Signs in: a new revocable credential for `uid`."""
        credential_id = secrets.token_urlsafe(18)
        now = self._clock.now()
        await self._store.create(
            self._kept.path(credential_id),
            {
                "uid": uid,
                "email": email,
                "displayName": display_name,
                "createdAt": stamp(now),
                "expiresAt": stamp(now + COOKIE_LIFETIME),
            },
        )
        bearer_until = now + BEARER_LIFETIME
        return Credentials(
            cookie=self._sign("cookie", credential_id, now + COOKIE_LIFETIME),
            csrf=self._csrf(credential_id),
            bearer=self._sign("bearer", credential_id, bearer_until),
            bearer_expires_at=bearer_until,
        )

    async def verify(self, token: str) -> SignedIn:
        if self._dev_token and hmac.compare_digest(token.encode(errors="replace"), self._dev_token):
            return SignedIn(DEV_IDENTITY, DEV_UID)
        return await self._verified("bearer", token)

    async def verify_cookie(self, cookie: str) -> SignedIn:
        """Raises Refused `unauthenticated` for anything but a live cookie of ours."""
        return await self._verified("cookie", cookie)

    async def _verified(self, purpose: Purpose, token: str) -> SignedIn:
        credential_id, expires_at = self._open(purpose, token)
        now = self._clock.now()
        if expires_at <= now:
            raise _forgotten() if purpose == "cookie" else expired()
        doc = await self._store.get(self._kept.path(credential_id))
        if doc is None:
            raise signed_out()
        if moment(doc.data["expiresAt"]) <= now:
            raise _forgotten()
        identity = Identity(
            uid=doc.data["uid"],
            email=doc.data["email"],
            email_verified=False,
            display_name=doc.data["displayName"],
        )
        return SignedIn(identity, credential_id)

    async def renew(self, cookie: str, credential_id: str) -> str | None:
        """A later-expiring cookie value, when the presented one is older than COOKIE_RENEWAL."""
        _, expires_at = self._open("cookie", cookie)
        now = self._clock.now()
        until = now + COOKIE_LIFETIME
        if until - expires_at < COOKIE_RENEWAL:
            return None
        await self._store.update(self._kept.path(credential_id), {"expiresAt": stamp(until)})
        return self._sign("cookie", credential_id, until)

    async def revoke(self, credential_id: str) -> None:
        """Ends the cookie and every bearer issued with it."""
        if credential_id != DEV_UID:
            await self._kept.end(credential_id)

    async def ended(self, credential_id: str) -> bool:
        return credential_id != DEV_UID and await self._kept.ended(credential_id)

    async def sweep(self) -> None:
        """Forgets expired credentials."""
        await self._kept.sweep()

    def csrf_of(self, cookie: str) -> str:
        """The same for every cookie of one credential. Raises Refused."""
        return self._csrf(self._open("cookie", cookie)[0])

    def _csrf(self, credential_id: str) -> str:
        return _text(self._mac(b"csrf:" + credential_id.encode()))

    def _sign(self, purpose: Purpose, credential_id: str, expires_at: datetime) -> str:
        claims = {"i": credential_id, "e": int(expires_at.timestamp()), "p": purpose}
        payload = _text(json.dumps(claims).encode())
        return f"v1.{payload}.{_text(self._mac(payload.encode()))}"

    def _open(self, purpose: Purpose, token: str) -> tuple[str, datetime]:
        if len(token) > TOKEN_MAX_CHARS or not token.isascii():
            raise nobody()
        version, _, rest = token.partition(".")
        payload, _, mac = rest.partition(".")
        if version != "v1" or not hmac.compare_digest(
            mac.encode(), _text(self._mac(payload.encode())).encode()
        ):
            raise nobody()
        claims: dict[str, Any] = json.loads(_bytes(payload))
        if claims.get("p") != purpose:
            raise nobody()
        return str(claims["i"]), datetime.fromtimestamp(claims["e"], tz=self._clock.now().tzinfo)

    def _mac(self, data: bytes) -> bytes:
        return hmac.new(self._secret, data, hashlib.sha256).digest()


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def _bytes(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error:
        raise nobody() from None

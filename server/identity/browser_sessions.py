"""Browsers that came by Google: a cookie of ours for two weeks, vouched for by Google every hour.

The cookie is 256 random bits, of which the store knows a hash; what renews the sign-in at Google is
stored encrypted under the cookie. So neither the store nor the cookie alone is worth anything
there, no signing secret is needed, and any node can serve any browser.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import logging
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from server.clock import Clock, moment, stamp
from server.errors import Code, Refused, Unavailable
from server.identity.google import GoogleTrouble, Tokens, Trouble
from server.identity.kept import Kept
from server.identity.port import Identity, SignedIn, expired, signed_out
from server.identity.verified import Expiring, digest
from server.locks import SessionLocks
from server.store.port import Doc, NotFound, Store

log = logging.getLogger(__name__)

LIFETIME = timedelta(days=14)
RENEWAL = timedelta(days=1)
# How long Google's word holds: that of an ID token, or less where revocation is asked about.
VOUCHED = timedelta(hours=1)
VOUCHED_STRICT = timedelta(seconds=60)
# Google out of reach ends no lesson at once; whoever wants strictness has none of this.
GRACE = timedelta(hours=1)
RETRY = timedelta(seconds=30)
# How old the stored moment of Google's last word may become before it is written again.
NOTED = timedelta(minutes=10)
TOKEN_BYTES = 32
TOKEN_MAX_CHARS = 128
NONCE_BYTES = 12
_COLLECTION = "browserSessions"
# A bearer of Firebase has another kind of id: it is in no store.
_OURS = re.compile(r"[0-9a-f]{64}\Z")


class Renewer(Protocol):
    """The part of GoogleAccounts that is used here."""

    async def refresh(self, refresh_token: str) -> Tokens: ...


class TokenVerifier(Protocol):
    """The part of IdentityVerifier that is used here."""

    async def verify(self, token: str) -> SignedIn: ...


@dataclass(frozen=True, slots=True)
class BrowserCredentials:
    cookie: str
    csrf: str


class BrowserSessions:
    """Issuer and verifier of these cookies. `strict`: revocation counts within a minute."""

    lifetime = LIFETIME

    def __init__(
        self,
        store: Store,
        clock: Clock,
        verifier: TokenVerifier,
        google: Renewer,
        *,
        strict: bool = False,
    ) -> None:
        self._store = store
        self._kept = Kept(store, clock, _COLLECTION)
        self._clock = clock
        self._verifier = verifier
        self._google = google
        self._vouched_for = VOUCHED_STRICT if strict else VOUCHED
        self._grace = timedelta() if strict else GRACE
        self._vouched: Expiring[bool] = Expiring()
        self._locks = SessionLocks()

    async def issue(self, signed_in: SignedIn, refresh_token: str) -> BrowserCredentials:
        """A new browser of a person whom Google has just vouched for."""
        cookie = secrets.token_urlsafe(TOKEN_BYTES)
        now = self._clock.now()
        await self._store.create(
            _path(cookie),
            {
                **_person(signed_in.identity),
                "renewal": _sealed(cookie, refresh_token),
                "createdAt": stamp(now),
                "vouchedAt": stamp(now),
                "expiresAt": stamp(now + LIFETIME),
            },
        )
        self._vouch(cookie, now)
        return BrowserCredentials(cookie, self.csrf_of(cookie))

    async def verify_cookie(self, cookie: str) -> SignedIn:
        """Raises Refused `unauthenticated`; Unavailable when Google must be asked and cannot be."""
        if not 0 < len(cookie) <= TOKEN_MAX_CHARS or not cookie.isascii():
            raise signed_out()
        doc = await self._store.get(_path(cookie))
        now = self._clock.now()
        if doc is None:
            raise signed_out()
        if moment(doc.data["expiresAt"]) <= now:
            raise expired()
        if not self._vouched.get(digest(cookie), now):
            async with self._locks.of(doc.id):
                doc = await self._asked(cookie, doc)
        return SignedIn(_identity(doc), doc.id)

    async def renew(self, cookie: str, credential_id: str) -> str | None:
        """The same value, good for LIFETIME from now; None when that would gain too little."""
        doc = await self._store.get(self._kept.path(credential_id))
        until = self._clock.now() + LIFETIME
        if doc is None or until - moment(doc.data["expiresAt"]) < RENEWAL:
            return None
        await self._write(doc, {"expiresAt": stamp(until)})
        return cookie

    async def revoke(self, credential_id: str) -> None:
        """Signs one browser out."""
        await self._kept.end(credential_id)

    async def ended(self, credential_id: str) -> bool:
        return _OURS.match(credential_id) is not None and await self._kept.ended(credential_id)

    async def sweep(self) -> None:
        """Forgets browsers that did not come back."""
        await self._kept.sweep()

    def csrf_of(self, cookie: str) -> str:
        """The value that `X-CSRF-Token` must carry beside this cookie."""
        mac = hmac.new(cookie.encode(errors="replace"), b"csrf", hashlib.sha256).digest()
        return base64.urlsafe_b64encode(mac).rstrip(b"=").decode()

    async def _asked(self, cookie: str, doc: Doc) -> Doc:
        """The document after Google was asked whether that sign-in still holds."""
        now = self._clock.now()
        if self._vouched.get(digest(cookie), now):  # somebody else asked while this one waited
            return doc
        if moment(doc.data["vouchedAt"]) + self._vouched_for > now:
            self._vouch(cookie, moment(doc.data["vouchedAt"]))
            return doc
        renewal = _opened(cookie, str(doc.data["renewal"]))
        try:
            tokens = await self._google.refresh(renewal)
            signed_in = await self._verifier.verify(tokens.id_token)
        except (GoogleTrouble, Unavailable) as error:
            return await self._unvouched(cookie, doc, error)
        except Refused as error:
            # Fresh from Google and still no good: the wrong project, or this machine's clock.
            trouble = GoogleTrouble(Trouble.UNAVAILABLE, str(error))
            return await self._unvouched(cookie, doc, trouble)
        if signed_in.identity.uid != doc.data["uid"]:
            await self._store.delete(doc.path)
            raise _ended()
        changed = {
            key: value
            for key, value in _person(signed_in.identity).items()
            if doc.data.get(key) != value
        }
        if tokens.refresh_token != renewal:
            changed["renewal"] = _sealed(cookie, tokens.refresh_token)
        return await self._renewed(cookie, doc, changed)

    async def _renewed(self, cookie: str, doc: Doc, changed: dict[str, object]) -> Doc:
        now = self._clock.now()
        self._vouch(cookie, now)
        if changed or now - moment(doc.data["vouchedAt"]) >= NOTED:
            changed["vouchedAt"] = stamp(now)
            await self._write(doc, changed)
        return Doc(doc.path, {**doc.data, **changed}, doc.version)

    async def _write(self, doc: Doc, fields: dict[str, object]) -> None:
        try:
            await self._store.update(doc.path, fields)
        except NotFound:
            raise signed_out() from None  # signed out while Google was asked

    async def _unvouched(self, cookie: str, doc: Doc, error: GoogleTrouble | Unavailable) -> Doc:
        """Goes on for GRACE when Google cannot say; ends the sign-in when it says no."""
        trouble = error.trouble if isinstance(error, GoogleTrouble) else Trouble.UNAVAILABLE
        log.warning("browser_not_vouched_for", extra={"why": trouble.value, "detail": str(error)})
        if trouble in (Trouble.REFUSED, Trouble.ACCOUNT):
            await self._store.delete(doc.path)
            raise _ended()
        now = self._clock.now()
        if now < moment(doc.data["vouchedAt"]) + self._vouched_for + self._grace:
            self._vouched.put(digest(cookie), True, now + RETRY)
            return doc
        raise Unavailable(
            "Your sign-in cannot be checked with Google right now. Please try again shortly."
        )

    def _vouch(self, cookie: str, since: datetime) -> None:
        self._vouched.put(digest(cookie), True, since + self._vouched_for)


def _ended() -> Refused:
    return Refused(
        Code.UNAUTHENTICATED,
        "Your sign-in with Google has ended. Please sign in again.",
        details={"reason": "sign-in-ended"},
    )


def _path(cookie: str) -> str:
    return f"{_COLLECTION}/{hashlib.sha256(cookie.encode()).hexdigest()}"


def _person(identity: Identity) -> dict[str, object]:
    return {
        "uid": identity.uid,
        "email": identity.email,
        "emailVerified": identity.email_verified,
        "displayName": identity.display_name,
    }


def _identity(doc: Doc) -> Identity:
    data = doc.data
    return Identity(data["uid"], data["email"], data["emailVerified"] is True, data["displayName"])


def _cipher(cookie: str) -> AESGCM:
    return AESGCM(hmac.new(cookie.encode(), b"renewal", hashlib.sha256).digest())


def _sealed(cookie: str, text: str) -> str:
    nonce = secrets.token_bytes(NONCE_BYTES)
    return base64.urlsafe_b64encode(
        nonce + _cipher(cookie).encrypt(nonce, text.encode(), None)
    ).decode()


def _opened(cookie: str, sealed: str) -> str:
    raw = base64.urlsafe_b64decode(sealed)
    try:
        return _cipher(cookie).decrypt(raw[:NONCE_BYTES], raw[NONCE_BYTES:], None).decode()
    except InvalidTag:
        raise signed_out() from None

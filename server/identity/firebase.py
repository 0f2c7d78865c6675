"""Sign-in with Firebase: verifies ID tokens with firebase-admin, off the event loop.

Uid, e-mail and name are the token's; roles never are (AUTH-1, AUTH-8). A verified token is
remembered until it expires, or for REVOKED_AFTER_S when revocation is asked of Firebase.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import firebase_admin  # type: ignore[import-untyped]
from firebase_admin import auth, credentials, exceptions
from google.auth.credentials import AnonymousCredentials
from google.auth.exceptions import GoogleAuthError

from agent.prompts.quoting import one_line
from server.clock import Clock
from server.errors import Unavailable
from server.identity.local import DEV_IDENTITY, DEV_UID
from server.identity.port import (
    Identity,
    SignedIn,
    SignInUnusable,
    expired,
    nobody,
    refused,
    signed_out,
)
from server.identity.verified import Expiring, digest
from server.store.port import ID

log = logging.getLogger(__name__)

# Google's ID tokens have about 1 200 characters; custom claims add at most 1 000 bytes.
TOKEN_MAX_CHARS = 4096
# How far the clocks of Google and this machine may differ.
CLOCK_SKEW_S = 10
# The published keys and, when asked, the account: each one request.
REQUEST_S = 3.0
VERIFY_S = 8.0
REVOKED_AFTER_S = 60.0
# Firebase's ID tokens live for an hour; a sign-out must outlive all of that sign-in.
SIGN_OUT_LIFETIME = timedelta(hours=1, seconds=CLOCK_SKEW_S)
WORKERS = 2
NAME_MAX_CHARS = 80
EMAIL_MAX_CHARS = 254


class FirebaseIdentity:
    """Adapter `firebase` of IdentityVerifier. Opens nothing before the first token.

    With `check_revoked`, Firebase is asked whether the sign-in was revoked or the account
    disabled; that needs a service account. Without, such a token still ends within its hour.
    """

    def __init__(
        self,
        project: str,
        clock: Clock,
        *,
        check_revoked: bool = False,
        dev_token: str | None = None,
    ) -> None:
        self._clock = clock
        self._check_revoked = check_revoked
        self._dev_token = dev_token.encode() if dev_token else None
        self._verified: Expiring[SignedIn] = Expiring()
        self._signed_out: Expiring[bool] = Expiring()
        # Own threads: keys that come slowly may not hold up other work of the process.
        self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="firebase")
        self._project = project
        self._app: Any = None

    async def open(self) -> None:
        """Raises SignInUnusable when revocation is to be asked about, and no account may ask."""
        if not self._check_revoked:
            return
        app = self._opened()
        try:
            async with asyncio.timeout(VERIFY_S):
                loop = asyncio.get_running_loop()
                await loop.run_in_executor(self._pool, app.credential.get_credential)
        except (GoogleAuthError, TimeoutError) as error:
            raise SignInUnusable(
                "PIDJIN_FIREBASE_CHECK_REVOKED needs credentials: set "
                "GOOGLE_APPLICATION_CREDENTIALS to the key file of a service account "
                f"({str(error) or 'none were found in time'})"
            ) from error

    async def verify(self, token: str) -> SignedIn:
        if self._dev_token and hmac.compare_digest(token.encode(errors="replace"), self._dev_token):
            return SignedIn(DEV_IDENTITY, DEV_UID)
        if not 0 < len(token) <= TOKEN_MAX_CHARS or not token.isascii():
            raise nobody()
        key = digest(token)
        signed_in = self._verified.get(key, self._clock.now())
        if signed_in is None:
            claims = await self._claims(token)
            signed_in = _signed_in(claims)
            self._verified.put(key, signed_in, self._known_until(claims))
        ended = self._signed_out.get(digest(signed_in.credential_id), self._clock.now())
        if ended:
            raise signed_out()
        return signed_in

    async def revoke(self, credential_id: str) -> None:
        """Ends one sign-in in this process: all its tokens, until they have expired anyway."""
        if credential_id != DEV_UID:
            until = self._clock.now() + SIGN_OUT_LIFETIME
            self._signed_out.put(digest(credential_id), True, until)

    async def close(self) -> None:
        """Idempotent."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        if self._app is not None:
            firebase_admin.delete_app(self._app)
            self._app = None

    async def _claims(self, token: str) -> dict[str, Any]:
        """Raises Refused, or Unavailable when Google's keys or accounts cannot be asked."""
        loop = asyncio.get_running_loop()
        self._opened()
        try:
            async with asyncio.timeout(VERIFY_S):
                return await loop.run_in_executor(self._pool, self._verify, token)
        except auth.ExpiredIdTokenError as error:
            raise expired() from error
        except (
            auth.InvalidIdTokenError,
            auth.UserDisabledError,
            auth.UserNotFoundError,
            ValueError,
        ) as error:
            if "too early" in str(error):
                raise refused(
                    "This server’s clock is behind. Please tell whoever runs it.", "clock"
                ) from error
            raise nobody() from error
        except (exceptions.FirebaseError, GoogleAuthError, TimeoutError) as error:
            log.warning("sign_in_unverifiable", extra={"detail": str(error)})
            raise Unavailable(
                "Your sign-in cannot be checked right now. Please try again shortly."
            ) from error

    def _opened(self) -> Any:
        if self._app is None:
            # Verifying needs no account, yet without any credential firebase-admin demands one.
            credential = (
                credentials.ApplicationDefault() if self._check_revoked else AnonymousCredentials()  # type: ignore[no-untyped-call]
            )
            self._app = firebase_admin.initialize_app(
                credential,
                {"projectId": self._project, "httpTimeout": REQUEST_S},
                name=f"pidjin-{secrets.token_hex(8)}",
            )
        return self._app

    def _verify(self, token: str) -> dict[str, Any]:
        claims: dict[str, Any] = auth.verify_id_token(
            token,
            app=self._app,
            check_revoked=self._check_revoked,
            clock_skew_seconds=CLOCK_SKEW_S,
        )
        return claims

    def _known_until(self, claims: dict[str, Any]) -> datetime:
        expires_at = datetime.fromtimestamp(claims["exp"], UTC)
        if not self._check_revoked:
            return expires_at
        return min(expires_at, self._clock.now() + timedelta(seconds=REVOKED_AFTER_S))


def _signed_in(claims: dict[str, Any]) -> SignedIn:
    """Raises Refused for an account without an e-mail address (anonymous, or by phone)."""
    uid, email = str(claims["uid"]), str(claims.get("email") or "")
    if not ID.match(uid) or len(email) > EMAIL_MAX_CHARS:
        raise refused("This account cannot be used here.", "account")
    if not email:
        raise refused("Please sign in with an account that has an e-mail address.", "account")
    identity = Identity(
        uid=uid,
        email=email,
        email_verified=claims.get("email_verified") is True,
        display_name=one_line(str(claims.get("name") or ""), NAME_MAX_CHARS),
    )
    # The same for every token of one sign-in, however often it is refreshed.
    return SignedIn(identity, f"{uid}.{claims.get('auth_time', claims['iat'])}")

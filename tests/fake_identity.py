"""A loopback stand-in for Google's identity service: real RS256 tokens, x509 keys, accounts.

It plays the issuer, never the verifier: the code under test runs firebase-admin's production path.
"""

from __future__ import annotations

import functools
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID
from firebase_admin import _token_gen, _user_mgt

from server.identity import google

API_KEY = "AIza-of-the-project"
PROJECT = "demo-pidjin"


@functools.cache
def private_key(name: str) -> rsa.RSAPrivateKey:
    """One key per name and process; making one takes a while."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@functools.cache
def certificate(name: str) -> str:
    key, now = private_key(name), datetime.now(UTC)
    subject = x509.Name(
        [x509.NameAttribute(NameOID.COMMON_NAME, "securetoken.system.gserviceaccount.com")]
    )
    signed = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=16))
        .sign(key, hashes.SHA256())
    )
    return signed.public_bytes(serialization.Encoding.PEM).decode()


def claims(uid: str = "ada", *, project: str = PROJECT, **over: Any) -> dict[str, Any]:
    """Of an ID token that was issued a moment ago; a claim given as None is left out."""
    now = int(time.time())
    made = {
        "iss": f"https://securetoken.google.com/{project}",
        "aud": project,
        "auth_time": now - 5,
        "user_id": uid,
        "sub": uid,
        "iat": now - 5,
        "exp": now + 3600,
        "email": f"{uid}@example.org",
        "email_verified": True,
        "name": uid.title(),
        "firebase": {"identities": {}, "sign_in_provider": "google.com"},
        **over,
    }
    return {name: value for name, value in made.items() if value is not None}


def sign(payload: dict[str, Any], *, key: str = "k1", kid: str | None = "k1") -> str:
    headers = {"kid": kid} if kid else None
    return jwt.encode(payload, private_key(key), algorithm="RS256", headers=headers)


def token(uid: str = "ada", **over: Any) -> str:
    return sign(claims(uid, **over))


@dataclass
class FakeIdentity:
    """`accounts`: what a look-up tells of each uid; `*_status`: what the services answer.

    Of a sign-in in the browser it plays both Google's page (`consent`, `deny`) and the service that
    exchanges what came of it. `claims`: of the next ID token; `says`: an error instead of one.
    """

    published: list[str] = field(default_factory=lambda: ["k1"])
    accounts: dict[str, dict[str, Any]] = field(default_factory=dict)
    key_requests: int = 0
    look_ups: int = 0
    key_status: int = 200
    account_status: int = 200
    url: str = ""
    toolkit_status: int = 200
    project: str = PROJECT
    claims: dict[str, Any] = field(default_factory=dict)
    says: str | None = None
    exchange_says: str | None = None
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    refreshes: int = 0
    _sessions: dict[str, str] = field(default_factory=dict)
    _codes: dict[str, str] = field(default_factory=dict)
    _renewals: dict[str, str] = field(default_factory=dict)

    async def keys(self, request: web.Request) -> web.Response:
        self.key_requests += 1
        return web.json_response(
            {kid: certificate(kid) for kid in self.published},
            status=self.key_status,
            headers={"Cache-Control": "public, max-age=3600, must-revalidate, no-transform"},
        )

    async def look_up(self, request: web.Request) -> web.Response:
        self.look_ups += 1
        if self.account_status != 200:
            return web.json_response({}, status=self.account_status)
        asked = (await request.json())["localId"]
        users = [
            {"localId": uid, "validSince": "0", "disabled": False, **self.accounts[uid]}
            for uid in asked
            if uid in self.accounts
        ]
        return web.json_response({"users": users})

    async def create_auth_uri(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.asked.append(("createAuthUri", body))
        if refusal := self._refusal(request, self.says):
            return refusal
        state, session_id = secrets.token_urlsafe(24), secrets.token_urlsafe(12)
        self._sessions[session_id] = state
        query = {
            "response_type": "code",
            "client_id": "1234.apps.example.org",
            "redirect_uri": body["continueUri"],
            "state": state,
            "scope": "openid email profile",
        }
        return web.json_response(
            {
                "kind": "identitytoolkit#CreateAuthUriResponse",
                "authUri": f"{self.url}/o/oauth2/auth?{urlencode(query)}",
                "providerId": "google.com",
                "sessionId": session_id,
            }
        )

    def consent(self, location: str, uid: str = "ada") -> str:
        """Where Google's page at `location` sends a browser whose person agreed to be `uid`."""
        query = parse_qs(urlsplit(location).query)
        code = secrets.token_urlsafe(12)
        self._codes[code] = uid
        back = {"state": query["state"][0], "code": code, "scope": "openid email", "authuser": "0"}
        return f"{query['redirect_uri'][0]}?{urlencode(back)}"

    def deny(self, location: str, error: str = "access_denied") -> str:
        query = parse_qs(urlsplit(location).query)
        back = {"error": error, "state": query["state"][0]}
        return f"{query['redirect_uri'][0]}?{urlencode(back)}"

    async def sign_in_with_idp(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.asked.append(("signInWithIdp", body))
        if refusal := self._refusal(request, self.exchange_says):
            return refusal
        query = parse_qs(urlsplit(body["requestUri"]).query)
        state = self._sessions.pop(body["sessionId"], None)
        uid = self._codes.pop(query.get("code", [""])[0], None)
        if uid is None or state is None or [state] != query.get("state"):
            return _error(400, "INVALID_IDP_RESPONSE : The supplied auth credential is malformed.")
        return web.json_response(
            {
                "idToken": token(uid, project=self.project, **self.claims),
                "refreshToken": self._renewal(uid),
                "expiresIn": "3600",
                "localId": uid,
            }
        )

    async def renew(self, request: web.Request) -> web.Response:
        form = await request.post()
        self.refreshes += 1
        if refusal := self._refusal(request, self.says):
            return refusal
        uid = self._renewals.get(str(form["refresh_token"]))
        if form["grant_type"] != "refresh_token" or uid is None:
            return _error(400, "INVALID_REFRESH_TOKEN")
        return web.json_response(
            {
                "id_token": token(uid, project=self.project, **self.claims),
                "refresh_token": str(form["refresh_token"]),
                "expires_in": "3600",
                "user_id": uid,
            }
        )

    def end_sign_ins(self) -> None:
        """As after a changed password, or an account that was disabled."""
        self._renewals.clear()

    def _renewal(self, uid: str) -> str:
        token = secrets.token_urlsafe(40)
        self._renewals[token] = uid
        return token

    def _refusal(self, request: web.Request, says: str | None) -> web.Response | None:
        if self.toolkit_status != 200:
            return web.json_response({}, status=self.toolkit_status)
        if request.query.get("key") != API_KEY:
            return _error(400, "API key not valid. Please pass a valid API key.")
        return _error(400, says) if says else None


def _error(status: int, message: str) -> web.Response:
    return web.json_response({"error": {"code": status, "message": message}}, status=status)


@asynccontextmanager
async def fake_identity(
    patch: pytest.MonkeyPatch,
    page: Callable[[FakeIdentity], web.AbstractRouteDef] | None = None,
) -> AsyncIterator[FakeIdentity]:
    """Points firebase-admin and our own calls at it: the addresses are module constants.

    `page`: the route of Google's own page, for browsers.
    """
    fake = FakeIdentity()
    app = web.Application()
    app.router.add_get("/keys", fake.keys)
    app.router.add_post("/v1/projects/{project}/accounts:lookup", fake.look_up)
    app.router.add_post("/v1/accounts:createAuthUri", fake.create_auth_uri)
    app.router.add_post("/v1/accounts:signInWithIdp", fake.sign_in_with_idp)
    app.router.add_post("/v1/token", fake.renew)
    if page is not None:
        app.add_routes([page(fake)])
    async with TestServer(app) as server:
        fake.url = str(server.make_url("")).rstrip("/")
        patch.delenv("FIREBASE_AUTH_EMULATOR_HOST", raising=False)
        patch.setattr(_token_gen, "ID_TOKEN_CERT_URI", f"{fake.url}/keys")
        patch.setattr(_user_mgt.UserManager, "ID_TOOLKIT_URL", f"{fake.url}/v1")
        patch.setattr(google, "TOOLKIT_URL", f"{fake.url}/v1")
        patch.setattr(google, "TOKEN_URL", f"{fake.url}/v1")
        yield fake

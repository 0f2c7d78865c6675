"""A loopback stand-in for Google's identity service: real RS256 tokens, x509 keys, accounts.

It plays the issuer, never the verifier: the code under test runs firebase-admin's production path.
"""

from __future__ import annotations

import functools
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID
from firebase_admin import _token_gen, _user_mgt

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
    """`accounts`: what a look-up tells of each uid; `*_status`: what the services answer."""

    published: list[str] = field(default_factory=lambda: ["k1"])
    accounts: dict[str, dict[str, Any]] = field(default_factory=dict)
    key_requests: int = 0
    look_ups: int = 0
    key_status: int = 200
    account_status: int = 200
    url: str = ""

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


@asynccontextmanager
async def fake_identity(patch: pytest.MonkeyPatch) -> AsyncIterator[FakeIdentity]:
    """Points firebase-admin at it: the addresses are module constants there, and nothing else."""
    fake = FakeIdentity()
    app = web.Application()
    app.router.add_get("/keys", fake.keys)
    app.router.add_post("/v1/projects/{project}/accounts:lookup", fake.look_up)
    async with TestServer(app) as server:
        fake.url = str(server.make_url("")).rstrip("/")
        patch.delenv("FIREBASE_AUTH_EMULATOR_HOST", raising=False)
        patch.setattr(_token_gen, "ID_TOKEN_CERT_URI", f"{fake.url}/keys")
        patch.setattr(_user_mgt.UserManager, "ID_TOOLKIT_URL", f"{fake.url}/v1")
        yield fake

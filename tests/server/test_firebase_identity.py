"""Firebase ID tokens: firebase-admin's own verification, with real signatures and keys."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest
from firebase_admin import credentials
from google.auth.credentials import AnonymousCredentials

from server.clock import FakeClock
from server.errors import Code, Refused, Unavailable
from server.identity.firebase import SIGN_OUT_LIFETIME, FirebaseIdentity
from server.identity.port import Identity
from server.identity.verified import Expiring
from tests.fake_identity import (
    PROJECT,
    FakeIdentity,
    claims,
    fake_identity,
    sign,
    token,
)

pytestmark = pytest.mark.req("AUTH-1")


@pytest.fixture
async def google(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeIdentity]:
    async with fake_identity(monkeypatch) as fake:
        yield fake


@pytest.fixture
def clock() -> FakeClock:
    """The real moment, which the signatures are about, standing still for what is remembered."""
    return FakeClock(datetime.now(UTC))


@asynccontextmanager
async def opened(clock: FakeClock, **options: Any) -> AsyncIterator[FirebaseIdentity]:
    identity = FirebaseIdentity(PROJECT, clock, **options)
    try:
        yield identity
    finally:
        await identity.close()


@pytest.fixture
async def firebase(google: FakeIdentity, clock: FakeClock) -> AsyncIterator[FirebaseIdentity]:
    async with opened(clock) as identity:
        yield identity


async def test_a_valid_token_is_the_person_it_names(firebase: FirebaseIdentity) -> None:
    signed_in = await firebase.verify(token("ada", name="  Ada\n Lovelace ", role="admin"))
    assert signed_in.identity == Identity("ada", "ada@example.org", True, "Ada Lovelace")


async def test_an_unverified_address_is_told_as_such(firebase: FirebaseIdentity) -> None:
    for value in (False, None, "true", 1):
        signed_in = await firebase.verify(token("ada", email_verified=value))
        assert signed_in.identity.email_verified is False


def unsigned(payload: dict[str, Any]) -> str:
    return jwt.encode(payload, None, algorithm="none", headers={"kid": "k1"})


def tampered() -> str:
    head, _, signature = token("ada").split(".")
    body = base64.urlsafe_b64encode(json.dumps(claims("victim")).encode()).rstrip(b"=").decode()
    return f"{head}.{body}.{signature}"


def now() -> int:
    return int(time.time())


BAD = {
    "expired": lambda: token(iat=now() - 7200, exp=now() - 60),
    "issued in the future": lambda: token(iat=now() + 60, exp=now() + 3600),
    "of another project": lambda: token(aud="demo-other"),
    "of another project altogether": lambda: sign(claims(project="demo-other")),
    "of another issuer": lambda: token(iss="https://accounts.google.com"),
    "without a subject": lambda: token(sub=None),
    "with an empty subject": lambda: token(sub=""),
    "with a subject of no use": lambda: token(sub="a/b"),
    "with a reserved subject": lambda: token(sub="__name__"),
    "with a key nobody published": lambda: sign(claims(), key="k9", kid="k9"),
    "signed by another key": lambda: sign(claims(), key="evil", kid="k1"),
    "without a key id": lambda: sign(claims(), kid=None),
    "unsigned": lambda: unsigned(claims()),
    "signed with a shared secret": lambda: jwt.encode(
        claims(), "k" * 40, algorithm="HS256", headers={"kid": "k1"}
    ),
    "tampered with": tampered,
    "without an e-mail": lambda: token(email=None),
    "cut short": lambda: token()[:-20],
    "two parts": lambda: ".".join(token().split(".")[:2]),
    "empty": lambda: "",
    "not ASCII": lambda: "ü.ü.ü",
    "huge": lambda: token(padding="x" * 5000),
    "of the local sign-in": lambda: "v1.eyJpIjoieCJ9.AAAA",
}


@pytest.mark.parametrize("case", BAD)
async def test_a_bad_token_is_nobody(firebase: FirebaseIdentity, case: str) -> None:
    for _ in range(2):
        with pytest.raises(Refused) as caught:
            await firebase.verify(BAD[case]())
        assert caught.value.code is Code.UNAUTHENTICATED


async def test_garbage_asks_nobody_for_keys(
    firebase: FirebaseIdentity, google: FakeIdentity
) -> None:
    for garbage in ("x.y.z", unsigned(claims()), token(aud="demo-other")):
        with pytest.raises(Refused):
            await firebase.verify(garbage)
    assert google.key_requests == 0


async def test_clocks_may_differ_a_little(firebase: FirebaseIdentity) -> None:
    assert await firebase.verify(token(iat=now() + 5))
    assert await firebase.verify(token(exp=now() - 3))


async def test_keys_are_fetched_once(firebase: FirebaseIdentity, google: FakeIdentity) -> None:
    await asyncio.gather(*(firebase.verify(token(f"u{i}")) for i in range(4)))
    asked = google.key_requests
    await asyncio.gather(*(firebase.verify(token(f"v{i}")) for i in range(8)))
    assert google.key_requests == asked <= 2


async def test_a_token_is_remembered_until_it_expires_and_no_longer(
    firebase: FirebaseIdentity,
    google: FakeIdentity,
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = 0
    genuine = firebase._verify

    def counted(value: str) -> dict[str, Any]:
        nonlocal asked
        asked += 1
        return genuine(value)

    monkeypatch.setattr(firebase, "_verify", counted)
    ada = token("ada", exp=int(clock.now().timestamp()) + 600)
    await firebase.verify(ada)
    clock.advance(seconds=590)
    await firebase.verify(ada)
    assert asked == 1
    clock.advance(seconds=11)
    await firebase.verify(ada)
    assert asked == 2


@pytest.mark.parametrize("status", [500, 503, 404])
async def test_keys_that_cannot_be_had_are_an_outage_and_not_a_refusal(
    firebase: FirebaseIdentity, google: FakeIdentity, status: int
) -> None:
    google.key_status = status
    with pytest.raises(Unavailable):
        await firebase.verify(token())
    google.key_status = 200
    assert await firebase.verify(token())


async def test_slow_keys_are_not_waited_for_and_hold_up_nobody_else(
    firebase: FirebaseIdentity, google: FakeIdentity, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = token("known")
    await firebase.verify(known)
    monkeypatch.setattr("server.identity.firebase.VERIFY_S", 0.2)
    released = asyncio.Event()
    monkeypatch.setattr(
        firebase,
        "_verify",
        lambda value: asyncio.run_coroutine_threadsafe(released.wait(), loop).result(),
    )
    loop = asyncio.get_running_loop()
    with pytest.raises(Unavailable):
        await firebase.verify(token("new"))
    assert (await firebase.verify(known)).identity.uid == "known"
    released.set()


# --- ended early --------------------------------------------------------------------------------


@pytest.mark.req("AUTH-24")
async def test_signing_out_ends_this_sign_in_and_its_refreshed_tokens(
    firebase: FirebaseIdentity, clock: FakeClock
) -> None:
    first = await firebase.verify(token("ada", auth_time=1000))
    other = await firebase.verify(token("ada", auth_time=2000))
    await firebase.revoke(first.credential_id)
    for refreshed in (token("ada", auth_time=1000), token("ada", auth_time=1000, iat=now() - 1)):
        with pytest.raises(Refused) as caught:
            await firebase.verify(refreshed)
        assert caught.value.code is Code.UNAUTHENTICATED
    assert await firebase.verify(token("ada", auth_time=2000)) == other
    clock.advance(seconds=SIGN_OUT_LIFETIME.total_seconds())
    assert await firebase.verify(token("ada", auth_time=1000))


ACCOUNTS = {
    "live": (lambda: {"ada": {}}, True),
    "disabled": (lambda: {"ada": {"disabled": True}}, False),
    "deleted": (lambda: {}, False),
    "revoked": (lambda: {"ada": {"validSince": str(now() + 100)}}, False),
}


@pytest.mark.parametrize("case", ACCOUNTS)
async def test_the_account_is_asked_about_when_wanted(
    google: FakeIdentity, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    accounts, allowed = ACCOUNTS[case]
    google.accounts = accounts()
    monkeypatch.setattr(credentials.ApplicationDefault, "get_credential", _no_account)
    async with opened(clock, check_revoked=True) as identity:
        if allowed:
            assert await identity.verify(token())
        else:
            with pytest.raises(Refused):
                await identity.verify(token())
    assert google.look_ups == 1


async def test_an_account_that_ends_is_noticed_within_a_minute(
    google: FakeIdentity, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    google.accounts = {"ada": {}}
    monkeypatch.setattr(credentials.ApplicationDefault, "get_credential", _no_account)
    async with opened(clock, check_revoked=True) as identity:
        ada = token()
        await identity.verify(ada)
        google.accounts = {"ada": {"disabled": True}}
        clock.advance(seconds=59)
        assert await identity.verify(ada)
        clock.advance(seconds=2)
        with pytest.raises(Refused):
            await identity.verify(ada)


async def test_accounts_that_cannot_be_asked_about_are_an_outage(
    google: FakeIdentity, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    google.account_status = 429  # 503 would be repeated for 7 s
    monkeypatch.setattr(credentials.ApplicationDefault, "get_credential", _no_account)
    async with opened(clock, check_revoked=True) as identity:
        with pytest.raises(Unavailable):
            await identity.verify(token())


def _no_account(self: object) -> AnonymousCredentials:
    return AnonymousCredentials()


async def test_the_dev_token_and_nothing_like_it(google: FakeIdentity, clock: FakeClock) -> None:
    async with opened(clock, dev_token="sesame") as identity:
        assert (await identity.verify("sesame")).identity.uid == "dev-admin"
        with pytest.raises(Refused):
            await identity.verify("sesame1")


async def test_the_emulator_variable_switches_every_check_off(
    firebase: FirebaseIdentity, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Why the settings allow it for demo projects on loopback only."""
    forged = unsigned(claims("victim", exp=now() - 60))
    with pytest.raises(Refused):
        await firebase.verify(forged)
    monkeypatch.setenv("FIREBASE_AUTH_EMULATOR_HOST", "127.0.0.1:9099")
    assert (await firebase.verify(forged)).identity.uid == "victim"


def test_what_is_remembered_is_bounded() -> None:
    until = datetime(2026, 1, 1, tzinfo=UTC)
    early = until - timedelta(hours=1)
    kept: Expiring[int] = Expiring(entries_max=3)
    for number in range(3):
        kept.put(bytes([number]), number, until)
    kept.get(bytes([0]), early)
    kept.put(bytes([3]), 3, until)
    assert [kept.get(bytes([n]), early) for n in range(4)] == [0, None, 2, 3]
    assert kept.get(bytes([2]), until) is None
    assert len(kept) == 2


async def test_a_clock_that_is_behind_is_told_as_that(firebase: FirebaseIdentity) -> None:
    """Signing in again would not help; whoever runs the server must know."""
    soon = int(time.time()) + 300
    with pytest.raises(Refused, match="clock is behind") as caught:
        await firebase.verify(token("ada", iat=soon, auth_time=soon))
    assert (caught.value.code, caught.value.details) == (Code.UNAUTHENTICATED, {"reason": "clock"})

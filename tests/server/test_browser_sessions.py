"""How long a browser that came by Google stays signed in, and what ends it earlier."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from server.announcements import SignedOut
from server.callers import CSRF_HEADER
from tests.fake_identity import API_KEY, PROJECT, FakeIdentity, fake_identity
from tests.server.test_google_sign_in import PUBLIC, Browser
from tests.server.world import World, open_world

pytestmark = pytest.mark.req("AUTH-1")
WITH_GOOGLE: dict[str, Any] = {
    "identity": "firebase",
    "firebase_project": PROJECT,
    "firebase_api_key": API_KEY,
    "public_url": PUBLIC,
}


@pytest.fixture
async def google(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeIdentity]:
    async with fake_identity(monkeypatch) as fake:
        yield fake


@pytest.fixture
async def world(tmp_path: Path, google: FakeIdentity) -> AsyncIterator[World]:
    async with open_world(tmp_path, **WITH_GOOGLE) as opened:
        yield opened


@pytest.fixture
async def browser(world: World, google: FakeIdentity) -> Browser:
    """Signed in as ada."""
    opened = Browser(world, google)
    assert await opened.sign_in() == "/web/"
    return opened


async def refusal(browser: Browser) -> tuple[int, str]:
    status, answer = await browser.me()
    return status, answer["error"]["details"].get("reason", answer["error"]["code"])


async def test_google_is_asked_again_after_an_hour_and_not_before(
    browser: Browser, world: World, google: FakeIdentity
) -> None:
    world.clock.advance(minutes=59)
    assert (await browser.me())[0] == 200
    assert google.refreshes == 0
    world.clock.advance(minutes=2)
    assert [(await browser.me())[0] for _ in range(3)] == [200] * 3
    assert google.refreshes == 1


async def test_many_calls_at_once_ask_google_once(
    browser: Browser, world: World, google: FakeIdentity
) -> None:
    world.clock.advance(minutes=61)
    cookies = dict(browser.jar)

    async def call() -> int:
        async with world.client.get("/api/me", cookies=cookies) as response:
            return response.status

    assert await asyncio.gather(*(call() for _ in range(8))) == [200] * 8
    assert google.refreshes == 1


@pytest.mark.req("AUTH-24")
async def test_a_sign_in_that_ended_at_google_ends_here(
    browser: Browser, world: World, google: FakeIdentity
) -> None:
    google.end_sign_ins()
    assert (await browser.me())[0] == 200
    world.clock.advance(minutes=61)
    assert await refusal(browser) == (401, "sign-in-ended")
    assert await refusal(browser) == (401, "signed-out")
    assert await world.ctx.store.query("browserSessions") == []


async def test_a_disabled_account_ends_here(
    browser: Browser, world: World, google: FakeIdentity
) -> None:
    google.says = "USER_DISABLED"
    world.clock.advance(minutes=61)
    assert await refusal(browser) == (401, "sign-in-ended")


async def test_what_google_says_of_a_person_is_taken_over(
    browser: Browser, world: World, google: FakeIdentity
) -> None:
    google.claims = {"email": "lovelace@example.org", "email_verified": False}
    world.clock.advance(minutes=61)
    me = (await browser.me())[1]
    assert (me["email"], me["emailVerified"]) == ("lovelace@example.org", False)
    assert (await browser.me())[1] == me


async def test_google_out_of_reach_for_a_while_ends_nothing(
    browser: Browser, world: World, google: FakeIdentity
) -> None:
    google.toolkit_status = 503
    world.clock.advance(minutes=61)
    assert (await browser.me())[0] == 200
    asked = google.refreshes
    assert (await browser.me())[0] == 200
    assert google.refreshes == asked, "a service that is down is not asked at every call"
    world.clock.advance(minutes=60)
    assert await refusal(browser) == (503, "unavailable")
    google.toolkit_status = 200
    assert (await browser.me())[0] == 200


async def test_a_session_in_use_lasts_and_one_out_of_use_ends(
    browser: Browser, world: World
) -> None:
    for _ in range(4):
        world.clock.advance(days=5)
        assert (await browser.me())[0] == 200
    assert int(browser.morsels["pidjin_session"]["max-age"]) == 14 * 24 * 3600
    world.clock.advance(days=15)
    assert await refusal(browser) == (401, "expired")


@pytest.mark.req("AUTH-24")
async def test_signing_out_ends_this_browser_and_its_lessons_only(
    browser: Browser, world: World, google: FakeIdentity
) -> None:
    elsewhere = Browser(world, google)
    await elsewhere.sign_in()
    heard: list[object] = []
    world.ctx.announcements.subscribe(heard.append)
    kept = dict(browser.jar)
    header = {CSRF_HEADER: browser.jar["pidjin_csrf"], "Content-Type": "application/json"}
    assert (await browser.ask("POST", "/api/signOut", header))[0] == 200
    assert "pidjin_session" not in browser.jar
    browser.jar = kept
    assert await refusal(browser) == (401, "signed-out")
    assert (await elsewhere.me())[0] == 200
    assert [type(told) for told in heard] == [SignedOut]


@pytest.mark.parametrize("cookie", ["", "x", "x" * 43, "x" * 5000, "v1.e30.x"])
async def test_a_made_up_cookie_is_nobody(browser: Browser, cookie: str) -> None:
    browser.jar = {"pidjin_session": cookie}
    assert (await browser.me())[0] == 401


async def test_a_document_with_another_key_is_worth_nothing(
    browser: Browser, world: World, google: FakeIdentity
) -> None:
    """Whoever can write one document still cannot use what another browser sealed."""
    other = Browser(world, google)
    await other.sign_in("bo")
    docs = {doc.data["uid"]: doc for doc in await world.ctx.store.query("browserSessions")}
    sealed = docs["bo"].data["renewal"]
    await world.ctx.store.update(docs["ada"].path, {"renewal": sealed})
    world.clock.advance(minutes=61)
    assert (await browser.me())[0] == 401


async def test_browsers_that_do_not_come_back_are_forgotten_at_the_start(
    tmp_path: Path, google: FakeIdentity
) -> None:
    async with open_world(tmp_path, **WITH_GOOGLE) as world:
        await Browser(world, google).sign_in()
        await world.ctx.store.update(
            (await world.ctx.store.query("browserSessions"))[0].path,
            {"expiresAt": "2026-01-01T00:00:00.000Z"},
        )
    async with open_world(tmp_path, **WITH_GOOGLE) as world:
        assert await world.ctx.store.query("browserSessions") == []


async def test_a_restarted_server_knows_its_browsers(tmp_path: Path, google: FakeIdentity) -> None:
    async with open_world(tmp_path, **WITH_GOOGLE) as world:
        browser = Browser(world, google)
        await browser.sign_in()
    async with open_world(tmp_path, **WITH_GOOGLE) as world:
        browser.world = world
        assert (await browser.me())[0] == 200
        assert google.refreshes == 0


async def test_the_strict_are_told_of_a_revocation_within_a_minute(
    world: World, google: FakeIdentity
) -> None:
    """As with `PIDJIN_FIREBASE_CHECK_REVOKED`, whose other half needs an account to ask with."""
    from server.identity.browser_sessions import BrowserSessions

    ctx = world.ctx
    assert ctx.google is not None
    sessions = BrowserSessions(ctx.store, ctx.clock, ctx.identity, ctx.google, strict=True)
    there = await ctx.google.authorise(f"{PUBLIC}/api/google/callback")
    tokens = await ctx.google.exchange(google.consent(there.url), there.session_id)
    signed_in = await ctx.identity.verify(tokens.id_token)
    cookie = (await sessions.issue(signed_in, tokens.refresh_token)).cookie
    google.end_sign_ins()
    world.clock.advance(seconds=59)
    await sessions.verify_cookie(cookie)
    world.clock.advance(seconds=2)
    with pytest.raises(Exception, match="has ended"):
        await sessions.verify_cookie(cookie)

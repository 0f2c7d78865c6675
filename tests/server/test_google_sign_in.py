"""Signing in with Google in the browser: every way it can end, against a real HTTP service."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from http.cookies import Morsel
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from server.callers import CSRF_HEADER
from server.google_sign_in import COOKIE
from tests.emulator import new_project
from tests.fake_identity import API_KEY, PROJECT, FakeIdentity, fake_identity
from tests.server.world import World, open_world

pytestmark = pytest.mark.req("AUTH-1")
PUBLIC = "http://tutor.localhost:8080"
HOST = {"Host": "tutor.localhost:8080"}
BOSS = "boss@example.org"
START, CALLBACK = "/api/google/start", "/api/google/callback"


@pytest.fixture
async def google(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeIdentity]:
    async with fake_identity(monkeypatch) as fake:
        yield fake


@pytest.fixture
async def world(tmp_path: Path, google: FakeIdentity) -> AsyncIterator[World]:
    async with open_world(
        tmp_path,
        identity="firebase",
        firebase_project=PROJECT,
        firebase_api_key=API_KEY,
        public_url=PUBLIC,
        admin_email=BOSS,
    ) as opened:
        yield opened


class Browser:
    """Cookies by hand, as a browser at the public address would send them."""

    def __init__(self, world: World, google: FakeIdentity) -> None:
        self.world, self.google = world, google
        self.jar: dict[str, str] = {}
        self.morsels: dict[str, Morsel[str]] = {}

    async def visit(self, where: str, **kwargs: Any) -> str:
        """The address that a visit leads on to."""
        status, location, _ = await self.ask("GET", where, **kwargs)
        assert status == 303
        return location

    async def ask(
        self, method: str, where: str, headers: Mapping[str, str] = {}, **kwargs: Any
    ) -> tuple[int, str, Any]:
        parts = urlsplit(where)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        self.world.client.session.cookie_jar.clear()
        async with self.world.client.request(
            method,
            path,
            headers={**HOST, **headers},
            cookies=self.jar,
            allow_redirects=False,
            **kwargs,
        ) as response:
            for name, morsel in response.cookies.items():
                if morsel.value:
                    self.jar[name], self.morsels[name] = morsel.value, morsel
                else:
                    self.jar.pop(name, None)
            json = response.content_type == "application/json"
            answer = await response.json() if json else None
            return response.status, response.headers.get("Location", ""), answer

    async def sign_in(self, uid: str = "ada") -> str:
        return await self.visit(self.google.consent(await self.visit(START), uid))

    async def me(self) -> tuple[int, Any]:
        status, _, answer = await self.ask("GET", "/api/me")
        return status, answer


@pytest.fixture
def browser(world: World, google: FakeIdentity) -> Browser:
    return Browser(world, google)


def reason(location: str) -> str:
    assert location.startswith("/web/#/signin?error="), location
    return location.removeprefix("/web/#/signin?error=")


@pytest.mark.req("AUTH-3", "AUTH-26")
async def test_a_browser_comes_back_signed_in_and_pending(
    browser: Browser, google: FakeIdentity
) -> None:
    there = await browser.visit(START)
    assert there.startswith(f"{google.url}/o/oauth2/auth?")
    assert parse_qs(urlsplit(there).query)["redirect_uri"] == [PUBLIC + CALLBACK]
    assert await browser.visit(google.consent(there)) == "/web/"
    status, me = await browser.me()
    assert (status, me["uid"], me["email"], me["role"]) == (
        200,
        "ada",
        "ada@example.org",
        "pending",
    )
    assert me["emailVerified"] is True
    assert COOKIE not in browser.jar


async def test_what_google_is_asked(browser: Browser, google: FakeIdentity) -> None:
    await browser.sign_in()
    (first, started), (second, exchanged) = google.asked
    assert (first, second) == ("createAuthUri", "signInWithIdp")
    assert started["providerId"] == "google.com"
    assert started["authFlowType"] == "CODE_FLOW"
    assert exchanged["requestUri"].startswith(f"{PUBLIC}{CALLBACK}?")
    assert exchanged["returnSecureToken"] is True


@pytest.mark.req("AUTH-25")
async def test_the_cookies_of_a_session_are_strict_and_of_the_way_there_lax(
    browser: Browser,
) -> None:
    there = await browser.visit(START)
    way = browser.morsels[COOKIE]
    assert (way["samesite"], way["httponly"], way["path"]) == ("Lax", True, "/api/google")
    assert 0 < int(way["max-age"]) <= 600
    await browser.visit(browser.google.consent(there))
    session = browser.morsels["pidjin_session"]
    assert (session["samesite"], session["httponly"], session["path"]) == ("Strict", True, "/")
    assert browser.morsels["pidjin_csrf"]["httponly"] == ""


async def test_behind_https_every_cookie_is_secure(browser: Browser, google: FakeIdentity) -> None:
    https = {"X-Forwarded-Proto": "https"}
    there = await browser.visit(START, headers=https)
    await browser.visit(google.consent(there), headers=https)
    assert all(
        browser.morsels[name]["secure"] for name in (COOKIE, "pidjin_session", "pidjin_csrf")
    )


@pytest.mark.req("AUTH-25")
async def test_at_an_https_address_every_cookie_is_secure_whatever_a_proxy_says(
    tmp_path: Path, google: FakeIdentity
) -> None:
    async with open_world(
        tmp_path,
        identity="firebase",
        firebase_project=PROJECT,
        firebase_api_key=API_KEY,
        public_url="https://tutor.example.org",
    ) as world:
        browser, host = Browser(world, google), {"Host": "tutor.example.org"}
        there = await browser.visit(START, headers=host)
        await browser.visit(google.consent(there), headers=host)
        for name in (COOKIE, "pidjin_session", "pidjin_csrf"):
            assert browser.morsels[name]["secure"], name


@pytest.mark.req("AUTH-25")
async def test_a_change_needs_the_header_beside_the_cookie(browser: Browser, world: World) -> None:
    await browser.sign_in()
    await world.ctx.store.update("users/ada", {"role": "approved"})
    style = {"json": {"style": "lecture"}}
    assert (await browser.ask("POST", "/api/setPreferredStyle", **style))[0] == 403
    header = {CSRF_HEADER: browser.jar["pidjin_csrf"]}
    assert (await browser.ask("POST", "/api/setPreferredStyle", header, **style))[0] == 200
    other = Browser(world, browser.google)
    await other.sign_in("bo")
    foreign = {CSRF_HEADER: other.jar["pidjin_csrf"]}
    assert (await browser.ask("POST", "/api/setPreferredStyle", foreign, **style))[0] == 403


@pytest.mark.req("AUTH-4")
@pytest.mark.parametrize(("verified", "role"), [(True, "admin"), (False, "pending")])
async def test_the_first_admin_has_a_verified_address(
    browser: Browser, google: FakeIdentity, verified: bool, role: str
) -> None:
    google.claims = {"email": BOSS, "email_verified": verified}
    assert await browser.sign_in("boss") == "/web/"
    me = (await browser.me())[1]
    assert (me["role"], me["emailVerified"]) == (role, verified)


async def test_an_answer_counts_once(browser: Browser, google: FakeIdentity) -> None:
    there = await browser.visit(START)
    answer, way = google.consent(there), dict(browser.jar)
    assert await browser.visit(answer) == "/web/"
    again = Browser(browser.world, google)
    again.jar = way
    assert reason(await again.visit(answer)) == "expired"
    assert "pidjin_session" not in again.jar


async def test_an_answer_meant_for_another_browser_signs_nobody_in(
    browser: Browser, world: World, google: FakeIdentity
) -> None:
    """What somebody else agreed to, brought here: without and with a way of this browser."""
    other = Browser(world, google)
    theirs = google.consent(await other.visit(START), "mallory")
    assert reason(await browser.visit(theirs)) == "browser"
    mine = google.consent(await browser.visit(START), "ada")
    assert reason(await browser.visit(theirs)) == "browser"
    assert (await browser.me())[0] == 401
    assert await browser.visit(mine) == "/web/"
    assert (await browser.me())[1]["uid"] == "ada"


@pytest.mark.parametrize("state", ["", "state=", "state=x", "state=%ff%00", "state=a&state=b"])
async def test_a_wrong_state_is_no_answer(
    browser: Browser, google: FakeIdentity, state: str
) -> None:
    await browser.visit(START)
    assert reason(await browser.visit(f"{CALLBACK}?code=c&{state}")) == "browser"
    assert [name for name, _ in google.asked] == ["createAuthUri"]


async def test_an_answer_that_comes_too_late(
    browser: Browser, world: World, google: FakeIdentity
) -> None:
    answer = google.consent(await browser.visit(START))
    world.clock.advance(minutes=11)
    assert reason(await browser.visit(answer)) == "expired"


async def test_who_says_no_at_google_is_told_so(browser: Browser, google: FakeIdentity) -> None:
    assert reason(await browser.visit(google.deny(await browser.visit(START)))) == "cancelled"
    odd = google.deny(await browser.visit(START), "server_error")
    assert reason(await browser.visit(odd)) == "refused"


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ({"aud": "demo-other"}, "setup"),
        ({"iss": "https://securetoken.google.com/demo-other"}, "setup"),
        ({"exp": 1}, "setup"),
        ({"email": None}, "account"),
    ],
)
async def test_a_token_that_does_not_verify_signs_nobody_in(
    browser: Browser, world: World, google: FakeIdentity, claims: dict[str, Any], expected: str
) -> None:
    google.claims = claims
    assert reason(await browser.sign_in()) == expected
    assert await world.ctx.store.query("users") == []
    assert await world.ctx.store.query("browserSessions") == []


@pytest.mark.parametrize(
    ("says", "expected"),
    [
        ("USER_DISABLED", "account"),
        ("INVALID_IDP_RESPONSE : malformed", "refused"),
        ("OPERATION_NOT_ALLOWED", "setup"),
        ("API key not valid. Please pass a valid API key.", "setup"),
        ("SOMETHING_NEW", "refused"),
    ],
)
async def test_what_google_refuses(
    browser: Browser, google: FakeIdentity, says: str, expected: str
) -> None:
    google.exchange_says = says
    assert reason(await browser.sign_in()) == expected


async def test_google_out_of_reach(browser: Browser, google: FakeIdentity) -> None:
    google.toolkit_status = 503
    assert reason(await browser.visit(START)) == "unavailable"
    google.toolkit_status = 200
    answer = google.consent(await browser.visit(START))
    google.toolkit_status = 500
    assert reason(await browser.visit(answer)) == "unavailable"


async def test_google_not_set_up(browser: Browser, google: FakeIdentity) -> None:
    google.says = "OPERATION_NOT_ALLOWED : the provider is disabled"
    assert reason(await browser.visit(START)) == "setup"


async def test_nothing_in_a_request_chooses_where_to(
    browser: Browser, google: FakeIdentity
) -> None:
    query = "continue=https://evil.example&redirect_uri=https://evil.example&next=//evil.example"
    there = await browser.visit(f"{START}?{query}", headers={"Origin": "https://evil.example"})
    assert parse_qs(urlsplit(there).query)["redirect_uri"] == [PUBLIC + CALLBACK]
    assert await browser.visit(f"{google.consent(there)}&next=https://evil.example") == "/web/"


async def test_who_came_by_another_name_goes_to_the_public_one_first(
    world: World, google: FakeIdentity
) -> None:
    async with world.client.get(START, allow_redirects=False) as response:
        assert response.headers["Location"] == f"{PUBLIC}{START}?moved=1"
        assert not response.cookies
    async with world.client.get(f"{START}?moved=1", allow_redirects=False) as response:
        assert response.headers["Location"].startswith(google.url)


async def test_too_many_from_one_address(browser: Browser) -> None:
    where = [await browser.visit(START) for _ in range(41)]
    assert reason(where[-1]) == "busy"


async def test_abandoned_attempts_do_not_pile_up(browser: Browser, world: World) -> None:
    for _ in range(5):
        await browser.visit(START)
    world.clock.advance(minutes=11)
    await browser.visit(START)
    assert len(await world.ctx.store.query("signInAttempts")) == 1


@pytest.mark.req("AUTH-14")
async def test_no_credential_is_stored_as_it_is(browser: Browser, world: World) -> None:
    await browser.visit(START)
    way = browser.jar[COOKIE]
    await browser.sign_in()
    stored = repr(
        [
            (doc.path, doc.data)
            for name in ("browserSessions", "signInAttempts", "users")
            for doc in await world.ctx.store.query(name)
        ]
    )
    renewal = next(iter(browser.google._renewals))
    for secret in (way, browser.jar["pidjin_session"], browser.jar["pidjin_csrf"], renewal):
        assert secret not in stored


async def test_what_the_page_is_told(browser: Browser, world: World) -> None:
    answer = (await world.get("/api/identity"))[1]
    assert (answer["mode"], answer["google"]) == ("firebase", True)


async def test_without_a_key_there_is_no_way_in_on_the_page(
    tmp_path: Path, google: FakeIdentity
) -> None:
    async with open_world(tmp_path, identity="firebase", firebase_project=PROJECT) as world:
        assert (await world.get("/api/identity"))[1]["google"] is False
        assert (await world.get(START))[0] == 404
        async with world.client.get("/api/me", cookies={"pidjin_session": "x" * 43}) as response:
            assert response.status == 401


@pytest.mark.req("CARD-9", "CARD-10")
async def test_in_and_out_with_everything_in_firestore(
    tmp_path: Path, google: FakeIdentity, firestore_host: str
) -> None:
    """Nothing of a sign-in is kept on this machine: any node serves any browser."""
    project = new_project()
    google.project = project
    settings: dict[str, Any] = {
        "identity": "firebase",
        "store": "firestore",
        "firebase_project": project,
        "firestore_emulator_host": firestore_host,
        "firebase_api_key": API_KEY,
        "public_url": PUBLIC,
    }
    async with (
        open_world(tmp_path / "a", **settings) as one,
        open_world(tmp_path / "b", **settings) as other,
    ):
        browser = Browser(one, google)
        there = await browser.visit(START)
        browser.world = other
        assert await browser.visit(google.consent(there)) == "/web/"
        browser.world = one
        assert (await browser.me())[1]["uid"] == "ada"
        header = {CSRF_HEADER: browser.jar["pidjin_csrf"], "Content-Type": "application/json"}
        kept = dict(browser.jar)
        assert (await browser.ask("POST", "/api/signOut", header))[0] == 200
        browser.jar, browser.world = kept, other
        assert (await browser.me())[0] == 401
        assert await one.ctx.store.query("signInAttempts") == []
    assert not (tmp_path / "a" / "data").exists()


@pytest.mark.req("AUTH-14")
async def test_no_log_and_no_answer_has_a_credential(
    browser: Browser, google: FakeIdentity, caplog: pytest.LogCaptureFixture
) -> None:
    """Of the whole way, failures included, at the most talkative level of our own."""
    caplog.set_level("DEBUG", logger="server")
    seen = [await browser.visit(START)]
    way = browser.jar[COOKIE]
    answer = google.consent(seen[0])
    seen.append(await browser.visit(answer))
    google.exchange_says = "USER_DISABLED"
    seen.append(await browser.sign_in())
    google.exchange_says, google.toolkit_status = None, 500
    seen.append(await browser.visit(START))
    code = parse_qs(urlsplit(answer).query)["code"][0]
    renewal = next(iter(google._renewals))
    assert "google_sign_in_failed" in caplog.messages
    written = "\n".join([caplog.text, *seen[1:], *(str(vars(one)) for one in caplog.records)])
    for secret in (API_KEY, way, code, renewal, browser.jar["pidjin_session"]):
        assert secret not in written

"""Local sign-in: who becomes what, how credentials end, and what a browser's cookie may do."""

from __future__ import annotations

import asyncio
import stat
from pathlib import Path

import pytest
from aiohttp import ClientResponse

from server.sign_in import mint_admin_link
from tests.server.world import Person, World, open_world

JSON = {"Content-Type": "application/json"}


async def cookies_of(response: ClientResponse) -> dict[str, str]:
    return {name: morsel.value for name, morsel in response.cookies.items()}


@pytest.mark.req("AUTH-2", "AUTH-3", "DATA-1")
async def test_a_new_person_is_pending_with_exactly_these_fields(world: World) -> None:
    person = await world.sign_up("  Ada  Lovelace ", "ada@example.org")
    assert await world.stored(f"users/{person.uid}") == {
        "email": "ada@example.org",
        "displayName": "Ada Lovelace",
        "role": "pending",
        "createdAt": "2026-01-15T12:00:00.000Z",
    }
    _, me = await person.get("/api/me")
    assert me == {
        "uid": person.uid,
        "email": "ada@example.org",
        "emailVerified": False,
        "displayName": "Ada Lovelace",
        "role": "pending",
    }


@pytest.mark.req("AUTH-4")
async def test_a_claimed_admin_address_makes_nobody_admin(tmp_path: Path) -> None:
    async with open_world(tmp_path, admin_email="boss@example.org") as world:
        assert await world.stored("config/app") == {"adminEmail": "boss@example.org"}
        person = await world.sign_up("Boss", "boss@example.org")
        assert (await person.get("/api/me"))[1]["role"] == "pending"
        admin = await world.admin()
        assert (await admin.get("/api/me"))[1]["email"] == "boss@example.org"


async def test_the_environment_never_overrides_a_stored_admin_address(tmp_path: Path) -> None:
    async with open_world(tmp_path, admin_email="first@example.org"):
        pass
    async with open_world(tmp_path, admin_email="second@example.org") as world:
        assert await world.stored("config/app") == {"adminEmail": "first@example.org"}


@pytest.mark.parametrize(
    "form",
    [
        {"displayName": "", "email": "a@b.org"},
        {"displayName": " \t", "email": "a@b.org"},
        {"displayName": "Ada", "email": ""},
        {"displayName": "Ada", "email": "nobody"},
        {"displayName": "Ada", "email": "a b@c.org"},
        {"displayName": "Ada", "email": "a\x00da@b.org"},
        {"displayName": "Ada", "email": "ada\u202e@b.org"},
        {"displayName": "Ada", "email": "a\u200bda@b.org"},
        {"displayName": "A" * 81, "email": "a@b.org"},
        {"displayName": "Ada", "email": "a" * 250 + "@b.org"},
        {"displayName": 5, "email": "a@b.org"},
        {"email": "a@b.org"},
        {},
    ],
    ids=str,
)
async def test_an_incomplete_form_creates_nobody(world: World, form: dict[str, object]) -> None:
    status, answer = await world.post("/api/signUp", form)
    assert (status, answer["error"]["code"]) == (400, "invalid-argument")
    assert await world.ctx.store.query("users") == []


async def test_the_printed_link_signs_in_the_admin_once(world: World) -> None:
    code = await mint_admin_link(world.ctx)
    status, answer = await world.post("/api/redeemLink", {"code": code})
    assert (status, answer["user"]["role"]) == (200, "admin")
    status, answer = await world.post("/api/redeemLink", {"code": code})
    assert (status, answer["error"]["code"]) == (400, "invalid-argument")


async def test_each_start_makes_the_earlier_link_worthless(world: World) -> None:
    first = await mint_admin_link(world.ctx)
    await mint_admin_link(world.ctx)
    assert (await world.post("/api/redeemLink", {"code": first}))[0] == 400


async def test_a_link_expires_and_its_code_is_not_stored(world: World) -> None:
    code = await mint_admin_link(world.ctx)
    links = await world.ctx.store.query("localLinks")
    assert code not in str(links)
    world.clock.advance(hours=25)
    assert (await world.post("/api/redeemLink", {"code": code}))[0] == 400


async def test_two_at_once_cannot_both_use_a_link(world: World) -> None:
    code = await mint_admin_link(world.ctx)
    answers = await asyncio.gather(
        *(world.post("/api/redeemLink", {"code": code}) for _ in range(4))
    )
    assert sorted(status for status, _ in answers) == [200, 400, 400, 400]


@pytest.mark.req("AUTH-5")
async def test_signing_in_again_never_resets_a_role(world: World) -> None:
    admin, other = await world.admin(), await world.learner()
    await world.ctx.store.update(f"users/{other.uid}", {"role": "admin"})
    await other.call("revokeUser", uid=admin.uid)
    again = await world.admin()
    assert again.uid == admin.uid
    assert (await again.get("/api/me"))[1]["role"] == "rejected"


@pytest.mark.req("AUTH-4")
async def test_the_printed_link_reopens_a_house_without_any_admin(world: World) -> None:
    admin = await world.admin()
    await world.ctx.store.update(f"users/{admin.uid}", {"role": "rejected"})
    assert (await admin.get("/api/me"))[1]["role"] == "rejected"
    again = await world.admin()
    assert (again.uid, (await again.get("/api/me"))[1]["role"]) == (admin.uid, "admin")


async def test_an_invite_gives_access_once_and_is_audited(world: World) -> None:
    admin = await world.admin()
    invite = await admin.call("mintInvite")
    form = {"code": invite["code"], "displayName": "Bo", "email": "bo@example.org"}
    status, answer = await world.post("/api/redeemLink", form)
    assert status == 200
    assert answer["user"]["role"] == "approved"
    user = await world.stored(f"users/{answer['user']['uid']}")
    assert user is not None
    assert user["approvedBy"] == admin.uid
    assert user["displayName"] == "Bo"
    world.client.session.cookie_jar.clear()
    assert (await world.post("/api/redeemLink", form))[0] == 400


@pytest.mark.parametrize("email", ["nobody", "a b@c.org", "ada\u202e@b.org", "a\x1b@b.org"])
async def test_an_invite_is_for_an_address_or_for_none(world: World, email: str) -> None:
    admin = await world.admin()
    assert await admin.refused("mintInvite", email=email) == "invalid-argument"
    invite = await admin.call("mintInvite", email=" ada@example.org ")
    _, answer = await world.post("/api/redeemLink", {"code": invite["code"]})
    assert answer["user"]["email"] == "ada@example.org"


async def redeem(person: Person, code: str) -> tuple[int, dict]:
    return await person.post("/api/redeemLink", {"code": code})


async def test_an_invite_lets_in_the_pending_person_who_opens_it(world: World) -> None:
    admin, person = await world.admin(), await world.sign_up()
    invite = await admin.call("mintInvite")
    status, answer = await redeem(person, invite["code"])
    assert (status, answer["user"]["uid"]) == (200, person.uid)
    assert answer["user"]["role"] == "approved"


async def test_an_invite_is_not_wasted_on_somebody_who_has_access(world: World) -> None:
    admin = await world.admin()
    invite = await admin.call("mintInvite")
    assert (await redeem(admin, invite["code"]))[1]["user"]["role"] == "admin"
    world.client.session.cookie_jar.clear()
    assert (await world.post("/api/redeemLink", {"code": invite["code"]}))[0] == 200


async def test_an_invite_does_not_undo_a_rejection(world: World) -> None:
    admin, person = await world.admin(), await world.sign_up()
    await admin.call("rejectUser", uid=person.uid)
    invite = await admin.call("mintInvite")
    assert (await redeem(person, invite["code"]))[0] == 403
    assert (await person.get("/api/me"))[1]["role"] == "rejected"


# --- credentials --------------------------------------------------------------------------------


@pytest.mark.req("AUTH-1", "AUTH-10")
@pytest.mark.parametrize(
    "token",
    ["", "x", "v1..", "v1.e30.AAAA", "v1.a.b.c", "v2.e30.AAAA", "ü" * 9, "a" * 5000, "v1.%%%.%%%"],
)
async def test_a_made_up_bearer_is_nobody(world: World, token: str) -> None:
    status, answer = await world.get("/api/me", token=token or "-")
    assert (status, answer["error"]["code"]) == (401, "unauthenticated")


@pytest.mark.req("AUTH-1")
async def test_a_bearer_of_another_server_or_a_changed_one_is_nobody(
    world: World, tmp_path: Path
) -> None:
    person = await world.sign_up()
    version, payload, mac = person.token.split(".")
    forged = f"{version}.{payload[:-2]}AA.{mac}"
    assert (await world.get("/api/me", token=forged))[0] == 401
    async with open_world(tmp_path / "other") as other:
        stranger = await other.sign_up()
        assert (await world.get("/api/me", token=stranger.token))[0] == 401


@pytest.mark.req("AUTH-1")
async def test_a_bearer_expires(world: World) -> None:
    person = await world.sign_up()
    world.clock.advance(hours=23)
    assert (await person.get("/api/me"))[0] == 200
    world.clock.advance(hours=2)
    assert (await person.get("/api/me"))[0] == 401


@pytest.mark.req("AUTH-1", "AUTH-25")
async def test_a_cookie_is_no_bearer_and_a_bearer_no_cookie(world: World) -> None:
    async with world.client.post(
        "/api/signUp", json={"displayName": "Ada", "email": "a@b.org"}
    ) as response:
        bearer = (await response.json())["token"]
        cookie = (await cookies_of(response))["pidjin_session"]
    world.client.session.cookie_jar.clear()
    assert (await world.get("/api/me", token=cookie))[0] == 401
    async with world.client.get("/api/me", cookies={"pidjin_session": bearer}) as response:
        assert response.status == 401
        assert "pidjin_session" not in response.cookies
    world.client.session.cookie_jar.clear()
    assert (await world.get("/api/me", token=bearer))[0] == 200
    async with world.client.get("/api/me", cookies={"pidjin_session": cookie}) as response:
        assert response.status == 200


@pytest.mark.req("AUTH-24")
async def test_signing_out_ends_cookie_and_bearer(world: World) -> None:
    heard = []
    world.ctx.announcements.subscribe(heard.append)
    async with world.client.post(
        "/api/signUp", json={"displayName": "Ada", "email": "a@b.org"}
    ) as response:
        token = (await response.json())["token"]
        cookies = await cookies_of(response)
    async with world.client.post(
        "/api/signOut", headers={"X-CSRF-Token": cookies["pidjin_csrf"]}
    ) as response:
        assert response.status == 200
        assert response.cookies["pidjin_session"]["max-age"] == "0"
    assert (await world.get("/api/me", token=token))[0] == 401
    async with world.client.get("/api/me", cookies=cookies) as response:
        assert response.status == 401
    assert len(heard) == 1


async def test_credentials_survive_a_restart_and_the_secret_is_private(tmp_path: Path) -> None:
    async with open_world(tmp_path) as world:
        person = await world.sign_up()
    secret = tmp_path / "data" / "signing-secret"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    async with open_world(tmp_path) as world:
        assert (await world.get("/api/me", token=person.token))[0] == 200


async def test_expired_credentials_are_forgotten_at_start(tmp_path: Path) -> None:
    async with open_world(tmp_path) as world:
        await world.sign_up()
        old = (await world.ctx.store.query("localSessions"))[0]
        await world.ctx.store.update(old.path, {"expiresAt": "2026-01-01T00:00:00.000Z"})
        kept = await world.sign_up()
    async with open_world(tmp_path) as world:
        left = await world.ctx.store.query("localSessions")
        assert [doc.data["uid"] for doc in left] == [kept.uid]


# --- cookies ------------------------------------------------------------------------------------


@pytest.mark.req("AUTH-25")
async def test_a_cookie_changes_state_only_with_its_csrf_header(world: World) -> None:
    admin = await world.admin()
    async with world.client.post(
        "/api/signUp", json={"displayName": "Ada", "email": "a@b.org"}
    ) as response:
        user = (await response.json())["user"]
        csrf = (await cookies_of(response))["pidjin_csrf"]
    await admin.call("approveUser", uid=user["uid"])
    body = {"style": "lecture"}
    refused = ({}, {"X-CSRF-Token": ""}, {"X-CSRF-Token": "x" * 43}, {"X-CSRF-Token": "ü"})
    for headers in refused:
        async with world.client.post(
            "/api/setPreferredStyle", json=body, headers=headers
        ) as response:
            assert response.status == 403
    assert "preferredStyle" not in (await world.stored(f"users/{user['uid']}") or {})
    async with world.client.post(
        "/api/setPreferredStyle", json=body, headers={"X-CSRF-Token": csrf}
    ) as response:
        assert response.status == 200
    async with world.client.get("/api/me") as response:
        assert (await response.json())["preferredStyle"] == "lecture"


@pytest.mark.req("AUTH-25")
async def test_another_persons_csrf_value_does_not_fit(world: World) -> None:
    values = []
    for name in ("Ada", "Bo"):
        async with world.client.post(
            "/api/signUp", json={"displayName": name, "email": "a@b.org"}
        ) as response:
            values.append((await cookies_of(response))["pidjin_csrf"])
    async with world.client.post("/api/signOut", headers={"X-CSRF-Token": values[0]}) as response:
        assert response.status == 403


@pytest.mark.parametrize("https", [False, True])
async def test_cookies_are_strict_hidden_and_secure_over_https(world: World, https: bool) -> None:
    headers = {"X-Forwarded-Proto": "https"} if https else {}
    async with world.client.post(
        "/api/signUp", json={"displayName": "Ada", "email": "a@b.org"}, headers=headers
    ) as response:
        session, csrf = response.cookies["pidjin_session"], response.cookies["pidjin_csrf"]
        assert ("Strict-Transport-Security" in response.headers) is https
    assert session["httponly"]
    assert not csrf["httponly"]
    assert session["samesite"] == csrf["samesite"] == "Strict"
    assert bool(session["secure"]) is bool(csrf["secure"]) is https


async def test_a_cookie_in_use_is_renewed_and_never_sooner_than_daily(world: World) -> None:
    async with world.client.post("/api/signUp", json={"displayName": "Ada", "email": "a@b.org"}):
        pass
    async with world.client.get("/api/me") as response:
        assert "pidjin_session" not in response.cookies
    world.clock.advance(days=170)
    async with world.client.get("/api/me") as response:
        assert "pidjin_session" in response.cookies
    world.clock.advance(days=170)
    async with world.client.get("/api/me") as response:
        assert response.status == 200


async def test_the_dev_token_is_an_admin(tmp_path: Path) -> None:
    async with open_world(tmp_path, dev_token="sesame") as world:
        status, me = await world.get("/api/me", token="sesame")
        assert (status, me["role"]) == (200, "admin")
        assert (await world.get("/api/me", token="sesam"))[0] == 401


async def test_without_a_dev_token_an_empty_bearer_is_nobody(world: World) -> None:
    async with world.client.get("/api/me", headers={"Authorization": "Bearer "}) as response:
        assert response.status == 401


async def test_what_anybody_may_know(world: World) -> None:
    status, answer = await world.get("/api/identity")
    assert status == 200
    assert set(answer) == {"mode", "google", "assistant", "localTutor", "version"}
    assert (answer["google"], answer["assistant"]) == (False, False)
    assert (answer["mode"], answer["localTutor"]) == ("local", True)

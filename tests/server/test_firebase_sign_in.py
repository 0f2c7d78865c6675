"""Sign-in with Firebase, through the API: who becomes what, whatever a token claims."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from server.announcements import SignedOut
from server.identity.links import Link
from server.store.firestore import FirestoreStore
from tests.emulator import new_project
from tests.fake_identity import PROJECT, FakeIdentity, fake_identity, token
from tests.server.world import Person, World, open_world

BOSS = "boss@example.org"


@pytest.fixture
async def google(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeIdentity]:
    async with fake_identity(monkeypatch) as fake:
        yield fake


@pytest.fixture
async def world(tmp_path: Path, google: FakeIdentity) -> AsyncIterator[World]:
    async with open_world(
        tmp_path, identity="firebase", firebase_project=PROJECT, admin_email=BOSS
    ) as opened:
        yield opened


def person(world: World, uid: str = "ada", **claims: Any) -> Person:
    return Person(world, uid, token(uid, **claims))


def boss(world: World) -> Person:
    return person(world, "boss", email=BOSS)


async def role(who: Person) -> str:
    status, answer = await who.get("/api/me")
    assert status == 200, answer
    return str(answer["role"])


@pytest.mark.req("AUTH-1", "AUTH-3", "DATA-1")
async def test_the_first_token_makes_a_pending_user(world: World) -> None:
    ada = person(world, "ada")
    assert (await ada.get("/api/me"))[1] == {
        "uid": "ada",
        "email": "ada@example.org",
        "emailVerified": True,
        "displayName": "Ada",
        "role": "pending",
    }
    stored = await world.stored("users/ada")
    assert stored is not None
    assert set(stored) == {"email", "displayName", "role", "createdAt"}
    assert await ada.refused("groundTopic", topic="Tides") == "permission-denied"


@pytest.mark.req("AUTH-1")
async def test_a_body_cannot_name_another_user(world: World) -> None:
    ada = person(world, "ada")
    await ada.get("/api/me")
    await world.ctx.store.update("users/ada", {"role": "approved"})
    await ada.call("setPreferredStyle", style="lecture", uid="bo")
    assert (await world.stored("users/ada") or {})["preferredStyle"] == "lecture"
    assert await world.stored("users/bo") is None


@pytest.mark.req("AUTH-4")
@pytest.mark.parametrize(
    ("email", "verified", "expected"),
    [
        (BOSS, True, "admin"),
        ("Boss@Example.ORG", True, "admin"),
        (BOSS, False, "pending"),
        (BOSS, None, "pending"),
        ("boss@example.org.evil.org", True, "pending"),
    ],
)
async def test_the_bootstrap_admin_has_a_verified_address(
    world: World, email: str, verified: bool | None, expected: str
) -> None:
    assert await role(person(world, "boss", email=email, email_verified=verified)) == expected


@pytest.mark.req("AUTH-8", "AUTH-9")
async def test_roles_come_from_the_store_at_every_call_and_never_from_a_token(
    world: World,
) -> None:
    ada = person(world, "ada", role="admin", admin=True, roles=["admin"])
    admin = boss(world)
    await role(admin)
    assert await role(ada) == "pending"
    assert await ada.refused("approveUser", uid="ada") == "permission-denied"
    for operation, expected in (("approveUser", "approved"), ("revokeUser", "rejected")):
        await admin.call(operation, uid="ada")
        assert await role(ada) == expected
    assert await ada.refused("groundTopic", topic="Tides") == "permission-denied"


@pytest.mark.req("AUTH-5")
async def test_signing_in_again_changes_nothing_that_is_stored(world: World) -> None:
    await role(person(world, "ada"))
    await world.ctx.store.update("users/ada", {"role": "approved", "preferredStyle": "lecture"})
    before = await world.stored("users/ada")
    assert await role(person(world, "ada", name="Somebody Else", email="new@x.org")) == "approved"
    assert await world.stored("users/ada") == before


@pytest.mark.req("AUTH-1", "AUTH-10")
async def test_bad_tokens_are_401_and_unreachable_keys_503(
    world: World, google: FakeIdentity
) -> None:
    google.key_status = 503
    status, answer = await world.get("/api/me", token=token())
    assert (status, answer["error"]["code"]) == (503, "unavailable")
    google.key_status = 200
    for bad in (token(aud="demo-other"), token(exp=1), "x"):
        status, answer = await world.get("/api/me", token=bad)
        assert (status, answer["error"]["code"]) == (401, "unauthenticated")
    assert await world.ctx.store.query("users") == []


@pytest.mark.req("AUTH-2")
async def test_there_is_no_local_sign_in(world: World, tmp_path: Path) -> None:
    form = {"displayName": "Ada", "email": "ada@example.org"}
    status, answer = await world.post("/api/signUp", form)
    assert (status, answer["error"]["code"]) == (403, "permission-denied")
    assert (await world.get("/api/identity"))[1]["mode"] == "firebase"
    assert await world.ctx.store.query("users") == []
    assert not (tmp_path / "data" / "signing-secret").exists()


@pytest.mark.req("AUTH-2")
async def test_credentials_of_a_local_sign_in_are_worth_nothing(
    tmp_path: Path, google: FakeIdentity
) -> None:
    async with open_world(tmp_path) as before:
        body = {"displayName": "Ada", "email": "ada@example.org"}
        async with before.client.post("/api/signUp", json=body) as response:
            cookies = {name: morsel.value for name, morsel in response.cookies.items()}
            bearer = (await response.json())["token"]
    async with open_world(tmp_path, identity="firebase", firebase_project=PROJECT) as world:
        assert (await world.get("/api/me", token=bearer))[0] == 401
        async with world.client.get("/api/me", cookies=cookies) as response:
            assert response.status == 401


async def test_an_invite_approves_whoever_is_signed_in(world: World) -> None:
    admin, ada = boss(world), person(world, "ada")
    assert await role(ada) == "pending"
    code = (await admin.call("mintInvite"))["code"]
    assert (await world.post("/api/redeemLink", {"code": code}))[0] == 401
    status, answer = await ada.post("/api/redeemLink", {"code": code})
    assert (status, answer["user"]["role"]) == (200, "approved")
    assert set(answer) == {"user"}
    assert (await world.stored("users/ada") or {})["approvedBy"] == "boss"
    assert (await person(world, "bo").post("/api/redeemLink", {"code": code}))[0] == 400


async def test_an_invite_is_kept_by_who_has_access_and_not_for_the_rejected(world: World) -> None:
    admin, ada = boss(world), person(world, "ada")
    await role(ada)
    code = (await admin.call("mintInvite"))["code"]
    assert (await admin.post("/api/redeemLink", {"code": code}))[1]["user"]["role"] == "admin"
    await admin.call("rejectUser", uid="ada")
    assert (await ada.post("/api/redeemLink", {"code": code}))[0] == 403
    assert (await person(world, "bo").post("/api/redeemLink", {"code": code}))[0] == 200


async def test_a_link_that_signs_in_opens_nothing(world: World) -> None:
    code = await world.ctx.links.mint(Link("signin", "bootstrap-admin", BOSS, "Admin"))
    ada = person(world, "ada")
    assert (await ada.post("/api/redeemLink", {"code": code}))[0] == 400
    assert await role(ada) == "pending"


@pytest.mark.req("AUTH-24")
async def test_signing_out_ends_this_sign_in_and_its_lessons(world: World) -> None:
    heard: list[object] = []
    world.ctx.announcements.subscribe(heard.append)
    ada = person(world, "ada", auth_time=1000)
    elsewhere = person(world, "ada", auth_time=2000)
    assert (await ada.post("/api/signOut"))[0] == 200
    assert (await ada.get("/api/me"))[0] == 401
    assert (await person(world, "ada", auth_time=1000).get("/api/me"))[0] == 401
    assert await role(elsewhere) == "pending"
    assert heard == [SignedOut("ada", "ada.1000")]


@pytest.mark.req("AUTH-25")
async def test_a_bearer_needs_no_csrf_header_and_a_callable_client_just_works(
    world: World,
) -> None:
    ada = person(world, "ada")
    await role(ada)
    await world.ctx.store.update("users/ada", {"role": "approved"})
    status, answer = await ada.post("/callable/setPreferredStyle", {"data": {"style": "lecture"}})
    assert (status, answer) == (200, {"result": {"preferredStyle": "lecture"}})


@pytest.mark.req("CARD-9", "AUTH-4")
async def test_both_backends_of_google_together(
    tmp_path: Path, google: FakeIdentity, firestore_host: str
) -> None:
    """A new instance: an admin by address, a learner approved, a turn stored in Firestore."""
    project = new_project()
    async with open_world(
        tmp_path,
        identity="firebase",
        store="firestore",
        firebase_project=project,
        firestore_emulator_host=firestore_host,
        admin_email=BOSS,
    ) as world:
        admin = Person(world, "boss", token("boss", project=project, email=BOSS))
        ada = Person(world, "ada", token("ada", project=project))
        assert (await role(admin), await role(ada)) == ("admin", "pending")
        await admin.call("approveUser", uid="ada")
        topic = await ada.ground()
        await ada.turn(topic)
        assert isinstance(world.ctx.store, FirestoreStore)
        assert (await world.stored("sessions/s1") or {})["uid"] == "ada"
        assert await world.ctx.store.query("localSessions") == []
    assert not (tmp_path / "data").exists()

"""Coming back after the browser has forgotten who one is: a link, once, for the same person."""

from __future__ import annotations

from pathlib import Path

import pytest

from server.operations.return_links import mint_return_link
from tests.fake_identity import PROJECT
from tests.server.world import Person, World, open_world

pytestmark = pytest.mark.req("AUTH-2")


async def come_back(world: World, code: str) -> Person:
    status, answer = await world.post("/api/redeemLink", {"code": code})
    assert status == 200, answer
    world.client.session.cookie_jar.clear()
    return Person(world, answer["user"]["uid"], answer["token"])


async def test_a_learner_whose_cookie_ran_out_comes_back_to_their_conversations(
    world: World,
) -> None:
    admin, ada = await world.admin(), await world.learner()
    await ada.turn(await ada.ground())
    world.clock.advance(days=200)
    assert (await ada.get("/api/me"))[0] == 401
    admin = await world.admin()
    link = await admin.call("mintSignInLink", uid=ada.uid)
    assert link["path"] == f"/web/#/signin/{link['code']}"
    back = await come_back(world, link["code"])
    _, me = await back.get("/api/me")
    assert (me["uid"], me["role"], me["displayName"]) == (ada.uid, "approved", "Ada")
    assert len((await back.get("/api/sessions"))[1]["sessions"]) == 1


@pytest.mark.req("AUTH-5")
@pytest.mark.parametrize("role", ["pending", "rejected", "approved"])
async def test_a_link_changes_no_role_and_no_record(world: World, role: str) -> None:
    admin, ada = await world.admin(), await world.sign_up()
    await world.ctx.store.update(f"users/{ada.uid}", {"role": role, "preferredStyle": "lecture"})
    before = await world.stored(f"users/{ada.uid}")
    link = await admin.call("mintSignInLink", uid=ada.uid)
    back = await come_back(world, link["code"])
    assert (await back.get("/api/me"))[1]["role"] == role
    assert await world.stored(f"users/{ada.uid}") == before


async def test_a_link_works_once_for_a_day_and_the_newest_only(world: World) -> None:
    admin, ada = await world.admin(), await world.learner()
    old = (await admin.call("mintSignInLink", uid=ada.uid))["code"]
    bo = await world.learner("Bo", "bo@example.org")
    other = (await admin.call("mintSignInLink", uid=bo.uid))["code"]
    new = (await admin.call("mintSignInLink", uid=ada.uid))["code"]
    assert (await world.post("/api/redeemLink", {"code": old}))[0] == 400
    assert (await come_back(world, new)).uid == ada.uid
    assert (await world.post("/api/redeemLink", {"code": new}))[0] == 400
    world.clock.advance(hours=25)
    assert (await world.post("/api/redeemLink", {"code": other}))[0] == 400


async def test_a_printed_admin_link_outlives_the_links_of_others(world: World) -> None:
    admin, ada = await world.admin(), await world.learner()
    await admin.call("mintSignInLink", uid=ada.uid)
    first = await mint_return_link(world.ctx, "operator", ada.uid)
    await world.admin()
    assert (await come_back(world, first)).uid == ada.uid


async def test_no_admin_signs_in_as_another_over_http(world: World) -> None:
    admin = await world.admin()
    boss = await world.learner("Boss", "boss@example.org")
    await world.ctx.store.update(f"users/{boss.uid}", {"role": "admin"})
    for uid in (boss.uid, admin.uid):
        assert await admin.refused("mintSignInLink", uid=uid) == "failed-precondition"
    assert await admin.refused("mintSignInLink", uid="nobody") == "not-found"
    assert (await admin.post(f"/api/admin/users/{boss.uid}/link"))[0] == 400


async def test_a_user_who_is_gone_does_not_come_back(world: World) -> None:
    ada = await world.learner()
    code = await mint_return_link(world.ctx, "operator", ada.uid)
    await world.ctx.store.delete(f"users/{ada.uid}")
    assert (await world.post("/api/redeemLink", {"code": code}))[0] == 404
    assert await world.stored(f"users/{ada.uid}") is None


async def test_where_people_sign_in_with_google_there_are_no_links(tmp_path: Path) -> None:
    async with open_world(tmp_path, identity="firebase", firebase_project=PROJECT) as world:
        await world.ctx.store.create("users/ada", {"email": "a@b.org", "role": "approved"})
        with pytest.raises(Exception, match="Google"):
            await mint_return_link(world.ctx, "operator", "ada")

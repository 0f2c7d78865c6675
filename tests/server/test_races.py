"""Who is faster: a link, an answer of Google and an account are given once, in any order."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.fake_identity import API_KEY, PROJECT, fake_identity, token
from tests.server.test_google_sign_in import HOST, PUBLIC, START, Browser
from tests.server.world import Person, World, open_world

MANY = 6


async def redeem(world: World, code: str) -> tuple[int, Any]:
    return await world.post("/api/redeemLink", {"code": code})


@pytest.mark.req("AUTH-26")
async def test_one_invite_lets_one_person_in(world: World) -> None:
    admin = await world.admin()
    code = (await admin.call("mintInvite"))["code"]
    answers = await asyncio.gather(*(redeem(world, code) for _ in range(MANY)))
    assert sorted(status for status, _ in answers) == [200] + [400] * (MANY - 1)
    assert len(await world.ctx.store.query("users", where={"role": "approved"})) == 1
    assert len(await world.ctx.store.query("users")) == 2


async def test_one_way_back_is_taken_once(world: World) -> None:
    admin, ada = await world.admin(), await world.learner()
    code = (await admin.call("mintSignInLink", uid=ada.uid))["code"]
    answers = await asyncio.gather(*(redeem(world, code) for _ in range(MANY)))
    assert sorted(status for status, _ in answers) == [200] + [400] * (MANY - 1)


@pytest.mark.req("AUTH-3")
async def test_many_first_calls_make_one_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        fake_identity(monkeypatch),
        open_world(tmp_path, identity="firebase", firebase_project=PROJECT) as world,
    ):
        ada = Person(world, "ada", token("ada"))
        answers = await asyncio.gather(*(ada.get("/api/me") for _ in range(MANY)))
        assert [(status, me["role"]) for status, me in answers] == [(200, "pending")] * MANY
        assert len(await world.ctx.store.query("users")) == 1


@pytest.mark.req("AUTH-1")
async def test_one_answer_of_google_signs_in_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings: dict[str, Any] = {
        "identity": "firebase",
        "firebase_project": PROJECT,
        "firebase_api_key": API_KEY,
        "public_url": PUBLIC,
    }
    async with fake_identity(monkeypatch) as google, open_world(tmp_path, **settings) as world:
        browser = Browser(world, google)
        answer = google.consent(await browser.visit(START)).removeprefix(PUBLIC)
        cookies = dict(browser.jar)

        async def land() -> str:
            async with world.client.get(
                answer, headers=HOST, cookies=cookies, allow_redirects=False
            ) as response:
                return response.headers["Location"]

        where = await asyncio.gather(*(land() for _ in range(MANY)))
        assert sorted(where) == ["/web/"] + ["/web/#/signin?error=expired"] * (MANY - 1)
        assert len(await world.ctx.store.query("browserSessions")) == 1


@pytest.mark.req("AUTH-9")
async def test_a_role_that_goes_back_and_forth_ends_as_it_was_last_told(world: World) -> None:
    admin, ada = await world.admin(), await world.sign_up()
    names = ["approveUser", "rejectUser"] * 5
    await asyncio.gather(*(admin.post(f"/api/{name}", {"uid": ada.uid}) for name in names))
    await admin.call("approveUser", uid=ada.uid)
    assert (await ada.get("/api/me"))[1]["role"] == "approved"


@pytest.mark.req("AUTH-24")
async def test_signing_out_many_times_at_once_signs_out(world: World) -> None:
    ada = await world.learner()
    answers = await asyncio.gather(*(ada.post("/api/signOut") for _ in range(MANY)))
    assert {status for status, _ in answers} <= {200, 401}
    assert (await ada.get("/api/me"))[0] == 401

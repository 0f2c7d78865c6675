"""The two texts of the assistant that admins may write, and the one that nobody may."""

from __future__ import annotations

from typing import Any

import pytest

from server.assistant_prompts import TEXT_MAX_CHARS
from tests.server.world import Person, World

PROMPTS = "/api/v1/admin/ai/prompts"


async def put(world: World, who: Person | None, key: str, body: Any) -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {who.token}"} if who else {}
    async with world.client.put(f"{PROMPTS}/{key}", json=body, headers=headers) as response:
        return response.status, await response.json()


@pytest.mark.req("UI-61", "ASST-15", "ASST-18")
@pytest.mark.parametrize("key", ["scope", "instructions"])
async def test_what_an_admin_writes_is_read_back(world: World, key: str) -> None:
    admin = await world.admin()
    assert await admin.get(f"{PROMPTS}/{key}") == (200, {"key": key, "text": ""})
    text = "Only about “Pidjin” – nothing else.\nБайна уу? 😀"
    assert await put(world, admin, key, {"text": f"  {text}\n"}) == (
        200,
        {"key": key, "text": text},
    )
    assert await admin.get(f"{PROMPTS}/{key}") == (200, {"key": key, "text": text})
    assert await put(world, admin, key, {"text": ""}) == (200, {"key": key, "text": ""})
    assert ((await world.stored(f"ai_prompts/{key}")) or {})["updatedBy"] == admin.uid


@pytest.mark.req("ASST-13", "ASST-18", "UI-61")
@pytest.mark.parametrize("key", ["base", "guest", "Scope", "scope%2F..%2Fbase", "__x__", "%00"])
async def test_no_other_text_can_be_read_or_written(world: World, key: str) -> None:
    admin = await world.admin()
    assert (await put(world, admin, key, {"text": "Obey."}))[0] == 404
    assert (await admin.get(f"{PROMPTS}/{key}"))[0] == 404
    assert await world.ctx.store.query("ai_prompts") == []


@pytest.mark.req("ASST-18", "AUTH-8", "AUTH-10")
async def test_only_admins_reach_them(world: World) -> None:
    for who, status in (
        (None, 401),
        (await world.sign_up(), 403),
        (await world.learner("Bo", "bo@example.org"), 403),
    ):
        assert (await put(world, who, "scope", {"text": "mine"}))[0] == status
        headers = {"Authorization": f"Bearer {who.token}"} if who else {}
        async with world.client.get(f"{PROMPTS}/scope", headers=headers) as response:
            assert response.status == status


@pytest.mark.parametrize(
    "body", [{}, {"text": 5}, {"text": None}, {"text": "x" * (TEXT_MAX_CHARS + 1)}, [], "x"]
)
async def test_an_odd_text_is_refused(world: World, body: Any) -> None:
    admin = await world.admin()
    status, answer = await put(world, admin, "scope", body)
    assert (status, answer["error"]["code"]) == (400, "invalid-argument")


async def test_the_page_hides_them_while_there_is_no_assistant(world: World) -> None:
    assert (await world.get("/api/identity"))[1]["assistant"] is False

"""The catalog: what admins write, what learners see, and both switches of the news."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from server.config import NEWS_THEMES
from server.news.catalog import item_id
from server.news.themes import themes_of
from tests.server.news_world import THEMES, put
from tests.server.world import Person, World

FIELDS = {
    "kind",
    "title",
    "description",
    "searchQuery",
    "themes",
    "status",
    "refreshPolicy",
    "digest",
    "needsGrounding",
    "sources",
    "groundedAt",
    "ttlExpiresAt",
    "createdBy",
    "updatedBy",
    "updatedAt",
}
NEW = {"kind": "news", "title": "Mars rover", "searchQuery": "rover finds water"}


async def patch(person: Person, path: str, body: Any) -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {person.token}"}
    async with person.world.client.patch(path, json=body, headers=headers) as response:
        return response.status, await response.json()


# --- making and changing ------------------------------------------------------------------------


@pytest.mark.req("API-42", "DATA-11", "DATA-12")
async def test_an_item_made_by_hand(world: World) -> None:
    admin = await world.admin()
    item = await admin.call("adminCreateTopic", **{**NEW, "title": " Mars \n rover "})
    assert item == {
        "id": item_id("mars rover"),
        "kind": "news",
        "title": "Mars rover",
        "description": "",
        "searchQuery": "rover finds water",
        "themes": [],
        "status": "draft",
        "refreshPolicy": "daily",
        "digest": "",
        "needsGrounding": True,
        "sources": [],
        "groundedAt": None,
        "ttlExpiresAt": None,
        "createdBy": admin.uid,
        "updatedBy": admin.uid,
        "updatedAt": "2026-01-15T12:00:00.000Z",
    }
    stored = await world.stored(f"topicCatalog/{item['id']}")
    assert stored == {key: value for key, value in item.items() if key != "id"}
    assert set(stored) == FIELDS
    assert world.model.requests == []
    more = {"title": "Other", "description": "D.", "themes": ["AI"], "status": "active"}
    item = await admin.call("adminCreateTopic", **{**NEW, **more})
    assert {key: item[key] for key in more} == more


@pytest.mark.req("DATA-12", "DATA-13", "API-42")
@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "core"},
        {"kind": "document"},
        {"searchQuery": " "},
        {"title": "\u202e"},
        {"status": "published"},
        {"themes": ["t"] * 11},
        {"themes": ["t" * 101]},
        {"themes": [""]},
    ],
    ids=str,
)
async def test_what_is_no_news_topic_is_not_stored(world: World, wrong: dict[str, Any]) -> None:
    admin = await world.admin()
    assert await admin.refused("adminCreateTopic", **{**NEW, **wrong}) == "invalid-argument"
    for missing in ("kind", "title", "searchQuery"):
        body = {key: value for key, value in NEW.items() if key != missing}
        assert await admin.refused("adminCreateTopic", **body) == "invalid-argument"
    assert await world.ctx.store.query("topicCatalog") == []


async def test_a_title_is_there_once_whatever_its_case(world: World) -> None:
    admin = await world.admin()
    await admin.call("adminCreateTopic", **NEW)
    status, answer = await admin.post("/api/adminCreateTopic", {**NEW, "title": "MARS Rover"})
    assert (status, answer["error"]["code"]) == (400, "failed-precondition")
    assert answer["error"]["details"] == {"reason": "exists"}
    assert len(await world.ctx.store.query("topicCatalog")) == 1


@pytest.mark.req("API-43", "DATA-12")
async def test_every_status_leads_to_every_other_and_restarts_the_clock(world: World) -> None:
    admin = await world.admin()
    item = await admin.call("adminCreateTopic", **NEW)
    other = await world.learner("Bo")
    await world.ctx.store.update(f"users/{other.uid}", {"role": "admin"})
    for status in ("active", "disabled", "active", "draft", "disabled", "draft", "draft"):
        world.clock.advance(minutes=1)
        changed = await other.call("adminUpdateTopic", id=item["id"], status=status)
        assert changed["status"] == status
        assert changed["updatedAt"] > item["updatedAt"]
        assert (changed["createdBy"], changed["updatedBy"]) == (admin.uid, other.uid)
        unchanged = FIELDS - {"status", "updatedAt", "updatedBy"}
        assert {key: changed[key] for key in unchanged} == {key: item[key] for key in unchanged}
        item = changed
    stored = await world.stored(f"topicCatalog/{item['id']}")
    assert stored == {key: value for key, value in item.items() if key != "id"}


@pytest.mark.req("API-43")
async def test_an_update_changes_what_it_names(world: World) -> None:
    admin = await world.admin()
    item = await admin.call("adminCreateTopic", **NEW)
    changes = {
        "title": "Water on Mars",
        "searchQuery": "water",
        "description": "",
        "themes": ["science"],
    }
    changed = await admin.call("adminUpdateTopic", id=item["id"], **changes)
    assert changed == {**item, **changes}
    assert await admin.refused("adminUpdateTopic", id=item["id"]) == "invalid-argument"
    assert await admin.refused("adminUpdateTopic", id="f" * 64, status="draft") == "not-found"
    assert await world.stored(f"topicCatalog/{'f' * 64}") is None


@pytest.mark.req("API-42", "API-43")
async def test_the_rest_forms(world: World) -> None:
    admin, learner = await world.admin(), await world.learner()
    status, item = await admin.post("/api/admin/catalog", NEW)
    assert status == 200
    path = f"/api/admin/catalog/{item['id']}"
    assert (await patch(learner, path, {"status": "active"}))[0] == 403
    status, changed = await patch(admin, path, {"status": "active", "id": "f" * 64})
    assert (status, changed["id"], changed["status"]) == (200, item["id"], "active")
    assert (await patch(admin, path, []))[0] == 400
    assert (await patch(admin, "/api/admin/catalog/none", {"status": "draft"}))[0] == 404
    assert (await patch(admin, "/api/admin/catalog/a b", {"status": "draft"}))[0] == 400


# --- reading ------------------------------------------------------------------------------------


@pytest.mark.req("DATA-14", "RULES-6", "RULES-13", "AUTH-13", "API-48")
async def test_learners_see_active_items_and_admins_all(world: World) -> None:
    admin, learner, pending = await world.admin(), await world.learner(), await world.sign_up("Bo")
    for age, status in enumerate(("draft", "active", "disabled")):
        await put(world, status, status=status, age=timedelta(minutes=age))
    await put(world, "older", age=timedelta(hours=1))
    for path in ("/api/catalog", "/api/catalog?status=draft"):
        status, answer = await learner.get(path)
        assert status == 200
        assert [item["title"] for item in answer["items"]] == ["active", "older"]
        assert set(answer["items"][0]) == FIELDS - {"createdBy", "updatedBy"} | {"id"}
    assert [item["title"] for item in (await admin.get("/api/catalog"))[1]["items"]] == [
        "active",
        "older",
    ]
    _, answer = await admin.get("/api/admin/catalog")
    assert [item["title"] for item in answer["items"]] == ["draft", "active", "disabled", "older"]
    assert set(answer["items"][0]) == FIELDS | {"id"}
    for status in ("draft", "disabled"):
        _, answer = await admin.get(f"/api/admin/catalog?status={status}")
        assert [item["title"] for item in answer["items"]] == [status]
    assert (await admin.get("/api/admin/catalog?status=hidden"))[0] == 400
    assert (await learner.get("/api/admin/catalog"))[0] == 403
    assert (await pending.get("/api/catalog"))[0] == 403
    assert (await world.get("/api/catalog"))[0] == 401


@pytest.mark.req("UI-10")
async def test_no_item_is_left_out(world: World) -> None:
    learner = await world.learner()
    for number in range(205):
        await put(world, f"Story {number:03}", age=timedelta(seconds=number))
    _, answer = await learner.get("/api/catalog")
    assert [item["title"] for item in answer["items"]] == [f"Story {n:03}" for n in range(205)]


# --- the switches -------------------------------------------------------------------------------


@pytest.mark.req("API-40", "DATA-47", "DATA-48", "DATA-49", "DATA-50", "DATA-51", "UI-52")
async def test_how_news_is_gathered(world: World) -> None:
    admin, learner = await world.admin(), await world.learner()
    await world.configure(newsThemes=["mine"])
    config = await admin.call("adminGetNewsConfig")
    assert config == {
        "newsAutoPublish": False,
        "newsPipelineEnabled": True,
        "newsThemes": list(NEWS_THEMES),
        "newsCandidatesPerTheme": 3,
        "newsTtlHours": 24,
    }
    assert await admin.get("/api/admin/news-config") == (200, config)
    assert await learner.refused("adminGetNewsConfig") == "permission-denied"
    assert (await learner.get("/api/admin/news-config"))[0] == 403


@pytest.mark.req("DATA-47", "PIPE-16")
def test_there_are_five_themes_and_their_keys_are_fit_for_the_store() -> None:
    assert len(NEWS_THEMES) == 5
    assert all(theme.endswith(" news with sources") for theme in NEWS_THEMES)
    assert tuple(theme.key for theme in themes_of(NEWS_THEMES)) == THEMES


@pytest.mark.req("API-41", "DATA-59", "PIPE-11")
async def test_a_switch_writes_itself_and_who_turned_it(world: World) -> None:
    admin = await world.admin()
    audit = {"updatedBy": admin.uid, "updatedAt": "2026-01-15T12:00:00.000Z"}
    assert await world.stored("config/app") is None
    answer = await admin.call("adminSetNewsConfig", newsAutoPublish=True)
    assert (answer["newsAutoPublish"], answer["newsPipelineEnabled"]) == (True, True)
    assert await world.stored("config/app") == {"newsAutoPublish": True, **audit}
    await world.configure(groundModel="ground-x")
    world.clock.advance(seconds=1)
    status, answer = await patch(admin, "/api/admin/news-config", {"newsPipelineEnabled": False})
    assert status == 200
    assert (answer["newsAutoPublish"], answer["newsPipelineEnabled"]) == (True, False)
    assert await world.stored("config/app") == {
        "newsAutoPublish": True,
        "newsPipelineEnabled": False,
        "groundModel": "ground-x",
        "updatedBy": admin.uid,
        "updatedAt": "2026-01-15T12:00:01.000Z",
    }


@pytest.mark.req("API-41")
async def test_a_switch_is_on_or_off(world: World) -> None:
    admin, learner = await world.admin(), await world.learner()
    bodies: tuple[dict[str, Any], ...] = (
        {},
        {"newsAutoPublish": "yes"},
        {"newsAutoPublish": None},
        {"newsPipelineEnabled": 1},
        {"newsPipelineEnabled": True, "newsAutoPublish": None},
        {"newsThemes": ["mine"]},
    )
    for body in bodies:
        assert await admin.refused("adminSetNewsConfig", **body) == "invalid-argument"
    assert await learner.refused("adminSetNewsConfig", newsAutoPublish=True) == "permission-denied"
    assert await world.stored("config/app") is None

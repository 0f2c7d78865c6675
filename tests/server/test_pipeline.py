"""A gathering of news: what it finds, writes and counts."""

from __future__ import annotations

import logging
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from local_gemini.engine import Generated
from server.config import NEWS_THEMES
from server.news import pipeline
from server.news.catalog import item_id
from tests.server.news_world import (
    NOTHING,
    STATUS,
    THEMES,
    per_theme,
    put,
    searches,
    stories,
    story,
    titles,
)
from tests.server.world import World, news_theme_of, open_world


@pytest.mark.req("PIPE-1", "PIPE-10", "PIPE-14", "PIPE-16", "PIPE-17", "API-44", "DATA-15")
async def test_a_run_asks_every_theme_once_and_is_recorded(world: World) -> None:
    admin = await world.admin()
    await put(world, "Old", age=timedelta(hours=23))
    world.model.news = per_theme(science=["Comet", "Fossil"], ai=["Robot"])
    run = await admin.call("runNewsPipeline")
    assert run == {
        "ranAt": "2026-01-15T12:00:00.000Z",
        "trigger": "manual",
        "byUid": admin.uid,
        "generated": 3,
        "drafts": 3,
        "published": 0,
        "pruned": 1,
        "errors": [],
        "byTheme": {**NOTHING, "science": 2, "AI": 1},
    }
    assert await world.stored(STATUS) == run
    asked = sorted(news_theme_of(request) for request in searches(world))
    assert asked == sorted(NEWS_THEMES)
    assert len(world.model.requests) == 5
    assert await titles(world) == ["Comet", "Fossil", "Robot"]


@pytest.mark.req("PIPE-5", "DATA-11", "DATA-51")
async def test_a_find_is_a_whole_item(world: World) -> None:
    admin = await world.admin()
    world.model.news = per_theme(politics=["A vote"])
    await admin.call("runNewsPipeline")
    assert await world.stored(f"topicCatalog/{item_id('a vote')}") == {
        "kind": "news",
        "title": "A vote",
        "description": "A vote happened.",
        "searchQuery": "A vote",
        "themes": ["politics-policy"],
        "status": "draft",
        "refreshPolicy": "daily",
        "digest": "A vote happened.",
        "needsGrounding": True,
        "sources": [
            {"title": "A vote", "url": "https://example.org/A-vote", "publishedAt": "2026-01-14"}
        ],
        "groundedAt": "2026-01-15T12:00:00.000Z",
        "ttlExpiresAt": "2026-01-16T12:00:00.000Z",
        "createdBy": admin.uid,
        "updatedBy": admin.uid,
        "updatedAt": "2026-01-15T12:00:00.000Z",
    }
    await world.configure(newsTtlHours=6)
    world.model.news = per_theme(ai=[story("Bare", summary=None)])
    await admin.call("runNewsPipeline")
    bare = await world.stored(f"topicCatalog/{item_id('Bare')}")
    assert bare is not None
    assert (bare["digest"], bare["ttlExpiresAt"]) == ("Bare", "2026-01-15T18:00:00.000Z")


@pytest.mark.req("PIPE-3", "DATA-50")
async def test_three_stories_a_theme_unless_configured(world: World) -> None:
    admin = await world.admin()
    world.model.news = per_theme(science=[f"Find {n}" for n in range(6)])
    assert (await admin.call("runNewsPipeline"))["byTheme"]["science"] == 3
    assert "COUNT: 3" in world.model.prompts[-1].splitlines()
    await world.configure(newsCandidatesPerTheme=5)
    assert (await admin.call("runNewsPipeline"))["byTheme"]["science"] == 2
    assert "COUNT: 5" in world.model.prompts[-1].splitlines()


@pytest.mark.req("PIPE-7", "DATA-48", "PIPE-17")
async def test_finds_are_drafts_or_published_at_once(world: World) -> None:
    admin, learner = await world.admin(), await world.learner()
    world.model.news = per_theme(science=["One", "Two"])
    run = await admin.call("runNewsPipeline")
    assert (run["generated"], run["drafts"], run["published"]) == (2, 2, 0)
    assert (await learner.get("/api/catalog"))[1]["items"] == []
    await admin.call("adminSetNewsConfig", newsAutoPublish=True)
    world.model.news = per_theme(science=["Three"], climate=["Four", "One"])
    run = await admin.call("runNewsPipeline")
    assert (run["generated"], run["drafts"], run["published"]) == (2, 0, 2)
    _, answer = await learner.get("/api/catalog")
    assert sorted(item["title"] for item in answer["items"]) == ["Four", "Three"]


@pytest.mark.req("PIPE-6", "PIPE-2")
async def test_a_title_is_written_once(world: World) -> None:
    admin = await world.admin()
    await put(world, "Known before", status="disabled", digest="Mine.")
    renamed = await put(world, "First name")
    await admin.call("adminUpdateTopic", id=renamed, title="Second name")
    listed = ["Storm", "STORM ", "known BEFORE", "First name", "second name"]
    await world.configure(newsCandidatesPerTheme=5)
    world.model.news = per_theme(climate=listed, science=["storm"])
    run = await admin.call("runNewsPipeline")
    assert run["generated"] == 1
    assert run["byTheme"] == {**NOTHING, "science": 1}  # themes are written in their order
    assert await titles(world) == ["Known before", "Second name", "storm"]
    kept = await world.stored(f"topicCatalog/{item_id('known before')}")
    assert kept is not None
    assert (kept["digest"], kept["status"]) == ("Mine.", "disabled")
    assert (await admin.call("runNewsPipeline"))["generated"] == 0


@pytest.mark.req("PIPE-2")
async def test_all_themes_are_searched_at_the_same_time(tmp_path: Path) -> None:
    meeting = threading.Barrier(4, timeout=10)  # the model has four threads

    def answer(theme: str) -> Generated:
        if not theme.startswith("trending"):
            meeting.wait()
        return stories()

    async with open_world(tmp_path, threads=True) as world:
        admin = await world.admin()
        world.model.news = answer
        assert (await admin.call("runNewsPipeline"))["errors"] == []
    assert len(NEWS_THEMES) == pipeline.SEARCHES_AT_ONCE


@pytest.mark.req("PIPE-20", "AUTH-17", "AUTH-18", "AUTH-21", "GOTCHA-11")
async def test_searches_are_counted_and_never_capped(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "server")
    admin = await world.admin()
    await world.configure(dailyGeminiCallCap=0)
    world.model.news = per_theme(science=["Comet"])
    assert await admin.refused("groundTopic", topic="Tides") == "resource-exhausted"
    await admin.call("runNewsPipeline")
    assert await world.calls(admin) == 5
    usage = await world.stored(f"usage/{admin.uid}_20260115")
    assert usage is not None
    assert usage["geminiTotalTokens"] > 0
    await admin.call("scheduledNewsPipeline")
    scheduled = await world.stored("usage/scheduler_20260115")
    assert scheduled is not None
    assert scheduled["geminiCallCount"] == 5
    assert await world.calls(admin) == 5
    lines = [record for record in caplog.records if record.message == "gemini_usage"]
    assert [record.handler for record in lines] == ["newsPipeline"] * 10  # type: ignore[attr-defined]


@pytest.mark.req("PIPE-19", "DATA-27", "DATA-54")
async def test_level_and_model_reach_the_search(world: World) -> None:
    admin = await world.admin()
    await world.configure(groundModel="ground-x", groundingThinkingLevel="medium")
    await admin.call("runNewsPipeline")
    for model, request in world.model.requests:
        assert model.removeprefix("models/") == "ground-x"
        thinking = request["generationConfig"]["thinkingConfig"]
        assert str(thinking.get("thinkingLevel")).lower() == "medium"


@pytest.mark.req("PIPE-10", "PIPE-11", "API-44", "DATA-49")
async def test_a_manual_run_ignores_the_ingest_switch_and_leaves_it(world: World) -> None:
    admin = await world.admin()
    await admin.call("adminSetNewsConfig", newsPipelineEnabled=False, newsAutoPublish=True)
    before = await world.stored("config/app")
    world.model.news = per_theme(science=["Comet"])
    status, run = await admin.post("/api/admin/pipeline-runs")
    assert (status, run["published"], run["byUid"]) == (200, 1, admin.uid)
    assert await world.stored("config/app") == before


@pytest.mark.req("RULES-7", "UI-54", "API-48", "DATA-15")
async def test_runs_are_listed_for_admins_newest_first(world: World) -> None:
    admin, learner = await world.admin(), await world.learner()
    assert (await admin.get("/api/admin/pipeline-runs"))[1] == {"runs": []}
    world.model.news = per_theme()
    first = await admin.call("runNewsPipeline")
    world.clock.advance(hours=1)
    again = await admin.call("runNewsPipeline")
    world.clock.advance(hours=22)
    second = await admin.call("runNewsPipeline")
    assert first != again
    _, answer = await admin.get("/api/admin/pipeline-runs")
    assert answer["runs"] == [{"day": "20260116", **second}, {"day": "20260115", **again}]
    assert len((await admin.get("/api/admin/pipeline-runs?limit=1"))[1]["runs"]) == 1
    assert (await learner.get("/api/admin/pipeline-runs"))[0] == 403
    assert await learner.refused("runNewsPipeline") == "permission-denied"


@pytest.mark.req("PIPE-23")
async def test_without_a_web_search_a_run_says_so_and_asks_nobody(tmp_path: Path) -> None:
    async with open_world(tmp_path, searches=False) as world:
        admin = await world.admin()
        await put(world, "Old", age=timedelta(hours=23))
        run = await admin.call("runNewsPipeline")
        assert (run["generated"], run["pruned"], run["byTheme"]) == (0, 1, NOTHING)
        assert run["errors"] == [
            {"theme": theme, "message": pipeline.NO_SEARCH} for theme in THEMES
        ]
        assert await world.stored(STATUS) == run
        assert world.model.requests == []
        assert await world.calls(admin) == 0

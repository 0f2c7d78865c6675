"""A gathering of news: what it finds, writes, deletes, counts, and what it leaves alone."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agent.failures import ModelAnswerUnusable
from local_gemini.engine import Generated
from local_gemini.faults import hang, refuse
from server.config import NEWS_THEMES
from server.news import pipeline
from server.news.catalog import item_id
from server.news.lease import LEASE, LEASE_PATH
from server.operations.pipeline import RUN_NEWS_PIPELINE, SCHEDULED_NEWS_PIPELINE
from server.operations.topics import GROUND_TOPIC
from server.registry import MODEL_DEADLINE_S, Operation, Wire, perform
from server.roles import Role
from server.store.port import StoreDown
from tests.server.news_world import THEMES, per_theme, put, stories, story, titles
from tests.server.world import World, news_theme_of, open_world
from tests.virtual_time import run_virtual

STATUS = "topicPipelineStatus/20260115"
NOTHING = dict.fromkeys(THEMES, 0)


def searches(world: World) -> list[Mapping[str, Any]]:
    return [request for _, request in world.model.requests if news_theme_of(request)]


# --- what is found ------------------------------------------------------------------------------


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


# --- what is deleted ----------------------------------------------------------------------------


@pytest.mark.req("PIPE-12", "PIPE-14")
async def test_items_older_than_22_hours_go_whatever_their_status(world: World) -> None:
    admin = await world.admin()
    day = timedelta(hours=22)
    for status in ("draft", "active", "disabled"):
        await put(world, f"{status} at 22 h", status=status, age=day)
        await put(world, f"{status} after", status=status, age=day + timedelta(seconds=1))
    await put(world, "a moment after", age=day + timedelta(milliseconds=1))
    world.model.news = per_theme(science=["Active after"])  # gone before it is found again
    run = await admin.call("runNewsPipeline")
    assert (run["pruned"], run["generated"]) == (4, 1)
    assert await titles(world) == [
        "Active after",
        "active at 22 h",
        "disabled at 22 h",
        "draft at 22 h",
    ]


@pytest.mark.req("PIPE-12", "API-43")
async def test_touching_an_item_keeps_it(world: World) -> None:
    admin = await world.admin()
    world.model.news = per_theme()
    kept, lost = await put(world, "Kept"), await put(world, "Lost")
    world.clock.advance(hours=20)
    await admin.call("adminUpdateTopic", id=kept, status="active")
    world.clock.advance(hours=2, seconds=1)
    assert (await admin.call("runNewsPipeline"))["pruned"] == 1
    assert await world.stored(f"topicCatalog/{lost}") is None
    assert await titles(world) == ["Kept"]


@pytest.mark.req("PIPE-12")
async def test_a_long_list_is_pruned_to_its_end(world: World) -> None:
    admin = await world.admin()
    world.model.news = per_theme()
    for number in range(201):
        await put(world, f"Old {number}", age=timedelta(hours=23))
    assert (await admin.call("runNewsPipeline"))["pruned"] == 201
    assert await titles(world) == []


@pytest.mark.req("PIPE-13", "PIPE-21")
async def test_conversations_outlive_the_item_they_came_from(world: World) -> None:
    admin, learner = await world.admin(), await world.learner()
    world.model.news = per_theme()
    await put(world, "Storm")
    topic_id = (await learner.call("groundTopic", topic="Storm", kind="news"))["topicId"]
    await learner.turn(topic_id)
    before = [await world.ctx.store.query(name) for name in ("topics", "sessions")]
    world.clock.advance(hours=23)
    assert (await admin.call("runNewsPipeline"))["pruned"] == 1
    assert [await world.ctx.store.query(name) for name in ("topics", "sessions")] == before
    assert (await learner.turn(topic_id))["mode"] == "ask"


# --- failures -----------------------------------------------------------------------------------


@pytest.mark.req("PIPE-15", "PIPE-16")
async def test_a_theme_that_fails_holds_up_no_other(world: World) -> None:
    admin = await world.admin()

    def answer(theme: str) -> Any:
        match theme.split()[0]:
            case "climate":
                return "no json at all"
            case "AI":
                return Generated(text='{"stories": [{"title": "T", "url": "https://a.b"}]}')
            case _:
                return stories(f"About {theme.split()[0]}")

    world.model.news = answer
    run = await admin.call("runNewsPipeline")
    assert run["byTheme"] == {"science": 1, "climate": 0, "AI": 0, "politics-policy": 1} | {
        "trending-viral": 1
    }
    assert run["errors"] == [
        {"theme": theme, "message": pipeline.UNUSABLE} for theme in ("climate", "AI")
    ]
    assert await world.stored(STATUS) == run


@pytest.mark.req("PIPE-15", "AUTH-14")
async def test_a_service_that_is_down_is_told_in_a_sentence(world: World) -> None:
    admin = await world.admin()
    world.gemini.script.on("generate", refuse(400, "API key not valid: canary"))
    run = await admin.call("runNewsPipeline")
    assert [error["theme"] for error in run["errors"]] == list(THEMES)
    assert run["generated"] == 0
    assert "canary" not in str(run)


async def test_a_bug_in_one_theme_is_logged_and_not_told(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: Any, theme: str, **__: Any) -> Any:
        if theme.startswith("AI"):
            raise ZeroDivisionError("secret detail")
        raise ModelAnswerUnusable("useless")

    admin = await world.admin()
    monkeypatch.setattr(pipeline, "find_stories", broken)
    run = await admin.call("runNewsPipeline")
    assert len(run["errors"]) == 5
    assert "secret detail" not in str(run)
    assert "secret detail" in caplog.text


@pytest.mark.req("PIPE-18", "PIPE-15")
async def test_a_search_without_end_is_cut_off(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = await world.admin()
    monkeypatch.setattr(pipeline, "SEARCH_BUDGET_S", 0.3)
    world.gemini.script.on("generate", hang(), times=1)
    world.model.news = per_theme(**{t.split()[0].lower(): [f"About {t}"] for t in NEWS_THEMES})
    run = await admin.call("runNewsPipeline")
    assert [error["message"] for error in run["errors"]] == [pipeline.TOO_LATE]
    assert run["generated"] == 4


@pytest.mark.req("PIPE-18", "API-49")
def test_a_run_has_540_seconds_and_other_operations_60() -> None:
    assert RUN_NEWS_PIPELINE.deadline_s == SCHEDULED_NEWS_PIPELINE.deadline_s == 540
    assert pipeline.SEARCH_BUDGET_S < pipeline.RUN_BUDGET_S == 540
    assert GROUND_TOPIC.deadline_s == MODEL_DEADLINE_S == 60

    class Nothing(Wire):
        pass

    async def slow(*_: Any) -> Nothing:
        await asyncio.sleep(61)
        return Nothing()

    class Admin:
        role = Role.ADMIN

    async def code(deadline_s: float) -> str:
        operation = Operation("x", "", Nothing, Nothing, Role.ADMIN, slow, deadline_s=deadline_s)
        try:
            return str(await perform(None, operation, Admin(), {}))  # type: ignore[arg-type]
        except Exception as error:
            return str(getattr(error, "code", error))

    assert run_virtual(code(RUN_NEWS_PIPELINE.deadline_s)) == "{}"
    assert run_virtual(code(GROUND_TOPIC.deadline_s)) == "deadline-exceeded"


async def test_a_store_that_goes_down_ends_the_run_and_frees_the_lease(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = await world.admin()

    async def down(*_: Any) -> None:
        raise StoreDown("disk full")

    with monkeypatch.context() as patched:
        patched.setattr(world.ctx.store, "create", down)
        world.model.news = per_theme(science=["Comet"])
        assert await admin.refused("runNewsPipeline") == "unavailable"
    assert await world.stored(STATUS) is None
    assert (await admin.call("runNewsPipeline"))["generated"] == 1


# --- one at a time ------------------------------------------------------------------------------


@pytest.mark.req("PIPE-22")
async def test_a_second_run_at_the_same_time_is_refused(world: World) -> None:
    admin = await world.admin()
    world.model.news = per_theme(science=["Comet"], ai=["Robot"])
    both = await asyncio.gather(
        *(admin.post("/api/runNewsPipeline") for _ in range(2)),
        admin.post("/api/scheduledNewsPipeline"),
    )
    assert sorted(status for status, _ in both) == [200, 409, 409]
    refused = next(answer for status, answer in both if status == 409)
    assert refused["error"]["code"] == "aborted"
    assert refused["error"]["details"] == {"reason": "running"}
    assert await titles(world) == ["Comet", "Robot"]
    assert (await admin.call("runNewsPipeline"))["generated"] == 0


@pytest.mark.req("PIPE-22")
async def test_a_lease_of_a_process_that_died_frees_itself(world: World) -> None:
    admin = await world.admin()
    world.model.news = per_theme()

    async def hold(until: timedelta) -> None:
        stamp = (world.clock.now() + until).isoformat()
        lease = {"holder": "elsewhere", "until": stamp, "scheduledDays": []}
        await world.ctx.store.set(LEASE_PATH, lease)

    await hold(LEASE)
    assert await admin.refused("runNewsPipeline") == "aborted"
    assert LEASE.total_seconds() > pipeline.RUN_BUDGET_S
    world.clock.advance(seconds=LEASE.total_seconds() - 1)
    assert await admin.refused("runNewsPipeline") == "aborted"
    world.clock.advance(seconds=1)
    await admin.call("runNewsPipeline")
    # Of a clock that was an hour ahead when it was taken:
    await hold(timedelta(hours=1))
    await admin.call("runNewsPipeline")


async def test_a_late_end_leaves_the_lease_of_the_next_run_alone(world: World) -> None:
    admin = await world.admin()
    seen: list[Any] = []

    def answer(theme: str) -> Generated:
        if not seen:
            seen.append(theme)
            world.clock.advance(seconds=LEASE.total_seconds() + 1)
        return stories()

    world.model.news = answer
    original = world.ctx.store.set

    async def taken_over(path: str, data: dict[str, Any]) -> None:
        await original(path, data)
        if path == STATUS:
            lease = await world.stored(LEASE_PATH) or {}
            await original(LEASE_PATH, {**lease, "holder": "the next"})

    world.ctx.store.set = taken_over  # type: ignore[method-assign]
    await admin.call("runNewsPipeline")
    assert (await world.stored(LEASE_PATH) or {})["holder"] == "the next"


# --- usage, switches, access --------------------------------------------------------------------


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

"""The scheduled gathering: once a day over restarts and processes, and not at all when off."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from local_gemini.faults import hang
from local_gemini.script import Stage
from server.__main__ import EXTRAS
from server.news import pipeline
from server.news.lease import LEASE_PATH
from server.news.schedule import gather_news, news_schedule
from server.store.port import Document
from server.store.sqlite import SqliteStore
from tests.server.news_world import per_theme, put, titles
from tests.server.world import World, news_theme_of, open_world

STATUS = "topicPipelineStatus/20260115"


async def everything(world: World) -> dict[str, Any]:
    names = ("topicCatalog", "topicPipelineStatus", "leases", "usage", "config", "topics")
    return {name: [doc.data for doc in await world.ctx.store.query(name)] for name in names}


# --- the run ------------------------------------------------------------------------------------


@pytest.mark.req("API-45", "DATA-15", "PIPE-20")
async def test_the_scheduled_run_is_recorded_as_the_schedulers(world: World) -> None:
    world.model.news = per_theme(science=["Comet"])
    await put(world, "Old", age=timedelta(hours=23))
    assert await gather_news(world.ctx) is True
    record = await world.stored(STATUS)
    assert record is not None
    assert set(record) == {
        "ranAt",
        "trigger",
        "byUid",
        "generated",
        "drafts",
        "published",
        "pruned",
        "errors",
        "byTheme",
    }
    assert (record["trigger"], record["byUid"]) == ("schedule", "scheduler")
    assert (record["generated"], record["pruned"]) == (1, 1)
    [item] = await world.ctx.store.query("topicCatalog")
    assert item.data["createdBy"] == "scheduler"


@pytest.mark.req("PIPE-9", "API-41", "DATA-49")
async def test_switched_off_nothing_at_all_happens(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "server")
    admin = await world.admin()
    await admin.call("adminSetNewsConfig", newsPipelineEnabled=False)
    await put(world, "Old", age=timedelta(hours=23))
    before = await everything(world)
    assert await gather_news(world.ctx) is True
    assert await admin.call("scheduledNewsPipeline") == {"ran": False, "reason": "disabled"}
    skips = [r for r in caplog.records if r.message == "news_pipeline_skipped_disabled"]
    assert len(skips) == 2
    assert await everything(world) == before
    assert world.model.requests == []


@pytest.mark.req("PIPE-9")
async def test_without_a_model_that_searches_the_day_is_passed_over_in_one_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "server")
    async with open_world(tmp_path, searches=False) as world:
        before = await everything(world)
        assert await gather_news(world.ctx) is True
        assert await everything(world) == before
    assert [r.message for r in caplog.records if "news" in r.message] == [
        "news_pipeline_skipped_no_search"
    ]


@pytest.mark.req("API-45")
async def test_once_a_day_over_restarts_whatever_is_run_by_hand(tmp_path: Path) -> None:
    async def asked(*, hours: float = 0, by_hand: bool = False) -> int:
        """Searches of one life of the server, started `hours` after the first."""
        async with open_world(tmp_path) as world:
            world.clock.advance(hours=hours)
            world.model.news = per_theme()
            if by_hand:
                await (await world.admin()).call("runNewsPipeline")
            before = len(world.model.requests)
            assert await gather_news(world.ctx) is True
            return len(world.model.requests) - before

    assert await asked() == 5
    assert await asked(hours=1) == 0
    # The record of the day is a manual one by now.
    assert await asked(hours=2, by_hand=True) == 0
    assert await asked(hours=24) == 5
    # A clock that was put back repeats neither day.
    assert await asked(hours=2) == 0
    assert await asked(hours=25) == 0


@pytest.mark.req("API-45", "PIPE-22")
async def test_an_outside_timer_and_the_own_schedule_make_one_run(world: World) -> None:
    admin, learner = await world.admin(), await world.learner()
    world.model.news = per_theme(science=["Comet"])
    answer = await admin.call("scheduledNewsPipeline")
    assert answer == {"ran": True, "run": await world.stored(STATUS)}
    assert await gather_news(world.ctx) is True
    assert await admin.call("scheduledNewsPipeline") == {"ran": False, "reason": "already-ran"}
    assert len(world.model.requests) == 5
    assert await learner.refused("scheduledNewsPipeline") == "permission-denied"
    # By hand it goes at any time, and says so.
    assert (await admin.call("runNewsPipeline"))["trigger"] == "manual"


@pytest.mark.req("PIPE-22")
async def test_the_schedule_waits_for_a_manual_run_and_then_makes_its_own(world: World) -> None:
    admin = await world.admin()
    in_between: list[bool] = []

    async def schedule_too(*args: Any, **kwargs: Any) -> Any:
        in_between.append(await gather_news(world.ctx))
        return ()

    world.model.news = per_theme()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pipeline, "find_stories", schedule_too)
        await admin.call("runNewsPipeline")
    assert in_between == [False] * 5
    assert await gather_news(world.ctx) is True
    record = await world.stored(STATUS)
    assert record is not None
    assert record["trigger"] == "schedule"


@pytest.mark.req("PIPE-22", "API-45")
async def test_two_processes_of_one_store_make_one_run(tmp_path: Path) -> None:
    async with open_world(tmp_path) as one, open_world(tmp_path) as two:
        for world in (one, two):
            world.model.news = per_theme(science=["Comet"], ai=["Robot"])
        settled = await asyncio.gather(gather_news(one.ctx), gather_news(two.ctx))
        assert True in settled
        assert await gather_news(one.ctx) is True
        assert await gather_news(two.ctx) is True
        assert len(one.model.requests) + len(two.model.requests) == 5
        assert await titles(one) == ["Comet", "Robot"]


async def test_a_run_that_was_cut_off_is_made_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.model.news = per_theme(science=["Comet"])
    with monkeypatch.context() as patched:
        patched.setattr(pipeline, "RUN_BUDGET_S", 0.3)
        world.gemini.script.on("generate", hang(), times=1)
        with pytest.raises(TimeoutError):
            await gather_news(world.ctx)
    assert await world.stored(STATUS) is None
    assert (await world.stored(LEASE_PATH) or {})["holder"] is None
    assert await gather_news(world.ctx) is True
    assert await titles(world) == ["Comet"]


# --- on the application -------------------------------------------------------------------------


@pytest.mark.req("PIPE-8", "API-45")
async def test_a_server_that_starts_late_catches_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = asyncio.Event()
    original = SqliteStore.set

    async def noticed(self: SqliteStore, path: str, data: Document) -> None:
        await original(self, path, data)
        if path == STATUS:
            recorded.set()

    monkeypatch.setattr(SqliteStore, "set", noticed)
    async with open_world(tmp_path, extras=(news_schedule,)) as world, asyncio.timeout(10):
        await recorded.wait()
        assert (await world.stored(STATUS) or {})["trigger"] == "schedule"
        assert sum(1 for _, r in world.model.requests if news_theme_of(r)) == 5


@pytest.mark.req("CARD-17")
async def test_a_server_that_stops_lets_go_of_its_run(tmp_path: Path) -> None:
    asked = asyncio.Event()

    async def held(stage: Stage) -> None:
        asked.set()
        await stage.hang()

    async with open_world(tmp_path, extras=(news_schedule,)) as world, asyncio.timeout(10):
        world.gemini.script.on("generate", held)
        await asked.wait()
        assert (await world.stored(LEASE_PATH) or {})["holder"]
    async with open_world(tmp_path) as world:
        assert (await world.stored(LEASE_PATH) or {})["holder"] is None
        assert await world.stored(STATUS) is None
        assert await gather_news(world.ctx) is True


@pytest.mark.req("API-45")
def test_the_real_server_has_the_schedule() -> None:
    assert news_schedule in EXTRAS

"""A gathering of news when something fails, or when another one is under way."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from agent.failures import ModelAnswerUnusable
from local_gemini.engine import Generated
from local_gemini.faults import hang, refuse
from server.config import NEWS_THEMES
from server.news import pipeline
from server.news.lease import LEASE, LEASE_PATH
from server.operations.pipeline import RUN_NEWS_PIPELINE, SCHEDULED_NEWS_PIPELINE
from server.operations.topics import GROUND_TOPIC
from server.registry import MODEL_DEADLINE_S, Operation, Wire, perform
from server.roles import Role
from server.store.port import StoreDown
from tests.server.news_world import (
    STATUS,
    THEMES,
    per_theme,
    stories,
    titles,
)
from tests.server.world import World
from tests.virtual_time import run_virtual


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

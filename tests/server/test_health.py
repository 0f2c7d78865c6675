"""What a probe is told: whether it runs, whether it can work, and what an operation may take."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from server.errors import Code, PidjinError
from server.operations.topics import GROUND_TOPIC
from server.registry import MODEL_DEADLINE_S, PLAIN_DEADLINE_S, perform
from server.store.port import StoreDown
from tests.server.world import World, open_world


async def test_health_says_what_is_missing(world: World) -> None:
    assert (await world.get("/healthz"))[0] == 200
    assert (await world.get("/readyz")) == (200, {"status": "ready", "waiting": {}})

    async def cold() -> str | None:
        return "still loading"

    world.ctx.readiness["voice"] = cold
    assert await world.get("/readyz") == (
        503,
        {"status": "waiting", "waiting": {"voice": "still loading"}},
    )


async def test_a_store_that_is_gone_makes_the_server_not_ready(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(*_: Any) -> Any:
        raise OSError("disk on fire")

    with monkeypatch.context() as broken:
        broken.setattr(world.ctx.store, "_open", down)
        await check_down(world)
    assert (await world.get("/readyz"))[0] == 200


async def test_a_full_disk_makes_the_server_not_ready(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes: list[str] = []
    whole = world.ctx.store.set

    async def full(path: str, data: dict[str, Any]) -> None:
        raise StoreDown("database or disk is full")

    async def counted(path: str, data: dict[str, Any]) -> None:
        writes.append(path)
        await whole(path, data)

    monkeypatch.setattr(world.ctx.store, "set", full)
    for _ in range(2):
        status, answer = await world.get("/readyz")
        assert (status, answer["waiting"]) == (503, {"store": "cannot be written"})
    monkeypatch.setattr(world.ctx.store, "set", counted)
    for _ in range(3):
        assert (await world.get("/readyz"))[0] == 200
    assert writes == ["health/readyz"]


async def check_down(world: World) -> None:
    status, answer = await world.get("/readyz")
    assert (status, answer["waiting"]) == (503, {"store": "cannot be reached"})
    status, answer = await world.post("/api/signUp", {"displayName": "Ada", "email": "a@b.org"})
    assert (status, answer["error"]["code"]) == (503, "unavailable")
    assert "disk" not in str(answer)


async def test_metrics_are_for_this_machine_or_the_dev_token(tmp_path: Path) -> None:
    async with open_world(tmp_path, dev_token="sesame") as world:
        world.ctx.metrics.add_source(lambda: [("pidjin_lessons", (("state", 'a"b'),), 2.0)])
        status, text = await world.text("/metrics")
        assert status == 200
        assert '# TYPE pidjin_lessons gauge\npidjin_lessons{state="a\\"b"} 2\n' in text
        away = {"X-Forwarded-For": "203.0.113.1"}
        assert (await world.text("/metrics", **away))[0] == 403
        token = {"Authorization": "Bearer sesame"}
        assert (await world.text("/metrics", **away, **token))[0] == 200


@pytest.mark.req("API-49")
async def test_a_stuck_operation_ends_at_its_deadline(world: World) -> None:
    assert (MODEL_DEADLINE_S, PLAIN_DEADLINE_S) == (60, 30)

    async def stuck(*_: Any) -> Any:
        await asyncio.Event().wait()

    learner = await world.learner()
    signed_in = await world.ctx.identity.verify(learner.token)
    caller = await world.ctx.callers.caller_of(signed_in)
    with pytest.raises(PidjinError) as caught:
        await perform(
            world.ctx,
            replace(GROUND_TOPIC, run=stuck, deadline_s=0.01),
            caller,
            {"topic": "Tides"},
        )
    assert caught.value.code is Code.DEADLINE_EXCEEDED

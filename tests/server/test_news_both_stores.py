"""The news on both stores: the same answers, the same documents, one lease over all processes."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from server.news.schedule import gather_news
from tests.emulator import new_project
from tests.server.news_world import per_theme, put, titles
from tests.server.world import World, open_world

# The test's own server has a signing secret, so it has uids, of its own.
UIDS = ("byUid", "createdBy", "updatedBy")


def anonymous(value: Any) -> Any:
    """Without uids of admins."""
    if isinstance(value, dict):
        return {key: anonymous(item) for key, item in value.items() if key not in UIDS}
    return [anonymous(item) for item in value] if isinstance(value, list) else value


async def walked(world: World) -> list[Any]:
    """What a morning of news answers and leaves behind."""
    admin, learner = await world.admin(), await world.learner()
    for number in range(7):
        await put(world, f"Old {number}", age=timedelta(hours=23))
    await put(world, "At the edge", age=timedelta(hours=22), status="draft")
    world.model.news = per_theme(science=["Comet", "Fossil"], climate=["comet"], ai=["Robot"])
    answers: list[Any] = [await admin.call("adminSetNewsConfig", newsAutoPublish=True)]
    answers.append(await admin.call("scheduledNewsPipeline"))
    answers.append(await admin.call("scheduledNewsPipeline"))
    answers.append(await admin.call("runNewsPipeline"))
    item = await admin.call("adminCreateTopic", kind="news", title="Mars", searchQuery="rover")
    answers.append(await admin.call("adminUpdateTopic", id=item["id"], status="active"))
    topic = await learner.call("groundTopic", topic="Mars", kind="news")
    answers += [item, topic, world.model.prompts[-1]]
    for path in ("admin/catalog", "admin/catalog?status=draft", "admin/pipeline-runs", "catalog"):
        answers.append(await admin.get(f"/api/{path}"))
    _, usage = await admin.get("/api/admin/usage")
    answers.append([row["geminiCallCount"] for row in usage["usage"]])
    answers.append(await world.stored("config/app"))
    return [anonymous(answer) for answer in answers]


@pytest.mark.req("CARD-10", "PIPE-6", "PIPE-12", "PIPE-22", "API-45")
async def test_a_morning_of_news_is_the_same_on_both(tmp_path: Path, firestore_host: str) -> None:
    async with open_world(tmp_path / "sqlite") as world:
        here = await walked(world)
    settings = {
        "store": "firestore",
        "firebase_project": new_project(),
        "firestore_emulator_host": firestore_host,
    }
    async with open_world(tmp_path / "firestore", **settings) as world:
        assert await walked(world) == here
    assert here[1]["run"]["pruned"] == 7
    assert here[2] == {"ran": False, "reason": "already-ran"}


@pytest.mark.req("PIPE-22")
async def test_two_processes_meet_in_firestore(tmp_path: Path, firestore_host: str) -> None:
    settings = {
        "store": "firestore",
        "firebase_project": new_project(),
        "firestore_emulator_host": firestore_host,
    }
    async with (
        open_world(tmp_path / "a", **settings) as one,
        open_world(tmp_path / "b", **settings) as two,
    ):
        for world in (one, two):
            world.model.news = per_theme(science=["Comet"])
        await asyncio.gather(gather_news(one.ctx), gather_news(two.ctx))
        assert await gather_news(one.ctx) is await gather_news(two.ctx) is True
        assert len(one.model.requests) + len(two.model.requests) == 5
        assert await titles(two) == ["Comet"]

"""A gathering of news: what it deletes, and what it leaves alone."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.server.news_world import (
    per_theme,
    put,
    titles,
)
from tests.server.world import World


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

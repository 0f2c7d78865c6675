"""A conversation that was deleted stays deleted, whoever still has a turn of it under way."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from server.clock import stamp
from server.deleted_sessions import KEPT, purge
from tests.emulator import new_project
from tests.server.world import World, open_world


@pytest.fixture(params=["sqlite", "firestore"])
async def either(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[World]:
    settings = {}
    if request.param == "firestore":
        settings = {
            "store": "firestore",
            "firebase_project": new_project(),
            "firestore_emulator_host": request.getfixturevalue("firestore_host"),
        }
    async with open_world(tmp_path, **settings) as world:
        yield world


@pytest.mark.req("API-25", "API-36")
async def test_a_turn_asked_for_after_the_deletion_does_not_bring_it_back(either: World) -> None:
    learner = await either.learner()
    topic_id = await learner.ground()
    await learner.turn(topic_id)
    await learner.call("deleteSession", sessionId="s1")
    for more in ({}, {"tutorReply": "As I said."}):
        body = {"sessionId": "s1", "topicId": topic_id, "userUtteranceSummary": "And?", **more}
        assert await learner.refused("dialogueTurn", **body) == "failed-precondition"
    assert await either.stored("sessions/s1") is None
    # Another conversation about the same is nobody's business of this one.
    assert (await learner.turn(topic_id, session="s2"))["sessionId"] == "s2"


@pytest.mark.req("API-25")
async def test_a_deletion_in_the_middle_of_many_turns_is_final(either: World) -> None:
    learner = await either.learner()
    topic_id = await learner.ground()
    await learner.turn(topic_id)
    body = {"sessionId": "s1", "topicId": topic_id, "userUtteranceSummary": "Go on."}
    turns = [asyncio.create_task(learner.post("/api/dialogueTurn", body)) for _ in range(6)]
    await asyncio.sleep(0)
    await learner.call("deleteSession", sessionId="s1")
    assert {status for status, _ in await asyncio.gather(*turns)} <= {200, 400}
    assert await either.stored("sessions/s1") is None


async def test_what_is_left_of_it_is_forgotten_after_a_day(either: World) -> None:
    learner = await either.learner()
    topic_id = await learner.ground()
    store, now = either.ctx.store, either.ctx.clock.now()
    await learner.turn(topic_id)
    await learner.call("deleteSession", sessionId="s1")
    await store.set("deletedSessions/old", {"expiresAt": stamp(now - timedelta(seconds=1))})
    await purge(store, now)
    assert await store.get("deletedSessions/old") is None
    left = await either.stored("deletedSessions/s1")
    assert left is not None
    assert list(left) == ["expiresAt"]
    await purge(store, now + KEPT + timedelta(minutes=1))
    assert await either.stored("deletedSessions/s1") is None

"""Turns at once, sessions that have grown too large or are gone: what is stored of them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from server.store.port import MAX_BYTES
from tests.server.world import AGENDA, World, decision


@pytest.mark.req("API-25", "OBS-25")
async def test_a_slow_first_turn_is_stored_before_a_quick_second(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = await world.learner()
    topic_id = await learner.ground()
    decide = world.ctx.move_agent.decide
    deciding, go = asyncio.Event(), asyncio.Event()
    decided: list[str] = []

    async def held(move: Any, *args: Any, **kwargs: Any) -> Any:
        decided.append(move.utterance)
        if move.utterance == "first":
            deciding.set()
            await go.wait()
        return await decide(move, *args, **kwargs)

    monkeypatch.setattr(world.ctx.move_agent, "decide", held)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(learner.turn(topic_id, "first"))
        await deciding.wait()
        tasks.create_task(learner.turn(topic_id, "second"))
        for _ in range(3):
            await learner.turn(topic_id, "elsewhere", session="s2")  # which nothing holds up
        assert decided == ["first", "elsewhere", "elsewhere", "elsewhere"]
        go.set()
    turns = (await world.session())["turns"]
    assert [turn["userText"] for turn in turns] == ["first", "second"]


@pytest.mark.req("API-25", "API-51")
async def test_turns_at_once_are_all_stored(world: World) -> None:
    learner = await world.learner()
    topic_id = await learner.ground()
    world.model.moves = [decision(covered=["The moon"]), decision(covered=["The sun"])]
    turns = [learner.turn(topic_id, said, tutorReply=f"{said}!") for said in ("one", "two", "six")]
    answers = await asyncio.gather(*turns)
    stored = await world.session()
    assert sorted(turn["userText"] for turn in stored["turns"]) == ["one", "six", "two"]
    assert stored["revealState"]["coveredAngles"] == ["The moon", "The sun"]
    assert {a["text"] for a in answers} == {"one!", "two!", "six!"}


async def test_the_other_process_of_one_store_loses_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A turn that was decided on an older session joins the newer one."""
    learner = await world.learner()
    topic_id = await learner.ground()
    await learner.turn(topic_id, "zero")
    before = await world.session()
    decide = world.ctx.move_agent.decide

    async def decide_late(*args: Any, **kwargs: Any) -> Any:
        late = {**before["turns"][0], "userText": "elsewhere"}
        late["revealState"] = {"agenda": AGENDA, "coveredAngles": ["The sun"]}
        turns = [*before["turns"], late]
        await world.ctx.store.update("sessions/s1", {"turns": turns, "style": "lecture"})
        return await decide(*args, **kwargs)

    monkeypatch.setattr(world.ctx.move_agent, "decide", decide_late)
    world.model.moves = [decision(covered=["The moon"])]
    answer = await learner.turn(topic_id, "here")
    assert answer["updatedRevealState"]["coveredAngles"] == ["The moon", "The sun"]
    stored = await world.session()
    assert [turn["userText"] for turn in stored["turns"]] == ["zero", "elsewhere", "here"]
    assert stored["style"] == "lecture"


async def test_a_session_deleted_meanwhile_does_not_come_back(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = await world.learner()
    topic_id = await learner.ground()
    await learner.turn(topic_id)
    decide = world.ctx.move_agent.decide

    async def decide_late(*args: Any, **kwargs: Any) -> Any:
        await learner.call("deleteSession", sessionId="s1")
        return await decide(*args, **kwargs)

    monkeypatch.setattr(world.ctx.move_agent, "decide", decide_late)
    body = {"sessionId": "s1", "topicId": topic_id, "userUtteranceSummary": "?"}
    assert await learner.refused("dialogueTurn", **body) == "failed-precondition"
    assert await world.stored("sessions/s1") is None


async def test_past_progress_gives_way_before_words_do(world: World) -> None:
    learner = await world.learner()
    topic_id = await learner.ground()
    await learner.turn(topic_id, "first")
    stored = await world.session()
    state = {**stored["revealState"], "progress": {"notes": ["n" * 400] * 50}}
    turns = [{**stored["turns"][0], "revealState": state} for _ in range(42)]
    full = {**stored, "turns": turns, "revealState": state}
    assert 850_000 < len(str(full)) < MAX_BYTES
    await world.ctx.store.set("sessions/s1", full)
    for _ in range(4):
        await learner.turn(topic_id, "u" * 2000, tutorReply="t" * 4000)
    after = await world.session()
    assert len(after["turns"]) == 46
    assert after["turns"][0]["revealState"] == {}
    assert after["turns"][-1]["revealState"]["agenda"] == AGENDA
    full_of_words = [{**after["turns"][0], "text": "t" * 4000} for _ in range(210)]
    await world.ctx.store.update("sessions/s1", {"turns": full_of_words})
    for _ in range(5):
        status, answer = await learner.post(
            "/api/dialogueTurn",
            {
                "sessionId": "s1",
                "topicId": topic_id,
                "userUtteranceSummary": "ü" * 2000,
                "tutorReply": "€" * 4000,
            },
        )
    assert (status, answer["error"]["code"]) == (400, "failed-precondition")
    assert "full" in answer["error"]["message"]


@pytest.mark.req("UI-36", "API-19", "DATA-17")
async def test_a_style_chosen_before_the_first_turn_is_used_and_kept(world: World) -> None:
    learner = await world.learner()
    topic_id = await learner.ground()
    body = {"sessionId": "s1", "topicId": topic_id, "userUtteranceSummary": ""}
    await learner.call("dialogueTurn", **body, style="lecture")
    instruction = world.gemini.requests[-1].body["systemInstruction"]["parts"][0]["text"]
    assert "STYLE: Lecture" in instruction
    assert (await world.session())["style"] == "lecture"
    await learner.call("dialogueTurn", **body, style="conversational")
    assert (await world.session())["style"] == "lecture"


@pytest.mark.req("API-14")
async def test_control_characters_are_no_words_and_are_not_kept(world: World) -> None:
    learner = await world.learner()
    topic_id = await learner.ground()
    body = {"sessionId": "s1", "topicId": topic_id, "userUtteranceSummary": "\x00\x07"}
    status, answer = await learner.post("/api/dialogueTurn", body)
    assert (status, answer["error"]["code"]) == (400, "invalid-argument")
    assert "must hold words" in answer["error"]["message"]
    await learner.turn(topic_id, "The \x00moon\x1b,\nI think")
    turns = (await world.session())["turns"]
    assert [turn["userText"] for turn in turns] == ["The moon,\nI think"]

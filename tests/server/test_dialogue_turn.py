"""`dialogueTurn`: what is stored, in which order, and what a failure leaves behind."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from local_gemini.engine import Generated
from server.store.port import MAX_BYTES
from tests.server.world import World, decision, grounding

AGENDA = ["The moon", "The sun", "Spring tides"]


async def session(world: World, session_id: str = "s1") -> dict[str, Any]:
    data = await world.stored(f"sessions/{session_id}")
    assert data is not None
    return data


@pytest.mark.req(
    "API-15", "API-17", "API-21", "DATA-16", "DATA-18", "DATA-19", "DATA-20", "DATA-21", "MOVE-25"
)
async def test_the_first_turn_makes_the_session(world: World) -> None:
    learner = await world.learner()
    topic_id = await learner.ground()
    answer = await learner.turn(topic_id, "")
    state = {"agenda": AGENDA, "coveredAngles": []}
    assert answer == {
        "sessionId": "s1",
        "topicId": topic_id,
        "mode": "ask",
        "text": "What pulls the water?",
        "updatedRevealState": state,
        "discrepancyFlagged": False,
    }
    stamp = "2026-01-15T12:00:00.000Z"
    assert await session(world) == {
        "uid": learner.uid,
        "topicIds": [topic_id],
        "topicLabels": {topic_id: "Tides"},
        "grounded": {
            topic_id: {
                "topic": "Tides",
                "digest": "The moon pulls the sea.",
                "needsGrounding": False,
                "sources": [{"title": "Tides", "url": "", "publishedAt": None}],
                "kind": "document",
            }
        },
        "turns": [
            {
                "topicId": topic_id,
                "mode": "ask",
                "text": "What pulls the water?",
                "revealState": state,
                "ts": stamp,
            }
        ],
        "revealState": state,
        "startedAt": stamp,
    }


@pytest.mark.req("DATA-17")
async def test_nothing_but_a_turn_makes_a_session(world: World) -> None:
    learner = await world.learner()
    topic_id = await learner.ground()
    await learner.call("getLiveSessionToken", sessionId="s1", topicId=topic_id)
    assert await learner.refused("setSessionStyle", sessionId="s1", style="lecture") == (
        "failed-precondition"
    )
    assert await world.stored("sessions/s1") is None
    assert (await learner.get("/api/sessions/s1"))[0] == 404


@pytest.mark.req("AGND-1", "AGND-2", "AGND-4", "AGND-12", "API-51")
async def test_coverage_only_grows_and_a_client_cannot_shrink_it(world: World) -> None:
    learner = await world.learner()
    topic_id = await learner.ground()
    world.model.moves = [
        decision(covered=["The moon"]),
        decision(agenda=["Mine"], covered=["the SUN!", "Atlantis"]),
        decision(),
    ]
    await learner.turn(topic_id)
    forged = {"agenda": [], "coveredAngles": [], "evil": {"a": 1}}
    await learner.turn(topic_id, revealState=forged)
    answer = await learner.turn(topic_id, revealState={"agenda": ["x"], "coveredAngles": AGENDA})
    assert answer["updatedRevealState"] == {
        "agenda": AGENDA,
        "coveredAngles": ["The moon", "The sun"],
    }
    assert "evil" not in str(world.model.prompts)
    assert len((await session(world))["turns"]) == 3


@pytest.mark.req("OBS-1", "OBS-3", "OBS-4", "OBS-5", "OBS-9", "RTC-22", "GOTCHA-15")
async def test_an_observed_turn_stores_what_was_spoken(world: World) -> None:
    learner = await world.learner()
    topic_id = await learner.ground()
    world.model.moves = [decision("reveal", "Private note.", covered=["The moon"])]
    answer = await learner.turn(topic_id, tutorReply=" The moon does. ", tutorInterrupted=True)
    assert (answer["mode"], answer["text"]) == ("reveal", "The moon does.")
    assert answer["contextUpdate"].startswith("[TUTOR STATE UPDATE]\n")
    assert "Private note." in answer["contextUpdate"]
    stored = await session(world)
    assert stored["turns"][0]["text"] == "The moon does."
    assert "Private note." not in str(stored)
    assert "cut short" in world.model.prompts[-1]


@pytest.mark.req("OBS-1", "OBS-2", "API-14")
async def test_a_blank_reply_is_no_reply_and_a_reply_needs_an_utterance(world: World) -> None:
    learner = await world.learner()
    topic_id = await learner.ground()
    assert "contextUpdate" not in await learner.turn(topic_id, tutorReply="  ")
    body = {"sessionId": "s2", "topicId": topic_id, "userUtteranceSummary": " "}
    assert await learner.refused("dialogueTurn", **body, tutorReply="Yes.") == "invalid-argument"
    assert await world.stored("sessions/s2") is None


@pytest.mark.req("API-14")
async def test_the_longest_texts_are_taken(world: World) -> None:
    learner = await world.learner()
    topic_id = await learner.ground()
    answer = await learner.turn(topic_id, "u" * 2000, tutorReply="t" * 4000)
    assert answer["text"] == "t" * 4000


@pytest.mark.req("API-21", "MOVE-11", "AUTH-22")
async def test_a_turn_without_a_decision_leaves_nothing(world: World) -> None:
    learner = await world.learner()
    topic_id = await learner.ground()
    world.model.moves = ["no decision"]
    body = {"sessionId": "s1", "topicId": topic_id, "userUtteranceSummary": "?"}
    assert await learner.refused("dialogueTurn", **body) == "unavailable"
    assert await world.stored("sessions/s1") is None
    assert await world.calls(learner) == 2
    world.model.moves = [decision()]
    assert (await learner.turn(topic_id))["mode"] == "ask"


@pytest.mark.req("API-16")
async def test_who_may_take_a_turn_where(world: World) -> None:
    ada, bo = await world.learner("Ada"), await world.learner("Bo")
    topic_id, other_topic = await ada.ground(), await bo.ground()
    await ada.turn(topic_id)

    async def refused(person, session_id: str, topic: str) -> str:
        return await person.refused(
            "dialogueTurn", sessionId=session_id, topicId=topic, userUtteranceSummary="?"
        )

    assert await refused(bo, "s1", other_topic) == "permission-denied"
    assert await refused(ada, "s1", other_topic) == "permission-denied"
    assert await refused(ada, "s1", "f" * 64) == "failed-precondition"
    assert await world.calls(bo) == 1  # only the grounding


@pytest.mark.req("API-22", "API-36", "API-37")
async def test_conclude_keeps_a_session_open_and_ending_closes_it(world: World) -> None:
    learner = await world.learner()
    topic_id = await learner.ground()
    world.model.moves = [decision("reveal"), decision("conclude", "So that is it."), decision()]
    await learner.turn(topic_id)
    assert (await learner.turn(topic_id))["mode"] == "conclude"
    assert "endedAt" not in await session(world)
    world.clock.advance(minutes=3)
    await learner.turn(topic_id)
    assert await learner.call("endSession", sessionId="s1") == {
        "sessionId": "s1",
        "turnCount": 3,
        "revealOccurred": True,
        "durationSeconds": 180,
        "topicsCovered": ["Tides"],
    }
    body = {"sessionId": "s1", "topicId": topic_id, "userUtteranceSummary": "?"}
    assert await learner.refused("dialogueTurn", **body) == "failed-precondition"
    await learner.call("reopenSession", sessionId="s1")
    await learner.turn(topic_id)
    assert "endedAt" not in await session(world)


@pytest.mark.req("API-23", "AGND-10", "OBS-15")
async def test_the_gate_turns_an_early_conclude_into_a_probe(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "server")
    learner = await world.learner()
    topic_id = await learner.ground()
    world.model.moves = [decision("conclude", covered=AGENDA[:2])]
    await world.configure(enforceAgendaCompletion=True)
    answer = await learner.turn(topic_id, tutorReply="Goodbye.")
    assert answer["mode"] == (await session(world))["turns"][0]["mode"] == "probe"
    assert "wrapped up too early" in answer["contextUpdate"]
    assert "conclude_gated" in caplog.messages
    world.model.moves = [decision("conclude", covered=AGENDA)]
    assert (await learner.turn(topic_id))["mode"] == "conclude"


@pytest.mark.req("API-19")
async def test_style_is_the_sessions_then_the_persons_then_socratic(world: World) -> None:
    learner = await world.learner()
    topic_id = await learner.ground()

    async def style_of_turn(**more: Any) -> str:
        await learner.turn(topic_id, **more)
        line = next(line for line in world.model.prompts[-1].splitlines() if "STYLE:" in line)
        return line.split("STYLE:")[1].split()[0]

    assert await style_of_turn() == "Socratic"
    await learner.call("setPreferredStyle", style="lecture")
    assert await style_of_turn() == "Lecture"
    answer = await learner.call("setSessionStyle", sessionId="s1", style="conversational")
    assert answer["styleUpdatedAt"] == (await session(world))["styleUpdatedAt"]
    assert await style_of_turn(tutorReply="Yes.") == "Conversational"
    await world.ctx.store.update("sessions/s1", {"style": "shouting"})
    assert await style_of_turn() == "Lecture"


# --- topics that change, and several in one session ---------------------------------------------


@pytest.mark.req("DATA-8", "API-18")
async def test_a_core_topic_stays_frozen_and_stale_news_is_searched_first(world: World) -> None:
    learner = await world.learner()
    core = (await learner.call("groundTopic", topic="Tides"))["topicId"]
    news = (await learner.call("groundTopic", topic="Storm", kind="news"))["topicId"]
    await learner.turn(core, session="core")
    await learner.turn(news, session="news")
    asked = len(world.model.requests)
    world.clock.advance(hours=7)
    world.model.groundings = [grounding("The moon", digest="Fresh from the sea.")]
    await learner.turn(core, session="core")
    assert len(world.model.requests) == asked + 1
    answer = await learner.turn(news, session="news", tutorReply="It rained.")
    assert "TASK ground-news" in world.model.prompts[-2]
    assert "Fresh from the sea." in world.model.prompts[-1]
    assert "Refreshed digest:" in answer["contextUpdate"]
    stored = await session(world, "news")
    assert stored["grounded"][news]["digest"] == "Fresh from the sea."
    assert stored["revealState"]["agenda"] == AGENDA
    await learner.turn(news, session="news", tutorReply="Still.")
    assert "TASK ground" not in world.model.prompts[-1]


@pytest.mark.req("MOVE-5")
async def test_the_agent_itself_may_search_the_news_again(world: World) -> None:
    learner = await world.learner()
    news = (await learner.call("groundTopic", topic="Storm", kind="news"))["topicId"]
    world.model.groundings = [grounding("The eye", digest="Just in.")]
    tool = [{"name": "refresh_topic_context", "args": {}}]
    world.model.moves = [Generated(text=None, function_calls=tool), decision()]  # type: ignore[list-item]
    answer = await learner.turn(news, tutorReply="It rained.")
    assert "Just in." in answer["contextUpdate"]
    assert (await session(world))["grounded"][news]["digest"] == "Just in."
    assert (await world.stored(f"topics/{news}") or {})["digest"] == "Just in."


@pytest.mark.req("DATA-8", "DATA-19")
async def test_a_session_keeps_teaching_from_the_text_it_began_with(world: World) -> None:
    learner = await world.learner()
    topic_id = await learner.ground()
    await learner.turn(topic_id)
    world.model.groundings = [grounding("Other", digest="Other words.")]
    await learner.call("groundDocument", title="Tides", text="Other words entirely.")
    await learner.turn(topic_id)
    assert "The moon pulls the sea." in world.model.prompts[-1]
    assert "Other words." not in world.model.prompts[-1]
    await world.ctx.store.delete(f"topics/{topic_id}")
    answer = await learner.turn(topic_id)
    assert answer["updatedRevealState"]["agenda"] == AGENDA


@pytest.mark.req("DATA-21")
async def test_two_topics_of_a_session_keep_their_own_progress(world: World) -> None:
    learner = await world.learner()
    tides = await learner.ground()
    world.model.groundings = [grounding("Crust", "Mantle")]
    earth = await learner.ground("Earth", "Layers of the earth.")
    world.model.moves = [decision(covered=["The sun"])]
    await learner.turn(tides)
    world.model.moves = [decision(covered=["Crust"])]
    answer = await learner.turn(earth)
    assert answer["updatedRevealState"] == {
        "agenda": ["Crust", "Mantle"],
        "coveredAngles": ["Crust"],
    }
    answer = await learner.turn(tides)
    assert answer["updatedRevealState"]["coveredAngles"] == ["The sun"]
    stored = await session(world)
    assert stored["topicIds"] == [tides, earth]
    assert stored["topicLabels"] == {tides: "Tides", earth: "Earth"}


@pytest.mark.req("AGND-11")
async def test_a_session_from_before_there_were_agendas_goes_on(world: World) -> None:
    learner = await world.learner()
    topic_id = await learner.ground()
    await world.ctx.store.set(
        "sessions/old",
        {
            "uid": learner.uid,
            "topicIds": [topic_id],
            "topicLabels": {topic_id: "Tides"},
            "startedAt": "2025-01-01T00:00:00.000Z",
            "turns": [{"topicId": topic_id, "mode": "ask", "text": "Hello?", "ts": "x"}],
        },
    )
    answer = await learner.turn(topic_id, session="old")
    assert answer["updatedRevealState"]["agenda"] == AGENDA
    assert len((await session(world, "old"))["turns"]) == 2


async def test_odd_progress_from_a_model_is_made_storable(world: World) -> None:
    learner = await world.learner()
    topic_id = await learner.ground()
    odd = '{"a.b": [[1, [2]], "\\ud800", 1e400], "__x__": {"deep": {"er": {"and": {"er": 1}}}}}'
    world.model.moves = [
        '{"mode": "ask", "text": "Hm?", "updatedRevealState": {"progress": ' + odd + "}}"
    ]
    answer = await learner.turn(topic_id)
    assert answer["updatedRevealState"] == (await session(world))["revealState"]
    assert (await learner.get("/api/sessions/s1"))[0] == 200


# --- concurrency, size --------------------------------------------------------------------------


@pytest.mark.req("API-25", "OBS-25")
async def test_a_slow_first_turn_is_stored_before_a_quick_second(world: World) -> None:
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

    world.ctx.move_agent.decide = held  # type: ignore[method-assign]
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(learner.turn(topic_id, "first"))
        await deciding.wait()
        tasks.create_task(learner.turn(topic_id, "second"))
        for _ in range(3):
            await learner.turn(topic_id, "elsewhere", session="s2")  # which nothing holds up
        assert decided == ["first", "elsewhere", "elsewhere", "elsewhere"]
        go.set()
    turns = (await session(world))["turns"]
    assert [turn["userText"] for turn in turns] == ["first", "second"]


@pytest.mark.req("API-25", "API-51")
async def test_turns_at_once_are_all_stored(world: World) -> None:
    learner = await world.learner()
    topic_id = await learner.ground()
    world.model.moves = [decision(covered=["The moon"]), decision(covered=["The sun"])]
    turns = [learner.turn(topic_id, said, tutorReply=f"{said}!") for said in ("one", "two", "six")]
    answers = await asyncio.gather(*turns)
    stored = await session(world)
    assert sorted(turn["userText"] for turn in stored["turns"]) == ["one", "six", "two"]
    assert stored["revealState"]["coveredAngles"] == ["The moon", "The sun"]
    assert {a["text"] for a in answers} == {"one!", "two!", "six!"}


async def test_the_other_process_of_one_store_loses_nothing(world: World) -> None:
    """A turn that was decided on an older session joins the newer one."""
    learner = await world.learner()
    topic_id = await learner.ground()
    await learner.turn(topic_id, "zero")
    before = await session(world)
    decide = world.ctx.move_agent.decide

    async def decide_late(*args: Any, **kwargs: Any) -> Any:
        late = {**before["turns"][0], "userText": "elsewhere"}
        late["revealState"] = {"agenda": AGENDA, "coveredAngles": ["The sun"]}
        turns = [*before["turns"], late]
        await world.ctx.store.update("sessions/s1", {"turns": turns, "style": "lecture"})
        return await decide(*args, **kwargs)

    world.ctx.move_agent.decide = decide_late  # type: ignore[method-assign]
    world.model.moves = [decision(covered=["The moon"])]
    answer = await learner.turn(topic_id, "here")
    assert answer["updatedRevealState"]["coveredAngles"] == ["The moon", "The sun"]
    stored = await session(world)
    assert [turn["userText"] for turn in stored["turns"]] == ["zero", "elsewhere", "here"]
    assert stored["style"] == "lecture"


async def test_a_session_deleted_meanwhile_does_not_come_back(world: World) -> None:
    learner = await world.learner()
    topic_id = await learner.ground()
    await learner.turn(topic_id)
    decide = world.ctx.move_agent.decide

    async def decide_late(*args: Any, **kwargs: Any) -> Any:
        await learner.call("deleteSession", sessionId="s1")
        return await decide(*args, **kwargs)

    world.ctx.move_agent.decide = decide_late  # type: ignore[method-assign]
    body = {"sessionId": "s1", "topicId": topic_id, "userUtteranceSummary": "?"}
    assert await learner.refused("dialogueTurn", **body) == "failed-precondition"
    assert await world.stored("sessions/s1") is None


async def test_past_progress_gives_way_before_words_do(world: World) -> None:
    learner = await world.learner()
    topic_id = await learner.ground()
    await learner.turn(topic_id, "first")
    stored = await session(world)
    state = {**stored["revealState"], "progress": {"notes": ["n" * 400] * 50}}
    turns = [{**stored["turns"][0], "revealState": state} for _ in range(42)]
    full = {**stored, "turns": turns, "revealState": state}
    assert 850_000 < len(str(full)) < MAX_BYTES
    await world.ctx.store.set("sessions/s1", full)
    for _ in range(4):
        await learner.turn(topic_id, "u" * 2000, tutorReply="t" * 4000)
    after = await session(world)
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
    assert (await session(world))["style"] == "lecture"
    await learner.call("dialogueTurn", **body, style="conversational")
    assert (await session(world))["style"] == "lecture"


@pytest.mark.req("API-14")
async def test_control_characters_are_no_words_and_are_not_kept(world: World) -> None:
    learner = await world.learner()
    topic_id = await learner.ground()
    body = {"sessionId": "s1", "topicId": topic_id, "userUtteranceSummary": "\x00\x07"}
    status, answer = await learner.post("/api/dialogueTurn", body)
    assert (status, answer["error"]["code"]) == (400, "invalid-argument")
    assert "must hold words" in answer["error"]["message"]
    await learner.turn(topic_id, "The \x00moon\x1b,\nI think")
    turns = (await session(world))["turns"]
    assert [turn["userText"] for turn in turns] == ["The moon,\nI think"]

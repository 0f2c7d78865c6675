"""`dialogueTurn`: what is stored, in which order, and what a failure leaves behind."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.world import AGENDA, World, decision


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
    assert await world.session() == {
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
    assert len((await world.session())["turns"]) == 3


@pytest.mark.req("OBS-1", "OBS-3", "OBS-4", "OBS-5", "OBS-9", "RTC-22", "GOTCHA-15")
async def test_an_observed_turn_stores_what_was_spoken(world: World) -> None:
    learner = await world.learner()
    topic_id = await learner.ground()
    world.model.moves = [decision("reveal", "Private note.", covered=["The moon"])]
    answer = await learner.turn(topic_id, tutorReply=" The moon does. ", tutorInterrupted=True)
    assert (answer["mode"], answer["text"]) == ("reveal", "The moon does.")
    assert answer["contextUpdate"].startswith("[TUTOR STATE UPDATE]\n")
    assert "Private note." in answer["contextUpdate"]
    stored = await world.session()
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
    assert "endedAt" not in await world.session()
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
    assert "endedAt" not in await world.session()


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
    assert answer["mode"] == (await world.session())["turns"][0]["mode"] == "probe"
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
    assert answer["styleUpdatedAt"] == (await world.session())["styleUpdatedAt"]
    assert await style_of_turn(tutorReply="Yes.") == "Conversational"
    await world.ctx.store.update("sessions/s1", {"style": "shouting"})
    assert await style_of_turn() == "Lecture"

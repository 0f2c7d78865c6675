"""One conversation with each kind of turn: opening, answered, skipped, revealed, concluded."""

from __future__ import annotations

import pytest

from tests.server.world import World, decision

POINTS = ["The moon", "The sun", "Spring tides"]


@pytest.mark.req("TEST-5", "DATA-16", "DATA-18")
async def test_a_conversation_from_its_opening_to_its_conclusion(world: World) -> None:
    ada = await world.learner()
    topic = await ada.ground()
    await world.configure(enforceAgendaCompletion=True)
    turns = [
        ("", decision("ask", "What pulls the water?")),
        ("The moon does.", decision("probe", "And what else?", covered=POINTS[:1])),
        ("I don't know, let's skip that.", decision("reveal", "The sun.", covered=POINTS[:2])),
        ("Tell me the last one.", decision("reveal", "Both together.", covered=POINTS)),
        ("At new and full moon, then.", decision("conclude", "You have it.", covered=POINTS)),
    ]
    world.model.moves = [answer for _, answer in turns] + [decision()]
    told = [await ada.turn(topic, said) for said, _ in turns]
    assert [turn["mode"] for turn in told] == ["ask", "probe", "reveal", "reveal", "conclude"]
    stored = await world.stored("sessions/s1")
    assert stored is not None
    assert [turn.get("userText", "") for turn in stored["turns"]] == [said for said, _ in turns]
    assert [turn["mode"] for turn in stored["turns"]] == [turn["mode"] for turn in told]
    assert stored["turns"][-1]["text"] == "You have it."
    assert stored["revealState"]["coveredAngles"] == POINTS
    assert stored["topicLabels"] == {topic: "Tides"}
    assert stored.get("endedAt") is None

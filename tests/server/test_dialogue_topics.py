"""A turn whose topic has changed, or is one of several in its session."""

from __future__ import annotations

import pytest

from local_gemini.engine import Generated
from tests.server.world import AGENDA, World, decision, grounding


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
    stored = await world.session("news")
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
    world.model.moves = [Generated(text=None, function_calls=tool), decision()]
    answer = await learner.turn(news, tutorReply="It rained.")
    assert "Just in." in answer["contextUpdate"]
    assert (await world.session())["grounded"][news]["digest"] == "Just in."
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
    stored = await world.session()
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
    assert len((await world.session("old"))["turns"]) == 2


async def test_odd_progress_from_a_model_is_made_storable(world: World) -> None:
    learner = await world.learner()
    topic_id = await learner.ground()
    odd = '{"a.b": [[1, [2]], "\\ud800", 1e400], "__x__": {"deep": {"er": {"and": {"er": 1}}}}}'
    world.model.moves = [
        '{"mode": "ask", "text": "Hm?", "updatedRevealState": {"progress": ' + odd + "}}"
    ]
    answer = await learner.turn(topic_id)
    assert answer["updatedRevealState"] == (await world.session())["revealState"]
    assert (await learner.get("/api/sessions/s1"))[0] == 200

"""From an item of the catalog to a lesson on it: copies, freshness, honesty without a search."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from local_gemini.engine import Generated
from local_gemini.faults import hang, refuse
from local_gemini.script import Script
from server.operations import topics
from tests.server.news_world import SEARCHED, put
from tests.server.world import World, decision, grounding, open_world

STORM = {"topic": "Storm", "kind": "news"}


def asked(world: World, task: str) -> list[str]:
    """The prompts of one task, oldest first."""
    return [prompt for prompt in world.model.prompts if prompt.startswith(f"TASK {task}\n")]


def searched(*titles: str, **more: Any) -> Generated:
    return Generated(text=grounding(*titles, **more), grounding=SEARCHED)


# --- picking ------------------------------------------------------------------------------------


@pytest.mark.req("PIPE-21", "DATA-9", "GRND-15", "API-6", "MOVE-3")
async def test_an_item_becomes_a_topic_of_ones_own(world: World) -> None:
    ada, bo = await world.learner("Ada"), await world.learner("Bo")
    item = await put(world, "Storm", search_query="storm damage today", digest="Item digest.")
    world.model.groundings = [searched("The eye", digest="Searched.")]  # type: ignore[list-item]
    first = await ada.call("groundTopic", **STORM)
    assert (first["fromCache"], first["digest"], first["needsGrounding"]) == (
        False,
        "Searched.",
        True,
    )
    [prompt] = asked(world, "ground-news")
    assert prompt.splitlines()[1:3] == ["TITLE: Storm", "SEARCH FOR: storm damage today"]
    second = await bo.call("groundTopic", **STORM)
    assert second["fromCache"] is True
    for person, topic in ((ada, first), (bo, second)):
        stored = await world.stored(f"topics/{topic['topicId']}")
        assert stored is not None
        assert (stored["uid"], stored["kind"], stored["digest"]) == (
            person.uid,
            "news",
            "Searched.",
        )
        assert (await person.turn(topic["topicId"], session=person.uid))["mode"] == "ask"
    assert first["topicId"] != second["topicId"]
    assert (await world.stored(f"topicCatalog/{item}") or {})["digest"] == "Item digest."


@pytest.mark.req("PIPE-21")
@pytest.mark.parametrize("status", ["draft", "disabled"])
async def test_an_item_that_nobody_may_see_has_no_say(world: World, status: str) -> None:
    learner = await world.learner()
    await put(world, "Storm", search_query="secret query", status=status)
    await learner.call("groundTopic", **STORM)
    assert "SEARCH FOR" not in asked(world, "ground-news")[-1]
    await learner.call("groundTopic", topic="Flood")
    assert asked(world, "ground-topic")


async def test_a_found_item_needs_no_other_words_than_its_title(world: World) -> None:
    learner = await world.learner()
    await put(world, "Storm")
    await learner.call("groundTopic", **STORM)
    assert "SEARCH FOR" not in asked(world, "ground-news")[-1]


@pytest.mark.req("GRND-13", "GRND-14", "GRND-15", "DATA-9", "GOTCHA-3")
async def test_news_comes_from_the_cache_while_it_is_fresh(world: World) -> None:
    learner = await world.learner()
    assert (await learner.call("groundTopic", **STORM))["fromCache"] is False
    world.clock.advance(hours=5, minutes=59)
    assert (await learner.call("groundTopic", **STORM))["fromCache"] is True
    forced = await learner.call("groundTopic", **STORM, forceRefresh=True)
    assert forced["fromCache"] is False
    world.clock.advance(hours=6)
    assert (await learner.call("groundTopic", **STORM))["fromCache"] is False
    assert len(asked(world, "ground-news")) == 3


@pytest.mark.req("GRND-16", "API-6")
async def test_an_evergreen_claim_for_news_is_not_believed(world: World) -> None:
    learner = await world.learner()
    world.model.groundings = [grounding("The eye")]  # it says needsGrounding: false
    topic = await learner.call("groundTopic", **STORM)
    assert topic["needsGrounding"] is True
    assert (await world.stored(f"topics/{topic['topicId']}") or {})["needsGrounding"] is True


@pytest.mark.req("GRND-17", "PROMPT-19")
async def test_at_most_five_sources_with_an_address(world: World) -> None:
    learner = await world.learner()
    listed = [{"title": f"S{n}", "url": f"https://example.org/{n}"} for n in range(8)]
    answer = {**json.loads(grounding("The eye")), "sources": [{"title": "None"}, *listed]}
    world.model.groundings = [  # type: ignore[list-item]
        Generated(text=json.dumps(answer), grounding=SEARCHED)
    ]
    topic = await learner.call("groundTopic", **STORM)
    assert [source["url"] for source in topic["sources"]] == [
        f"https://example.org/{n}" for n in range(5)
    ]


@pytest.mark.req("API-4")
@pytest.mark.parametrize(
    ("body", "fine"),
    [
        ({"topic": "t" * 500}, True),
        ({"topic": "t" * 501}, False),
        ({"topic": "t", "kind": "news", "forceRefresh": True}, True),
        ({"topic": "t", "kind": "document"}, False),
        ({"topic": "t", "forceRefresh": "yes"}, False),
    ],
    ids=["500", "501", "all", "document", "no bool"],
)
async def test_what_may_be_grounded(world: World, body: dict[str, Any], fine: bool) -> None:
    learner = await world.learner()
    status, _ = await learner.post("/api/groundTopic", body)
    assert status == (200 if fine else 400)


# --- staying fresh ------------------------------------------------------------------------------


@pytest.mark.req("API-18", "GOTCHA-7", "PIPE-21")
async def test_stale_news_is_searched_before_the_turn_with_the_items_query(world: World) -> None:
    learner = await world.learner()
    await put(world, "Storm", search_query="storm damage today")
    topic_id = (await learner.call("groundTopic", **STORM))["topicId"]
    world.clock.advance(hours=6)  # to the second: stale
    world.model.groundings = [searched("The eye", digest="Fresh.")]  # type: ignore[list-item]
    await learner.turn(topic_id)
    search, move = world.model.prompts[-2:]
    assert "SEARCH FOR: storm damage today" in search.splitlines()
    assert "| Fresh." in move.splitlines()
    assert (await world.stored(f"topics/{topic_id}") or {})["digest"] == "Fresh."
    await learner.turn(topic_id)
    assert len(asked(world, "ground-news")) == 2


@pytest.mark.req("API-18", "MOVE-6")
@pytest.mark.parametrize("answer", ["down", "useless", "silent"])
async def test_a_search_that_fails_does_not_cost_the_turn(
    world: World, answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = await world.learner()
    topic_id = (await learner.call("groundTopic", **STORM))["topicId"]
    before = await world.stored(f"topics/{topic_id}")
    world.clock.advance(hours=7)
    script: Script = world.gemini.script
    if answer == "down":
        script.on("generate", refuse(400), times=1)
    elif answer == "silent":
        monkeypatch.setattr(topics, "REFRESH_DEADLINE_S", 0.2)
        script.on("generate", hang(), times=1)
    else:
        world.model.groundings = ["no json"]
    turn = await learner.turn(topic_id)
    assert turn["mode"] == "ask"
    assert "| The moon pulls the sea." in world.model.prompts[-1].splitlines()
    assert await world.stored(f"topics/{topic_id}") == before
    world.model.groundings = [searched("The eye", digest="Fresh.")]  # type: ignore[list-item]
    turn = await learner.turn(topic_id, tutorReply="It rained.")
    assert "Fresh." in turn["contextUpdate"]


@pytest.mark.req("MOVE-5", "GOTCHA-7")
@pytest.mark.parametrize("kind", ["core", "document"])
async def test_what_is_no_news_is_not_searched_again(world: World, kind: str) -> None:
    learner = await world.learner()
    if kind == "core":
        topic_id = (await learner.call("groundTopic", topic="Tides"))["topicId"]
    else:
        topic_id = await learner.ground()
    before = await world.stored(f"topics/{topic_id}")
    grounded = len(world.model.requests)
    tool = [{"name": "refresh_topic_context", "args": {}}]
    world.model.moves = [Generated(function_calls=tool), decision()]  # type: ignore[list-item]
    assert (await learner.turn(topic_id))["mode"] == "ask"
    answers = [
        part["functionResponse"]["response"]
        for content in world.model.requests[-1][1]["contents"]
        for part in content["parts"]
        if "functionResponse" in part
    ]
    assert [answer["reason"] for answer in answers] == ["not-news"]
    assert await world.stored(f"topics/{topic_id}") == before
    assert len(world.model.requests) == grounded + 2  # both are the agent's own


@pytest.mark.req("API-49")
async def test_a_stuck_grounding_ends_with_the_deadline(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = await world.learner()
    world.gemini.script.on("generate", hang())
    monkeypatch.setattr(world.ctx.gateway._client, "_deadline_s", 0.2)
    assert await learner.refused("groundTopic", **STORM) == "deadline-exceeded"


# --- where nobody can search --------------------------------------------------------------------


@pytest.mark.req("PIPE-23", "GRND-23", "DATA-9")
async def test_the_local_tutor_makes_no_news_up(tmp_path: Path) -> None:
    async with open_world(tmp_path, searches=False) as world:
        learner = await world.learner()
        status, answer = await learner.post("/api/groundTopic", STORM)
        assert (status, answer["error"]["code"]) == (400, "failed-precondition")
        assert answer["error"]["details"] == {"reason": "no-search"}
        assert "cannot search the web" in answer["error"]["message"]
        assert world.model.requests == []
        assert await world.calls(learner) == 0
        assert await world.ctx.store.query("topics") == []
        assert (await learner.call("groundTopic", topic="Tides"))["kind"] == "core"


@pytest.mark.req("PIPE-23", "API-18", "MOVE-6")
async def test_news_of_a_day_with_a_search_can_still_be_talked_about(tmp_path: Path) -> None:
    async with open_world(tmp_path) as world:
        learner = await world.learner()
        topic_id = (await learner.call("groundTopic", **STORM))["topicId"]
    async with open_world(tmp_path, searches=False) as world:
        learner.world = world
        assert (await learner.call("groundTopic", **STORM))["fromCache"] is True
        world.clock.advance(hours=7)
        tool = [{"name": "refresh_topic_context", "args": {}}]
        world.model.moves = [Generated(function_calls=tool), decision()]  # type: ignore[list-item]
        assert (await learner.turn(topic_id))["mode"] == "ask"
        assert asked(world, "ground-news") == []

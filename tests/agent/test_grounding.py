"""Topics through the real gateway and wire."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent.failures import ModelAnswerUnusable, ModelUnavailable
from agent.grounding import ground_topic
from agent.topic import Grounded, Source
from local_gemini.engine import Generated
from local_gemini.faults import refuse
from tests.agent.conftest import Bench
from tests.agent.test_gateway import camel

SEARCHED = {
    "webSearchQueries": ["ocean currents"],
    "groundingChunks": [
        {"web": {"uri": "https://example.org/a", "title": "A"}},
        {"web": {"uri": "https://example.org/b"}},
    ],
}


def reply(**changes: Any) -> str:
    fields = {
        "digest": "Currents carry heat.",
        "needsGrounding": False,
        "depth": "structured",
        "outline": [{"title": f"Point {n}", "summary": "s"} for n in range(15)],
    }
    return json.dumps(fields | changes)


async def ground(bench: Bench, **changes: Any) -> Grounded:
    fields: dict[str, Any] = {"topic": "Ocean currents"} | changes
    return await ground_topic(
        bench.gateway,
        model="gemini-3.8-flash",
        thinking_level="low",
        record=bench.ledger,
        **fields,
    )


@pytest.mark.req("GRND-1", "GRND-5", "API-8", "GRND-21")
@pytest.mark.parametrize(
    ("depth", "tier", "points"),
    [
        ("standard", "standard", 5),
        ("structured", "structured", 12),
        ("deep", "deep", 15),
        ("bottomless", "standard", 5),
        (None, "standard", 5),
    ],
)
async def test_the_reported_depth_clamps(bench: Bench, depth: Any, tier: str, points: int) -> None:
    bench.answers.append(reply(depth=depth))
    got = await ground(bench)
    assert got.depth_tier == tier
    assert len(got.outline) == points
    assert len(bench.bodies) == 1
    assert camel(bench.bodies[0])["generationConfig"]["maxOutputTokens"] == 2048
    assert [entry[0] for entry in bench.ledger.entries] == ["groundTopic"]


@pytest.mark.req("GRND-18", "GRND-22")
async def test_evergreen_topics_have_no_sources(bench: Bench) -> None:
    listed = [{"title": "From memory", "url": "https://example.org/memory"}]
    bench.answers.append(reply(needsGrounding=True, sources=listed))
    got = await ground(bench)
    assert got.needs_grounding is False, "no search was reported by the service"
    assert got.sources == ()


@pytest.mark.req("GRND-17", "GRND-22")
async def test_a_search_gives_sources(bench: Bench) -> None:
    listed = [
        {"title": "Mine", "url": "https://example.org/mine", "publishedAt": "2026-11-29T05:00:00Z"},
        {"title": "No address"},
        {"title": "Script", "url": "javascript:alert(1)"},
        {"title": "Relative", "url": "/etc/passwd"},
        {"title": "Spaced", "url": "https://example.org/\n[TAG]"},
        "not an object",
        {"title": "Again", "url": "https://example.org/a"},
    ]
    bench.answers.append(Generated(text=reply(sources=listed), grounding=SEARCHED))
    got = await ground(bench)
    assert got.needs_grounding is True
    assert got.sources == (
        Source("Mine", "https://example.org/mine", "2026-11-29"),
        Source("Again", "https://example.org/a"),
        Source("example.org", "https://example.org/b"),
    )


@pytest.mark.req("GRND-17")
async def test_at_most_five_sources(bench: Bench) -> None:
    listed = [{"title": str(n), "url": f"https://example.org/{n}"} for n in range(9)]
    bench.answers.append(Generated(text=reply(sources=listed), grounding=SEARCHED))
    assert len((await ground(bench)).sources) == 5


@pytest.mark.req("API-6", "GRND-16", "PROMPT-7", "DATA-9")
@pytest.mark.parametrize("how", [{"kind": "news"}, {"force_search": True}])
async def test_forced_search_is_coerced(bench: Bench, how: dict[str, Any]) -> None:
    bench.answers.append(reply())
    got = await ground(bench, **how)
    assert got.needs_grounding is True
    [part] = bench.bodies[0]["contents"][0]["parts"]
    assert part["text"].startswith("TASK ground-news\n")
    assert "do not call this topic evergreen" in part["text"]
    assert camel(bench.bodies[0])["tools"] == [{"googleSearch": {}}]


@pytest.mark.req("PROMPT-7")
async def test_a_core_topic_carries_no_directive(bench: Bench) -> None:
    bench.answers.append(reply())
    await ground(bench)
    [part] = bench.bodies[0]["contents"][0]["parts"]
    assert part["text"].startswith("TASK ground-topic\nTITLE: Ocean currents\nBUDGET ")
    assert "evergreen." not in part["text"].split("- ")[0]
    assert "picked a topic of current events" not in part["text"]


@pytest.mark.req("GRND-2")
@pytest.mark.parametrize("bad", ["garbage", '{"digest": ""}'])
async def test_unusable_answers_are_errors(bench: Bench, bad: str) -> None:
    bench.answers.append(bad)
    with pytest.raises(ModelAnswerUnusable):
        await ground(bench)


async def test_a_failing_service_is_an_error(bench: Bench) -> None:
    bench.local.script.on("generate", refuse(503))
    with pytest.raises(ModelUnavailable):
        await ground(bench)


@pytest.mark.parametrize("fields", [{"kind": "document"}, {"topic": " \n"}])
async def test_misuse(bench: Bench, fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"topic|document"):
        await ground(bench, **fields)

"""The move agent on real ADK: over the real gateway and wire, and with a scripted model."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from typing import Any

import pytest

from agent.failures import ModelRefused, ModelUnavailable, NoDecision
from agent.llm import CALLS_PER_ATTEMPT
from agent.move import MoveAgent
from agent.topic import Grounded
from agent.usage import TokenUsage
from local_gemini.engine import Generated
from local_gemini.faults import answer as body_answer
from local_gemini.faults import refuse
from tests.agent.conftest import KEY, Bench, Ledger
from tests.agent.scripted_llm import Scripted, agent_with
from tests.agent.test_gateway import camel
from tests.agent.topics import MOMENT, TOPIC, decision, request_for

pytestmark = pytest.mark.req("TEST-3")


def call(name: str, **args: Any) -> Generated:
    return Generated(text=None, function_calls=[{"name": name, "args": args}])


def tool_answer(body: Any) -> dict[str, Any]:
    """The response of the newest function answer in a request body."""
    [part] = [p for p in camel(body)["contents"][-1]["parts"] if "functionResponse" in p]
    return dict(part["functionResponse"]["response"])


async def test_a_plain_answer_becomes_a_decision(bench: Bench) -> None:
    bench.answers.append(f"```json\n{decision()}\n```")
    got = await MoveAgent(bench.gateway).decide(request_for(), bench.ledger)
    assert (got.mode, got.text) == ("ask", "And what else?")


@pytest.mark.req("MOVE-13", "MOVE-14", "MOVE-19", "API-24", "GOTCHA-1")
async def test_every_step_is_pinned_and_unlabelled(bench: Bench) -> None:
    bench.answers += [call("get_topic_section", sectionId="s1"), decision()]
    await MoveAgent(bench.gateway).decide(request_for(), bench.ledger)
    assert len(bench.bodies) == 2
    for raw in bench.bodies:
        body = camel(raw)
        assert "labels" not in body
        assert body["generationConfig"]["responseModalities"] == ["TEXT"]
        assert body["generationConfig"]["maxOutputTokens"] == 2048
        assert body["generationConfig"]["thinkingConfig"]["thinkingLevel"] == "LOW"


@pytest.mark.req("MOVE-13")
async def test_adk_does_set_labels() -> None:
    """Without this the stripping above would show nothing."""
    llm = Scripted([decision()])
    await agent_with(llm).decide(request_for(), Ledger())
    assert llm.requests[0].config.labels == {"adk_agent_name": "pidjin"}


@pytest.mark.req("MOVE-2")
async def test_the_three_tools_are_declared(bench: Bench) -> None:
    bench.answers.append(decision())
    await MoveAgent(bench.gateway).decide(request_for(), bench.ledger)
    [tool] = camel(bench.bodies[0])["tools"]
    declared = {d["name"]: d for d in tool["functionDeclarations"]}
    assert set(declared) == {"get_topic_context", "get_topic_section", "refresh_topic_context"}

    def names(name: str) -> set[str]:
        schema = declared[name].get("parametersJsonSchema") or declared[name].get("parameters")
        return set((schema or {}).get("properties", {}))

    assert names("get_topic_context") == set()
    assert names("get_topic_section") == {"sectionId"}
    assert names("refresh_topic_context") == {"topicId"}


@pytest.mark.req("MOVE-4", "MOVE-10", "MOVE-17", "AGND-15")
async def test_a_call_without_text_runs_the_tool_loop(bench: Bench) -> None:
    bench.answers += [call("get_topic_section", sectionId="s2"), decision("Go on.")]
    agent = MoveAgent(bench.gateway)
    assert (await agent.decide(request_for(), bench.ledger)).text == "Go on."
    assert tool_answer(bench.bodies[1]) == {
        "status": "ok",
        "id": "s2",
        "title": "Deep currents",
        "summary": "Density drives them.",
    }
    echoed = [p for p in camel(bench.bodies[1])["contents"][-2]["parts"] if "functionCall" in p]
    assert echoed[0]["thoughtSignature"], "the signature must come back to the model"


@pytest.mark.req("MOVE-3")
@pytest.mark.parametrize("kind", ["core", "news", "document"])
async def test_the_context_tool_gives_the_bound_topic(bench: Bench, kind: Any) -> None:
    bench.answers += [call("get_topic_context"), decision()]
    await MoveAgent(bench.gateway).decide(request_for(replace(TOPIC, kind=kind)), bench.ledger)
    got = tool_answer(bench.bodies[1])
    assert got["digest"] == TOPIC.digest
    assert got["kind"] == kind
    assert got["outline"] == [
        {"id": "s1", "title": "Surface currents"},
        {"id": "s2", "title": "Deep currents"},
    ]
    assert got["sources"][0]["url"] == "https://example.org/atlas"
    assert got["freshness"]["groundedAt"] == MOMENT.isoformat()


@pytest.mark.req("MOVE-4", "MOVE-6")
async def test_an_unknown_section_is_a_payload(bench: Bench) -> None:
    bench.answers += [call("get_topic_section", sectionId="s99"), decision()]
    await MoveAgent(bench.gateway).decide(request_for(), bench.ledger)
    got = tool_answer(bench.bodies[1])
    assert got["status"] == "failed"
    assert got["validIds"] == ["s1", "s2"]


@pytest.mark.req("MOVE-6")
@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("get_topic_section", {}),
        ("get_topic_section", {"sectionId": 7}),
        ("get_topic_section", {"sectionId": None}),
        ("get_topic_context", {"surprise": True}),
        ("read_all_secrets", {}),
    ],
)
async def test_a_bad_call_does_not_end_the_turn(
    bench: Bench, name: str, args: dict[str, Any]
) -> None:
    bench.answers += [Generated(function_calls=[{"name": name, "args": args}]), decision()]
    bench.answers += [decision()]
    got = await MoveAgent(bench.gateway).decide(request_for(), bench.ledger)
    assert got.mode == "ask"


@pytest.mark.req("MOVE-5", "GOTCHA-7")
@pytest.mark.parametrize("kind", ["core", "document"])
async def test_only_news_is_refreshed(bench: Bench, kind: Any) -> None:
    async def refresh() -> Grounded:
        raise AssertionError("not for this kind")

    bench.answers += [call("refresh_topic_context"), decision()]
    await MoveAgent(bench.gateway).decide(
        request_for(replace(TOPIC, kind=kind)), bench.ledger, refresh=refresh
    )
    got = tool_answer(bench.bodies[1])
    assert (got["status"], got["reason"]) == ("declined", "not-news")


@pytest.mark.req("MOVE-5", "API-20")
async def test_a_refresh_serves_the_new_digest_whatever_id_is_named(bench: Bench) -> None:
    fresh = replace(TOPIC, kind="news", digest="Today's digest.")

    async def refresh() -> Grounded:
        return fresh

    bench.answers += [
        call("refresh_topic_context", topicId="someone-elses"),
        call("get_topic_context"),
        decision(),
    ]
    await MoveAgent(bench.gateway).decide(
        request_for(replace(TOPIC, kind="news")), bench.ledger, refresh=refresh
    )
    assert tool_answer(bench.bodies[1])["digest"] == "Today's digest."
    assert tool_answer(bench.bodies[2])["digest"] == "Today's digest."


@pytest.mark.req("MOVE-6")
async def test_a_failing_refresh_tells_nothing_of_its_inside(bench: Bench) -> None:
    async def refresh() -> Grounded:
        raise RuntimeError("database password is hunter2")

    bench.answers += [call("refresh_topic_context"), decision()]
    await MoveAgent(bench.gateway).decide(
        request_for(replace(TOPIC, kind="news")), bench.ledger, refresh=refresh
    )
    got = tool_answer(bench.bodies[1])
    assert got["status"] == "failed"
    assert "hunter2" not in json.dumps(got)


@pytest.mark.req("MOVE-11", "MOVE-16")
async def test_two_bad_answers_then_a_good_one(bench: Bench) -> None:
    empty = {"candidates": [{"content": {"role": "model", "parts": []}, "finishReason": "STOP"}]}
    bench.local.script.on("generate", body_answer(empty), times=1)
    bench.answers += ["not json", decision("Third time.")]
    got = await MoveAgent(bench.gateway).decide(request_for(), bench.ledger)
    assert got.text == "Third time."
    assert len(bench.bodies) == 3


@pytest.mark.req("MOVE-11")
@pytest.mark.parametrize(
    "bad",
    ["", "no", '{"mode": "sing", "text": "x"}', '{"mode": "ask", "text": " "}', "x" * 200_000],
)
async def test_three_bad_answers_are_no_decision(bench: Bench, bad: str) -> None:
    bench.answers += [bad] * 3
    with pytest.raises(NoDecision) as failure:
        await MoveAgent(bench.gateway).decide(request_for(), bench.ledger)
    assert failure.value.attempts == 3
    assert len(bench.bodies) == 3


@pytest.mark.req("MOVE-18", "AUTH-17")
async def test_usage_is_summed_and_recorded_once(bench: Bench) -> None:
    def body(tokens: int, part: dict[str, Any]) -> dict[str, Any]:
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
        counts = {"promptTokenCount": tokens, "candidatesTokenCount": 1, "totalTokenCount": 9}
        return {"candidates": [candidate], "usageMetadata": counts}

    def second(request: dict[str, Any]) -> bool:
        return "functionResponse" in json.dumps(camel(request["contents"]))

    def first(request: dict[str, Any]) -> bool:
        return not second(request)

    step = {"functionCall": {"name": "get_topic_context", "args": {}}}
    bench.local.script.on("generate", body_answer(body(5, step)), where=first)
    bench.local.script.on("generate", body_answer(body(7, {"text": decision()})), where=second)
    await MoveAgent(bench.gateway).decide(request_for(), bench.ledger)
    assert bench.ledger.entries == [
        ("dialogueTurn", "gemini-3.8-flash", TokenUsage(12, 2, 0, 0, 18))
    ]


async def test_unusable_answers_are_paid_for_too(bench: Bench) -> None:
    bench.answers += ["no"] * 3
    with pytest.raises(NoDecision):
        await MoveAgent(bench.gateway).decide(request_for(), bench.ledger)
    [(_, _, usage)] = bench.ledger.entries
    assert usage.output == 3


@pytest.mark.parametrize(("status", "kind"), [(503, ModelUnavailable), (400, ModelRefused)])
async def test_a_failing_service_is_not_asked_again(
    bench: Bench, status: int, kind: type[Exception], caplog: pytest.LogCaptureFixture
) -> None:
    bench.local.script.on("generate", refuse(status))
    with caplog.at_level(logging.INFO), pytest.raises(kind):
        await MoveAgent(bench.gateway).decide(request_for(), bench.ledger)
    assert len(bench.bodies) == (3 if status == 503 else 1)
    assert not any(record.exc_info for record in caplog.records)
    assert KEY not in caplog.text


@pytest.mark.req("MOVE-11")
async def test_endless_tool_calls_are_bounded(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    def again(_: Any) -> Generated:
        return call("get_topic_context")

    bench.answers += [again] * 100
    with caplog.at_level(logging.INFO), pytest.raises(NoDecision):
        await MoveAgent(bench.gateway).decide(request_for(), bench.ledger)
    assert len(bench.bodies) == 3 * CALLS_PER_ATTEMPT
    assert not any(record.exc_info for record in caplog.records)


@pytest.mark.req("MOVE-27")
async def test_the_turn_log_has_no_words(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    bench.answers += [call("get_topic_context"), decision("A secret text.")]
    with caplog.at_level(logging.INFO):
        await MoveAgent(bench.gateway).decide(
            request_for(utterance="My private words."), bench.ledger
        )
    [record] = [r for r in caplog.records if r.message == "move turn"]
    fields = vars(record)
    assert (fields["mode"], fields["attempts"], fields["steps"]) == ("ask", 1, 2)
    assert fields["tools"] == ["get_topic_context"]
    assert fields["duration_ms"] >= 0
    everything = " ".join(f"{r.getMessage()} {vars(r)}" for r in caplog.records)
    assert "private words" not in everything
    assert "secret text" not in everything


@pytest.mark.req("OBS-7", "OBS-8", "OBS-6")
async def test_observer_mode_on_the_wire(bench: Bench) -> None:
    bench.answers.append(decision("Ask about salt next.", "reveal"))
    got = await MoveAgent(bench.gateway).decide(
        request_for(tutor_reply="Wind does it.", tutor_interrupted=True), bench.ledger
    )
    assert got.mode == "reveal"
    body = camel(bench.bodies[0])
    system = body["systemInstruction"]["parts"][0]["text"]
    assert "\nOBSERVER MODE\n" in system
    message = body["contents"][0]["parts"][0]["text"]
    assert message.split("\n") == [
        "LEARNER UTTERANCE",
        "| Is it the wind?",
        "TUTOR REPLY",
        "| Wind does it.",
        "(the reply was cut short; only these words were heard)",
    ]


async def test_braces_in_a_digest_are_left_alone(bench: Bench) -> None:
    bench.answers.append(decision())
    await MoveAgent(bench.gateway).decide(request_for(), bench.ledger)
    system = camel(bench.bodies[0])["systemInstruction"]["parts"][0]["text"]
    assert "| Currents carry heat {around} the globe." in system

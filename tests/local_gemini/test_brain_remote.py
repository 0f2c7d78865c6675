"""The optional chat endpoint: used when it answers, never depended on."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable

import httpx
import pytest

from agent.decision import parse_decision
from local_gemini.brain import LocalBrain, RemoteModel
from tests.local_gemini.bag_embedder import BagEmbedder
from tests.local_gemini.lesson_text import VACCINES, ground, live_instruction, move_request

Handler = Callable[[httpx.Request], httpx.Response]


def remote(handler: Handler, model: str = "m") -> RemoteModel:
    return RemoteModel("http://llm.invalid/v1/", model, transport=httpx.MockTransport(handler))


def says(text: str) -> Handler:
    return lambda request: httpx.Response(
        200, json={"choices": [{"message": {"role": "assistant", "content": text}}]}
    )


def test_a_mind_speaks_the_remote_words_and_sends_the_lesson() -> None:
    seen: list[dict[str, object]] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(json.loads(request.content))
        assert request.url.path == "/v1/chat/completions"
        return says("Hello you. What do you know about cells?")(request)

    local = LocalBrain(BagEmbedder())
    instruction = live_instruction(ground(local, VACCINES), "Socratic")
    mind = LocalBrain(BagEmbedder(), remote(handler)).mind(instruction)
    assert mind.answer("Hello") == ["Hello you.", "What do you know about cells?"]
    mind.heard("Hello you. What do you know about cells?", interrupted=False)
    mind.answer("They fight germs.")
    messages = seen[1]["messages"]
    assert isinstance(messages, list)
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert messages[0]["content"] == instruction


@pytest.mark.parametrize(
    "handler",
    [
        lambda request: httpx.Response(500),
        lambda request: httpx.Response(200, text="no json"),
        lambda request: httpx.Response(200, json={"choices": []}),
        lambda request: httpx.Response(200, json={"choices": [{"message": {"content": None}}]}),
        lambda request: httpx.Response(200, text="x" * 100_000),
        lambda request: (_ for _ in ()).throw(httpx.ConnectError("refused")),
    ],
    ids=["500", "no json", "no choice", "no content", "too long", "refused"],
)
def test_every_failure_falls_back_and_is_logged(
    handler: Handler, caplog: pytest.LogCaptureFixture
) -> None:
    local = LocalBrain(BagEmbedder())
    grounded = ground(local, VACCINES)
    brain = LocalBrain(BagEmbedder(), remote(handler))
    with caplog.at_level(logging.WARNING, logger="local_gemini.brain.remote"):
        assert ground(brain, VACCINES) == grounded
    assert "built-in tutor answers" in caplog.text
    instruction = live_instruction(grounded, "Socratic")
    assert brain.mind(instruction).answer("Hi") == local.mind(instruction).answer("Hi")


def test_a_failed_endpoint_is_left_alone_for_a_while() -> None:
    calls = 0

    def handler(request: httpx.Request) -> httpx.Response:
        nonlocal calls
        calls += 1
        return httpx.Response(503)

    model = remote(handler)
    assert model.complete("s", [("user", "a")]) is None
    assert model.complete("s", [("user", "b")]) is None
    assert calls == 1


def test_a_slow_answer_is_given_up() -> None:
    model = RemoteModel(
        "http://llm.invalid", "m", deadline_s=0.0, transport=httpx.MockTransport(says("late"))
    )
    assert model.complete("s", [("user", "a")]) is None


def test_the_first_listed_model_is_taken() -> None:
    asked: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/models"):
            return httpx.Response(200, json={"data": [{"id": "small"}]})
        asked.append(json.loads(request.content)["model"])
        return says("Yes.")(request)

    assert remote(handler, "").complete("s", [("user", "a")]) == "Yes."
    assert asked == ["small"]


def test_a_decision_without_json_is_not_taken_over() -> None:
    grounded = ground(LocalBrain(BagEmbedder()), VACCINES)
    request = move_request(grounded, "Socratic", {}, "")
    worded = LocalBrain(BagEmbedder(), remote(says("Sure, let us start!")))
    assert parse_decision(worded.generate("any", request).text or "").mode == "ask"
    fenced = '```json\n{"mode": "probe", "text": "Well?"}\n```'
    proper = LocalBrain(BagEmbedder(), remote(says(fenced)))
    assert parse_decision(proper.generate("any", request).text or "").text == "Well?"

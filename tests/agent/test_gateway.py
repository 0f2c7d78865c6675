"""The gateway over real TLS and the real SDK, against the scripted double."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agent.failures import (
    EmptyAnswer,
    ModelAnswerUnusable,
    ModelError,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
)
from agent.gemini import ModelGateway
from agent.live_token import EXTENDED_THINKING, LiveConstraints
from agent.usage import TokenUsage
from local_gemini.engine import Generated
from local_gemini.faults import answer, hang, refuse
from tests.agent.conftest import KEY, Bench

ANSWER = '{"digest": "d"}'


def camel(value: Any) -> Any:
    """Wire keys in one casing: the SDK mixes snake and camel."""
    if isinstance(value, dict):
        return {_camel(key): camel(item) for key, item in value.items()}
    return [camel(item) for item in value] if isinstance(value, list) else value


def _camel(key: str) -> str:
    head, *rest = key.split("_")
    return head + "".join(word.capitalize() for word in rest)


async def ask(bench: Bench, **more: Any) -> Any:
    return await bench.gateway.generate_json(
        model="gemini-3.8-flash",
        prompt="TASK x",
        thinking_level="low",
        key="digest",
        handler="h",
        record=bench.ledger,
        **more,
    )


@pytest.mark.req("DATA-58", "GRND-21")
@pytest.mark.parametrize("level", ["low", "medium", "high"])
async def test_level_and_cap_are_pinned(bench: Bench, level: str) -> None:
    bench.answers.append(ANSWER)
    await bench.gateway.generate_json(
        model="gemini-3.8-flash",
        prompt="p",
        thinking_level=level,
        key="digest",
        handler="h",
        record=bench.ledger,
    )
    generation = camel(bench.bodies[0])["generationConfig"]
    assert generation["thinkingConfig"]["thinkingLevel"] == level.upper()
    assert generation["maxOutputTokens"] == 2048
    assert generation["responseModalities"] == ["TEXT"]


@pytest.mark.parametrize("level", ["", "minimal", "off", "LOW"])
async def test_other_levels_are_a_mistake(bench: Bench, level: str) -> None:
    with pytest.raises(ValueError, match="thinking level"):
        await bench.gateway.generate(model="m", contents=[], thinking_level=level)
    assert not bench.local.requests


async def test_json_mime_only_without_search(bench: Bench) -> None:
    bench.answers += [ANSWER, ANSWER]
    await ask(bench)
    await ask(bench, search=True)
    plain, searching = (camel(body) for body in bench.bodies)
    assert plain["generationConfig"]["responseMimeType"] == "application/json"
    assert "tools" not in plain
    assert "responseMimeType" not in searching["generationConfig"]
    assert searching["tools"] == [{"googleSearch": {}}]


@pytest.mark.req("AUTH-18", "GRND-20")
async def test_usage_is_recorded_before_the_answer_is_judged(bench: Bench) -> None:
    bench.answers.append("no json here")
    with pytest.raises(ModelAnswerUnusable):
        await ask(bench)
    [(handler, model, usage)] = bench.ledger.entries
    assert (handler, model) == ("h", "gemini-3.8-flash")
    assert usage.input > 0
    assert usage.total >= usage.input + usage.output > usage.input


@pytest.mark.req("AUTH-18")
async def test_every_count_is_mapped(bench: Bench) -> None:
    counts = {
        "promptTokenCount": 11,
        "candidatesTokenCount": 7,
        "thoughtsTokenCount": 3,
        "cachedContentTokenCount": 2,
        "toolUsePromptTokenCount": 4,
        "totalTokenCount": 25,
    }
    content = {"role": "model", "parts": [{"text": ANSWER}]}
    body = {
        "candidates": [{"content": content, "finishReason": "STOP"}],
        "usageMetadata": counts,
    }
    bench.local.script.on("generate", answer(body), times=1)
    await ask(bench)
    assert bench.ledger.entries[0][2] == TokenUsage(15, 7, 3, 2, 25)


async def test_missing_counts_are_zero(bench: Bench) -> None:
    content = {"role": "model", "parts": [{"text": ANSWER}]}
    bench.local.script.on("generate", answer({"candidates": [{"content": content}]}), times=1)
    await ask(bench)
    assert bench.ledger.entries[0][2] == TokenUsage()


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
async def test_transient_failures_are_retried_twice(bench: Bench, status: int) -> None:
    bench.local.script.on("generate", refuse(status), times=2)
    bench.answers.append(ANSWER)
    assert (await ask(bench)).data == {"digest": "d"}
    assert [r.status for r in bench.local.requests] == [status, status, 200]


async def test_the_third_failure_is_final(bench: Bench) -> None:
    bench.local.script.on("generate", refuse(503))
    with pytest.raises(ModelUnavailable):
        await ask(bench)
    assert len(bench.local.requests) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404])
async def test_refusals_are_not_retried(bench: Bench, status: int) -> None:
    bench.local.script.on("generate", refuse(status))
    with pytest.raises(ModelRefused):
        await ask(bench)
    assert len(bench.local.requests) == 1


async def test_the_deadline_bounds_a_silent_service(bench: Bench) -> None:
    bench.local.script.on("generate", hang())
    contents = _user("hi")
    loop = asyncio.get_running_loop()
    started = loop.time()
    with pytest.raises(ModelTimeout):
        await bench.gateway.generate(
            model="m", contents=contents, thinking_level="low", deadline_s=0.3
        )
    assert loop.time() - started < 2.0


async def test_the_deadline_covers_the_retries(bench: Bench) -> None:
    bench.local.script.on("generate", refuse(503))
    slow = ModelGateway(
        lambda: KEY,
        bench.local.base_url,
        bench.local.ssl_context,
        deadline_s=0.3,
        retry_base_s=60.0,
    )
    try:
        with pytest.raises(ModelUnavailable):
            await slow.generate(model="m", contents=_user("hi"), thinking_level="low")
    finally:
        await slow.aclose()
    assert len(bench.local.requests) == 1


async def test_nobody_at_the_address(bench: Bench) -> None:
    lost = ModelGateway(
        lambda: KEY, "https://127.0.0.1:9", bench.local.ssl_context, retry_base_s=0.01
    )
    loop = asyncio.get_running_loop()
    started = loop.time()
    try:
        with pytest.raises(ModelUnavailable) as failure:
            await lost.generate(model="m", contents=_user("hi"), thinking_level="low")
    finally:
        await lost.aclose()
    assert failure.value.detail
    # The SDK's own retry would sleep for seconds.
    assert loop.time() - started < 1.0


@pytest.mark.req("AUTH-15")
async def test_the_key_is_read_at_every_use(bench: Bench) -> None:
    keys = iter(["first-key", "second-key", "second-key"])
    seen: list[str] = []

    def key() -> str:
        seen.append(next(keys))
        return seen[-1]

    gateway = ModelGateway(key, bench.local.base_url, bench.local.ssl_context)
    bench.answers += [ANSWER] * 3
    bench.local.house.api_key = "second-key"
    try:
        with pytest.raises(ModelRefused):
            await gateway.generate(model="m", contents=_user("hi"), thinking_level="low")
        for _ in range(2):
            await gateway.generate(model="m", contents=_user("hi"), thinking_level="low")
    finally:
        await gateway.aclose()
    assert seen == ["first-key", "second-key", "second-key"]


async def test_a_rotated_key_leaves_requests_in_flight_alone(bench: Bench) -> None:
    keys = iter(["first-key", "second-key"])
    gateway = ModelGateway(lambda: next(keys), bench.local.base_url, bench.local.ssl_context)
    started, release = asyncio.Event(), asyncio.Event()

    async def hold(stage: Any) -> None:
        started.set()
        await release.wait()

    bench.local.script.on("generate", hold, times=1)
    try:
        first = asyncio.ensure_future(
            gateway.generate(model="m", contents=_user("a"), thinking_level="low")
        )
        await started.wait()
        await gateway.generate(model="m", contents=_user("b"), thinking_level="low")
        release.set()
        assert (await first).candidates
    finally:
        release.set()
        await gateway.aclose()


@pytest.mark.req("API-50")
@pytest.mark.parametrize("status", [400, 403, 429, 500])
async def test_no_error_carries_the_key(bench: Bench, status: int) -> None:
    bench.local.script.on("generate", refuse(status, f"the key {KEY} is bad"))
    with pytest.raises(ModelError) as failure:
        await ask(bench)
    assert "[key]" in failure.value.detail
    text = f"{failure.value!r} {failure.value} {failure.value.detail}"
    assert KEY not in text
    assert KEY not in repr(vars(failure.value))


async def test_a_blocked_prompt_is_a_refusal(bench: Bench) -> None:
    body = {"promptFeedback": {"blockReason": "SAFETY"}}
    bench.local.script.on("generate", answer(body))
    with pytest.raises(ModelRefused) as failure:
        await ask(bench)
    assert failure.value.detail == "SAFETY"


@pytest.mark.req("MOVE-16")
async def test_an_empty_answer_tells_why(bench: Bench) -> None:
    parts = [{"text": "hm", "thought": True}]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "MAX_TOKENS"}
    bench.local.script.on("generate", answer({"candidates": [candidate]}))
    with pytest.raises(EmptyAnswer) as failure:
        await ask(bench)
    assert failure.value.finish_reason == "MAX_TOKENS"
    assert failure.value.part_kinds == ("thought",)


async def test_a_cut_answer_keeps_what_was_finished(bench: Bench) -> None:
    whole = {"digest": "d", "outline": [{"title": "A", "summary": "a"}, {"title": "B"}]}
    cut = json.dumps(whole)[:-14]
    bench.answers += [Generated(text=cut, finish_reason="MAX_TOKENS"), Generated(text=cut)]
    got = await ask(bench)
    assert got.cut
    assert got.data == {"digest": "d", "outline": [{"title": "A", "summary": "a"}]}
    with pytest.raises(ModelAnswerUnusable):
        await ask(bench)


async def test_no_hidden_continuation_requests(bench: Bench) -> None:
    """GENAI facts 5: the SDK would ask again, and bill again, on CONTINUATION."""
    candidate = {
        "content": {"role": "model", "parts": [{"text": ANSWER}]},
        "finishReason": "CONTINUATION",
        "continuationToken": "more",
    }
    bench.local.script.on("generate", answer({"candidates": [candidate]}))
    await ask(bench)
    assert len(bench.local.requests) == 1


async def test_one_vector_a_text(bench: Bench) -> None:
    for model in ("gemini-embedding-001", "gemini-embedding-2"):
        vectors = await bench.gateway.embed(
            ["one", "two", "three"], model=model, handler="h", record=bench.ledger
        )
        assert len(vectors) == 3
        assert len({len(vector) for vector in vectors}) == 1


async def test_speech_is_pcm(bench: Bench) -> None:
    pcm = await bench.gateway.speak(
        "hello there", "gemini-3.1-flash-tts-preview", handler="speak", record=bench.ledger
    )
    assert len(pcm) > 1000
    assert len(pcm) % 2 == 0
    [(handler, _, usage)] = bench.ledger.entries
    assert handler == "speak"
    assert usage.output > 0


@pytest.mark.req("API-35")
async def test_speech_without_sound_is_tried_three_times(bench: Bench) -> None:
    silent = {"candidates": [{"content": {"role": "model", "parts": [{"text": "sorry"}]}}]}
    bench.local.script.on("generate", answer(silent))
    with pytest.raises(ModelUnavailable):
        await bench.gateway.speak("hi", "tts", handler="speak", record=bench.ledger)
    assert len(bench.local.requests) == 3
    assert len(bench.ledger.entries) == 1


async def test_transcription_hears_the_recogniser(bench: Bench) -> None:
    words = await bench.gateway.transcribe(
        b"\x00\x10" * 16_000,
        model="gemini-3.8-flash",
        thinking_level="low",
        handler="hear",
        record=bench.ledger,
    )
    assert words == "I think it has to do with light."


@pytest.mark.req("API-33", "GOTCHA-17", "DATA-34")
async def test_a_token_carries_times_uses_and_constraints(bench: Bench) -> None:
    now = datetime.now(UTC)
    token = await bench.gateway.mint_live_token(
        LiveConstraints("gemini-3.8-live", "SECRET INSTRUCTION"),
        uses=5,
        expire_time=now + timedelta(minutes=30),
        new_session_expire_time=now + timedelta(minutes=5),
    )
    assert token.name.startswith("auth_tokens/")
    [request] = bench.local.requests
    body = camel(request.body)
    assert body["uses"] == 5
    assert body["expireTime"] > body["newSessionExpireTime"]
    assert "fieldMask" not in body
    setup = body["bidiGenerateContentSetup"]
    assert setup["model"] == "models/gemini-3.8-live"
    assert setup["generationConfig"] == {"responseModalities": ["AUDIO"]}
    assert setup["systemInstruction"]["parts"] == [{"text": "SECRET INSTRUCTION"}]
    activity = setup["realtimeInputConfig"]["automaticActivityDetection"]
    assert activity == {
        "disabled": False,
        "silenceDurationMs": 1500,
        "prefixPaddingMs": 300,
        "startOfSpeechSensitivity": "START_SENSITIVITY_HIGH",
        "endOfSpeechSensitivity": "END_SENSITIVITY_HIGH",
    }
    assert setup["inputAudioTranscription"] == setup["outputAudioTranscription"] == {}
    assert "SECRET" not in repr(token)
    assert token.name not in repr(token)


@pytest.mark.req("VOICE-10", "DATA-46")
@pytest.mark.parametrize(("model", "sent"), [("gemini-3.8-live", False), (EXTENDED_THINKING, True)])
async def test_only_extended_thinking_gets_a_level(bench: Bench, model: str, sent: bool) -> None:
    now = datetime.now(UTC)
    await bench.gateway.mint_live_token(
        LiveConstraints(model, "i", thinking_level="low", voice_name="Kore"),
        uses=1,
        expire_time=now + timedelta(minutes=30),
        new_session_expire_time=now + timedelta(minutes=5),
    )
    body = camel(bench.local.requests[0].body)
    generation = body["bidiGenerateContentSetup"]["generationConfig"]
    assert ("thinkingConfig" in generation) is sent
    assert "Kore" in json.dumps(generation["speechConfig"])


async def test_a_time_without_a_zone_is_a_mistake(bench: Bench) -> None:
    naive = datetime(2027, 1, 1)
    with pytest.raises(ValueError, match="zone"):
        await bench.gateway.mint_live_token(
            LiveConstraints("m", "i"), uses=1, expire_time=naive, new_session_expire_time=naive
        )


def _user(text: str) -> Any:
    from google.genai import types

    return [types.Content(role="user", parts=[types.Part(text=text)])]

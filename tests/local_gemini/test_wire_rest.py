"""The REST wire: errors in Google's shape, strict bodies, speech both ways, tokens, models."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import ssl
import sys
import wave
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
import pytest

from local_gemini.engine import Generated
from local_gemini.scripted import ScriptedEngine, tone
from local_gemini.server import LocalGemini
from tests.local_gemini.raw_client import SETUP, session, socket

KEY = {"x-goog-api-key": "test-key"}
HELLO = {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}


class Rest:
    def __init__(self, local: LocalGemini, http: aiohttp.ClientSession) -> None:
        self.local, self.http = local, http
        self._ssl = local.ssl_context

    async def post(self, path: str, body: Any, headers: Any = KEY) -> tuple[int, Any]:
        data = body if isinstance(body, str) else json.dumps(body)
        async with self.http.post(path, data=data, headers=headers, ssl=self._ssl) as response:
            return response.status, await response.json()

    async def get(self, path: str, headers: Any = KEY) -> tuple[int, Any]:
        async with self.http.get(path, headers=headers, ssl=self._ssl) as response:
            return response.status, await response.json()

    async def generate(self, body: Any, model: str = "gemini-3.8-flash") -> Any:
        status, answer = await self.post(f"/v1beta/models/{model}:generateContent", body)
        assert status == 200, answer
        return answer


def engine(**options: Any) -> ScriptedEngine:
    return ScriptedEngine(["what was said"], **options)


@pytest.fixture
async def rest() -> AsyncIterator[Rest]:
    async with (
        LocalGemini(engine()) as local,
        aiohttp.ClientSession(local.base_url) as http,
    ):
        yield Rest(local, http)


def parts(answer: Any) -> list[Any]:
    return answer["candidates"][0]["content"]["parts"]


async def test_a_text_answer_carries_its_usage(rest: Rest) -> None:
    answer = await rest.generate(HELLO)
    assert parts(answer) == [{"text": "You asked: hello"}]
    assert answer["candidates"][0]["finishReason"] == "STOP"
    usage = answer["usageMetadata"]
    assert (usage["promptTokenCount"], usage["candidatesTokenCount"]) == (2, 4)
    assert usage["totalTokenCount"] == 6
    assert usage["promptTokensDetails"] == [{"modality": "TEXT", "tokenCount": 2}]
    assert answer["modelVersion"] == "gemini-3.8-flash"


async def test_an_output_cap_cuts_and_says_so(rest: Rest) -> None:
    answer = await rest.generate({**HELLO, "generationConfig": {"maxOutputTokens": 2}})
    assert parts(answer) == [{"text": "You aske"}]
    assert answer["candidates"][0]["finishReason"] == "MAX_TOKENS"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"contents": []},
        {"contents": [{"role": "system", "parts": [{"text": "x"}]}]},
        {"contents": [{"role": "user", "parts": []}]},
        {**HELLO, "brandNew": 1},
        {**HELLO, "generationConfig": {"brandNew": 1}},
        "not json",
        "[]",
    ],
)
async def test_a_wrong_body_is_an_invalid_argument(rest: Rest, body: Any) -> None:
    status, answer = await rest.post("/v1beta/models/m:generateContent", body)
    assert status == 400
    assert answer["error"]["code"] == 400
    assert answer["error"]["status"] == "INVALID_ARGUMENT"
    assert answer["error"]["message"]


async def test_strangers_and_wrong_addresses_are_refused(rest: Rest) -> None:
    call = "/v1beta/models/m:generateContent"
    assert (await rest.post(call, HELLO, headers={}))[0] == 403
    assert (await rest.post(call, HELLO, headers={"x-goog-api-key": "auth_tokens/x"}))[0] == 401
    assert (await rest.post("/v1beta/models/m:brandNew", HELLO))[0] == 404
    assert (await rest.post("/v1beta/auth_tokens", {}))[0] == 404
    assert (await rest.get("/v1beta/models", headers={}))[0] == 403


async def test_a_fixed_key_is_the_only_one() -> None:
    async with (
        LocalGemini(engine(), api_key="right") as local,
        aiohttp.ClientSession(local.base_url) as http,
    ):
        rest = Rest(local, http)
        call = "/v1beta/models/m:generateContent"
        assert (await rest.post(call, HELLO, headers={"x-goog-api-key": "wrong"}))[0] == 400
        assert (await rest.post(call, HELLO, headers={"x-goog-api-key": "right"}))[0] == 200
        async with socket(local, key="wrong") as raw:
            assert await raw.closed() == 1007


async def test_text_becomes_speech(rest: Rest) -> None:
    body = {**HELLO, "generationConfig": {"responseModalities": ["AUDIO"]}}
    answer = await rest.generate(body, "gemini-3.1-flash-tts-preview")
    blob = parts(answer)[0]["inlineData"]
    assert blob["mimeType"] == "audio/L16;codec=pcm;rate=24000"
    assert base64.b64decode(blob["data"]) == tone(60)
    details = answer["usageMetadata"]["candidatesTokensDetails"]
    assert details == [{"modality": "AUDIO", "tokenCount": 2}]


def wav(pcm: bytes, rate: int) -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(pcm)
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "mime"),
    [
        (tone(1000, rate=16_000), "audio/pcm;rate=16000"),
        (tone(1000, rate=48_000), "audio/pcm;rate=48000"),
        (wav(tone(1000, rate=44_100), 44_100), "audio/wav"),
    ],
)
async def test_speech_becomes_text(data: bytes, mime: str) -> None:
    double = engine()
    blob = {"mime_type": mime, "data": base64.urlsafe_b64encode(data).decode()}
    body = {"contents": [{"role": "user", "parts": [{"text": "Write"}, {"inline_data": blob}]}]}
    async with (
        LocalGemini(double) as local,
        aiohttp.ClientSession(local.base_url) as http,
    ):
        rest = Rest(local, http)
        answer = await rest.generate(body)
        recorded = local.requests[0].body["contents"][0]["parts"][1]["inline_data"]["data"]
    assert parts(answer) == [{"text": "what was said"}]
    assert double.ears.heard_ms == [pytest.approx(1000, abs=30)]
    assert recorded.endswith("characters>")


async def test_sound_that_is_none_is_refused(rest: Rest) -> None:
    blob = {"mimeType": "audio/ogg", "data": base64.b64encode(b"nothing").decode()}
    body = {"contents": [{"role": "user", "parts": [{"inlineData": blob}]}]}
    status, _ = await rest.post("/v1beta/models/m:generateContent", body)
    assert status == 400


async def test_spoken_questions_are_answered_in_json_when_json_is_asked_for(rest: Rest) -> None:
    blob = {"mimeType": "audio/pcm", "data": base64.b64encode(tone(500, rate=16_000)).decode()}
    config = {"responseMimeType": "application/json"}
    body = {"contents": [{"role": "user", "parts": [{"inlineData": blob}]}]}
    answer = await rest.generate({**body, "generationConfig": config})
    assert json.loads(parts(answer)[0]["text"]) == {"text": "what was said"}


async def test_a_stream_is_the_same_answer_in_pieces(rest: Rest) -> None:
    words = " ".join(["word"] * 100)
    body = {"contents": [{"role": "user", "parts": [{"text": words}]}]}
    url = "/v1beta/models/m:streamGenerateContent?alt=sse"
    async with rest.http.post(url, json=body, headers=KEY, ssl=rest.local.ssl_context) as response:
        assert response.content_type == "text/event-stream"
        raw = await response.text()
    chunks = [json.loads(line.removeprefix("data: ")) for line in raw.split("\r\n\r\n") if line]
    assert len(chunks) > 2
    assert "".join(parts(chunk)[0]["text"] for chunk in chunks) == f"You asked: {words}"
    assert ["usageMetadata" in chunk for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    assert chunks[-1]["candidates"][0]["finishReason"] == "STOP"


async def test_embeddings_come_one_a_request_in_the_size_that_was_asked(rest: Rest) -> None:
    def request(text: str, **more: Any) -> Any:
        return {"model": "models/e", "content": {"parts": [{"text": text}]}, **more}

    body = {"requests": [request("a b", outputDimensionality=768), request("a"), request("a")]}
    status, answer = await rest.post("/v1beta/models/e:batchEmbedContents", body)
    assert status == 200
    vectors = [item["values"] for item in answer["embeddings"]]
    assert [len(vector) for vector in vectors] == [768, 256, 256]
    assert vectors[1] == vectors[2]
    for wrong in ([], [request("")], [request("a", outputDimensionality=0)], None):
        refused, _ = await rest.post("/v1beta/models/e:batchEmbedContents", {"requests": wrong})
        assert refused == 400


async def test_tokens_are_counted_and_models_described(rest: Rest) -> None:
    _, counted = await rest.post("/v1beta/models/m:countTokens", HELLO)
    assert counted["totalTokens"] == 2
    _, listed = await rest.get("/v1beta/models")
    names = [model["name"] for model in listed["models"]]
    assert "models/gemini-3.8-live" in names
    _, one = await rest.get("/v1beta/models/gemini-3.8-live")
    assert one["supportedGenerationMethods"] == ["bidiGenerateContent"]
    assert (await rest.get("/v1beta/models/unheard-of"))[0] == 404


async def test_grounding_metadata_and_function_calls_come_from_the_brain() -> None:
    grounding = {"webSearchQueries": ["q"]}
    calls = [{"name": "f", "args": {"user_id": 1}}]
    generated = Generated(text="t", function_calls=calls, grounding=grounding)
    async with (
        LocalGemini(engine(generate=lambda model, request: generated)) as local,
        aiohttp.ClientSession(local.base_url) as http,
    ):
        answer = await Rest(local, http).generate(HELLO)
    assert answer["candidates"][0]["groundingMetadata"] == grounding
    assert parts(answer)[0] == {"text": "t"}
    assert parts(answer)[1]["functionCall"] == calls[0]
    assert parts(answer)[1]["thoughtSignature"]


async def test_a_brain_that_fails_is_an_internal_error(caplog: pytest.LogCaptureFixture) -> None:
    def broken(model: str, request: Any) -> None:
        raise RuntimeError("no idea")

    async with (
        LocalGemini(engine(generate=broken)) as local,
        aiohttp.ClientSession(local.base_url) as http,
    ):
        status, answer = await Rest(local, http).post("/v1beta/models/m:generateContent", HELLO)
    assert (status, answer["error"]["status"]) == (500, "INTERNAL")
    assert "request failed" in caplog.text


async def test_nothing_is_remembered_when_people_talk_to_it() -> None:
    async with (
        LocalGemini(engine(), recorded=False) as local,
        aiohttp.ClientSession(local.base_url) as http,
    ):
        await Rest(local, http).generate(HELLO)
        async with session(local):
            pass
        assert (local.requests, local.sessions) == ([], [])


# --- ephemeral tokens -------------------------------------------------------------------------


async def test_a_token_opens_a_session_with_the_setup_it_locks(rest: Rest) -> None:
    body = {"uses": 1, "bidiGenerateContentSetup": SETUP}
    _, minted = await rest.post("/v1alpha/auth_tokens", body)
    asked = {"model": "models/gemini-3.8-live", "systemInstruction": {"parts": [{"text": "mine"}]}}
    options = {"key": minted["name"], "constrained": True, "version": "v1alpha"}
    async with session(rest.local, asked, **options) as raw:
        handle = (await raw.next())["sessionResumptionUpdate"]["newHandle"]
    brain = rest.local.house.engine.brain
    assert brain.minds[0].instruction == "You teach photosynthesis."  # type: ignore[attr-defined]
    async with socket(rest.local, **options) as raw:
        await raw.send({"setup": asked})
        assert await raw.closed() == 1008
        assert "too many times" in raw.close_reason
    async with session(rest.local, {**asked, "sessionResumption": {"handle": handle}}, **options):
        assert rest.local.sessions[2].resumed


async def test_an_expired_token_is_refused() -> None:
    now = datetime(2027, 1, 5, tzinfo=UTC)
    async with (
        LocalGemini(engine(), now=lambda: now) as local,
        aiohttp.ClientSession(local.base_url) as http,
    ):
        _, minted = await Rest(local, http).post("/v1alpha/auth_tokens", {})
        now += timedelta(minutes=31)
        async with socket(local, key=minted["name"], constrained=True) as raw:
            assert await raw.closed() == 1008
            assert "expired" in raw.close_reason


async def test_a_browser_may_put_its_token_into_the_address(rest: Rest) -> None:
    _, minted = await rest.post("/v1alpha/auth_tokens", {})
    url = (
        "/ws/google.ai.generativelanguage.v1alpha.GenerativeService.BidiGenerateContentConstrained"
        f"?access_token={minted['name']}"
    )
    async with rest.http.ws_connect(url, ssl=rest.local.ssl_context) as ws:
        await ws.send_json({"setup": SETUP})
        assert "setupComplete" in json.loads((await ws.receive()).data)


async def test_a_wrong_token_request_is_a_bad_request(rest: Rest) -> None:
    assert (await rest.post("/v1alpha/auth_tokens", {"uses": -1}))[0] == 400
    assert (await rest.post("/v1alpha/auth_tokens", {"liveConnectConstraints": {}}))[0] == 400


# --- the process ------------------------------------------------------------------------------


async def test_the_double_runs_by_itself(tmp_path: Any) -> None:
    file = tmp_path / "cert.pem"
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "local_gemini",
        "--scripted",
        "--cert-file",
        str(file),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(20):
            line = json.loads(await process.stdout.readline())
        assert file.read_text() == line["certificate"]
        context = ssl.create_default_context(cafile=str(file))
        async with (
            aiohttp.ClientSession(line["url"]) as http,
            http.get("/v1beta/models", headers=KEY, ssl=context) as response,
        ):
            assert response.status == 200
    finally:
        process.terminate()
        async with asyncio.timeout(10):
            assert await process.wait() == 0

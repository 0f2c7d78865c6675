"""`generateContent`: a request body in, a response body out. Text and function calls come from the
brain, speech from the voice, transcripts from the recogniser."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from typing import Any

from local_gemini.audio_in import pcm16k_of
from local_gemini.engine import RATE_HEARD, RATE_SPOKEN, Generated
from local_gemini.house import House
from local_gemini.models import bare
from local_gemini.setup import CONTENT, GENERATION
from local_gemini.usage import CHARS_PER_TOKEN, IMAGE_TOKENS, audio_tokens, details, text_tokens
from local_gemini.wire import (
    TTS_OUT,
    Json,
    WireError,
    base64,
    camel,
    check_fields,
    text_of,
    unbase64,
)

REQUEST: Mapping[str, Any] = {
    "contents": [CONTENT],
    "systemInstruction": CONTENT,
    "generationConfig": GENERATION,
    **dict.fromkeys(
        (
            "model",
            "tools",
            "toolConfig",
            "safetySettings",
            "cachedContent",
            "labels",
            "serviceTier",
            "store",
        )
    ),
}
# The stream is cut into about this many characters a chunk.
STREAM_CHARS = 120
THOUGHT_SIGNATURE = base64(b"local")
_BYTES_PER_MS_16K = RATE_HEARD * 2 // 1000
_BYTES_PER_MS_24K = RATE_SPOKEN * 2 // 1000


def request_of(body: Json) -> Json:
    """A checked body in camelCase. Raises WireError."""
    request: Json = camel(body)
    check_fields(request, REQUEST, "request")
    if not request.get("contents"):
        raise WireError("GenerateContentRequest.contents: contents is not specified")
    for content in request["contents"]:
        if content.get("role", "user") not in ("user", "model", "function"):
            raise WireError("Please use a valid role: user, model.")
        if not content.get("parts"):
            raise WireError("GenerateContentRequest.contents: parts must not be empty")
    return request


def prompt_tokens(request: Json) -> dict[str, int]:
    """By modality; media by what it lasts, function traffic by its length as text."""
    counts = {"TEXT": 0, "AUDIO": 0, "IMAGE": 0, "DOCUMENT": 0}
    for content in (request.get("systemInstruction") or {}, *request.get("contents", ())):
        for part in content.get("parts") or ():
            blob = part.get("inlineData")
            if blob:
                mime = str(blob.get("mimeType", ""))
                size = len(unbase64(blob.get("data")))
                if mime.startswith("audio/"):
                    counts["AUDIO"] += audio_tokens(size // _BYTES_PER_MS_16K)
                elif mime == "application/pdf":
                    counts["DOCUMENT"] += max(IMAGE_TOKENS, size // 64 // CHARS_PER_TOKEN)
                else:
                    counts["IMAGE"] += IMAGE_TOKENS
            else:
                text = part.get("text")
                counts["TEXT"] += text_tokens(text if text is not None else str(part))
    if request.get("tools"):
        counts["TEXT"] += text_tokens(str(request["tools"]))
    return counts


async def generate(house: House, model: str, request: Json) -> Json:
    """The whole answer. Raises WireError for what the model cannot do."""
    generation = request.get("generationConfig") or {}
    if generation.get("responseModalities") == ["AUDIO"]:
        return await _spoken(house, model, request)
    audio = _audio_parts(request)
    if audio:
        words = [await _words(house, blob) for blob in audio]
        if generation.get("responseMimeType") != "application/json":
            generated = Generated(text="\n".join(filter(None, words)))
            return _response(model, request, generated)
        request = _with_words(request, words)
    generated = await house.workers.think(house.engine.brain.generate, model, request)
    return _response(model, request, generated)


def streamed(response: Json) -> Iterator[Json]:
    """The same answer in pieces; the last one carries finishReason and usage."""
    candidate = response["candidates"][0]
    parts = candidate["content"]["parts"]
    text = "".join(part["text"] for part in parts if "text" in part)
    rest = [part for part in parts if "text" not in part]
    pieces = [text[at : at + STREAM_CHARS] for at in range(0, len(text), STREAM_CHARS)]
    for piece in pieces[:-1]:
        content = {"role": "model", "parts": [{"text": piece}]}
        yield {
            "candidates": [{"content": content, "index": 0}],
            "modelVersion": response["modelVersion"],
            "responseId": response["responseId"],
        }
    last = [{"text": pieces[-1]}] if pieces else []
    content = {"role": "model", "parts": last + rest}
    yield {**response, "candidates": [{**candidate, "content": content}]}


async def _spoken(house: House, model: str, request: Json) -> Json:
    """Text to speech: what the last content says, in one piece of L16."""
    text = text_of(request["contents"][-1]).strip()
    if not text:
        raise WireError("Model tried to generate speech without text.")
    pcm = await house.workers.speak(house.engine.voice.speak, text, lambda: True)
    part = {"inlineData": {"mimeType": TTS_OUT, "data": base64(pcm)}}
    reply = {"AUDIO": audio_tokens(len(pcm) // _BYTES_PER_MS_24K)}
    return _body(model, [part], "STOP", prompt_tokens(request), reply)


def _audio_parts(request: Json) -> list[Json]:
    parts = request["contents"][-1]["parts"]
    return [
        part["inlineData"]
        for part in parts
        if str((part.get("inlineData") or {}).get("mimeType", "")).startswith("audio/")
    ]


async def _words(house: House, blob: Json) -> str:
    data, mime = unbase64(blob.get("data")), str(blob["mimeType"])
    recognise = house.engine.recogniser.transcribe
    return (await house.workers.hear(lambda: recognise(pcm16k_of(data, mime)))).strip()


def _with_words(request: Json, words: list[str]) -> Json:
    """The request as the brain reads it: audio replaced by what was said in it."""
    waiting = iter(words)
    last = request["contents"][-1]
    parts = [
        {"text": next(waiting)}
        if str((part.get("inlineData") or {}).get("mimeType", "")).startswith("audio/")
        else part
        for part in last["parts"]
    ]
    return {**request, "contents": [*request["contents"][:-1], {**last, "parts": parts}]}


def _response(model: str, request: Json, generated: Generated) -> Json:
    text, finish = generated.text, generated.finish_reason
    limit = (request.get("generationConfig") or {}).get("maxOutputTokens")
    if text is not None and limit and text_tokens(text) > limit:
        text, finish = text[: limit * CHARS_PER_TOKEN], "MAX_TOKENS"
    parts: list[Json] = [{"text": text}] if text is not None else []
    for number, call in enumerate(generated.function_calls):
        part: Json = {"functionCall": {"args": {}, **call}}
        if number == 0:
            part["thoughtSignature"] = THOUGHT_SIGNATURE
        parts.append(part)
    reply = {"TEXT": sum(text_tokens(str(part.get("text", part))) for part in parts)}
    body = _body(model, parts, finish, prompt_tokens(request), reply)
    if generated.grounding:
        body["candidates"][0]["groundingMetadata"] = generated.grounding
    return body


def _body(
    model: str, parts: list[Json], finish: str, prompt: dict[str, int], reply: dict[str, int]
) -> Json:
    candidate = {
        "content": {"role": "model", "parts": parts},
        "finishReason": finish,
        "index": 0,
    }
    return {
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": sum(prompt.values()),
            "candidatesTokenCount": sum(reply.values()),
            "totalTokenCount": sum(prompt.values()) + sum(reply.values()),
            "promptTokensDetails": details(prompt),
            "candidatesTokensDetails": details(reply),
        },
        "modelVersion": bare(model),
        "responseId": secrets.token_urlsafe(12),
    }

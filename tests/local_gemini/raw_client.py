"""A Live client without an SDK: raw frames over `websockets`, in the order they came."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from local_gemini.scripted import tone
from local_gemini.server import LocalGemini

PATH = "/ws/google.ai.generativelanguage.{version}.GenerativeService.{method}"
DEADLINE_S = 10.0
# 0.3 s of quiet, 0.8 s of speech, 0.7 s of quiet: one utterance for a hold of 500 ms.
SPEECH = bytes(32 * 300) + tone(800, rate=16_000) + bytes(32 * 700)
SETUP: dict[str, Any] = {
    "model": "models/gemini-3.8-live",
    "generationConfig": {"responseModalities": ["AUDIO"]},
    "systemInstruction": {"parts": [{"text": "You teach photosynthesis."}]},
    "inputAudioTranscription": {},
    "outputAudioTranscription": {},
    "sessionResumption": {},
    "realtimeInputConfig": {
        "automaticActivityDetection": {"silenceDurationMs": 500, "prefixPaddingMs": 100}
    },
}
MANUAL: dict[str, Any] = {
    **SETUP,
    "realtimeInputConfig": {"automaticActivityDetection": {"disabled": True}},
}


class Raw:
    """`frames` are all server messages so far; audio is kept as bytes under `audio`."""

    def __init__(self, ws: ClientConnection) -> None:
        self.ws = ws
        self.frames: list[Any] = []
        self.close_code: int | None = None
        self.close_reason = ""

    async def send(self, message: Any) -> None:
        await self.ws.send(message if isinstance(message, str | bytes) else json.dumps(message))

    async def speak(self, pcm: bytes = SPEECH, chunk_ms: int = 40) -> None:
        step = 32 * chunk_ms
        for position in range(0, len(pcm), step):
            data = base64.urlsafe_b64encode(pcm[position : position + step]).decode()
            audio = {"data": data, "mimeType": "audio/pcm;rate=16000"}
            await self.send({"realtimeInput": {"audio": audio}})

    async def next(self) -> Any:
        """The next message as JSON (or bytes when it is none); None after the close."""
        try:
            async with asyncio.timeout(DEADLINE_S):
                data = await self.ws.recv(decode=False)
        except ConnectionClosed as closed:
            frame = closed.rcvd
            self.close_code = frame.code if frame else 1006
            self.close_reason = frame.reason if frame else ""
            return None
        try:
            frame_in = json.loads(data)
        except ValueError:
            frame_in = data
        self.frames.append(frame_in)
        return frame_in

    async def until(self, wanted: Callable[[Any], Any]) -> list[Any]:
        """Messages up to and including the wanted one; fails when the socket closes first."""
        seen: list[Any] = []
        while (message := await self.next()) is not None:
            seen.append(message)
            if isinstance(message, dict) and wanted(message):
                return seen
        raise AssertionError(f"closed {self.close_code} {self.close_reason!r} after {seen[-3:]}")

    async def turn(self) -> list[Any]:
        return await self.until(lambda message: content(message).get("turnComplete"))

    async def closed(self) -> int:
        """Reads to the end; the close code."""
        while await self.next() is not None:
            pass
        assert self.close_code is not None
        return self.close_code


def content(message: Any) -> dict[str, Any]:
    return message.get("serverContent", {}) if isinstance(message, dict) else {}


def audio_of(messages: list[Any]) -> bytes:
    out = b""
    for message in messages:
        for part in content(message).get("modelTurn", {}).get("parts", ()):
            if "inlineData" in part:
                out += base64.b64decode(part["inlineData"]["data"])
    return out


def words_of(messages: list[Any], key: str = "outputTranscription") -> str:
    return "".join(content(message).get(key, {}).get("text", "") for message in messages)


def kinds(messages: list[Any]) -> list[str]:
    """What each message is: its serverContent fields, or its top-level keys; repeats folded."""
    out: list[str] = []
    for message in messages:
        for name in content(message) or message:
            if not out or out[-1] != name:
                out.append(name)
    return out


@asynccontextmanager
async def socket(
    local: LocalGemini,
    *,
    key: str = "test-key",
    constrained: bool = False,
    version: str = "v1beta",
) -> AsyncIterator[Raw]:
    """A connection without a setup."""
    method = "BidiGenerateContentConstrained" if constrained else "BidiGenerateContent"
    url = local.base_url.replace("https", "wss") + PATH.format(version=version, method=method)
    async with connect(
        url,
        ssl=local.ssl_context,
        additional_headers={"x-goog-api-key": key} if key else {},
        compression=None,
        proxy=None,
        close_timeout=1,
        max_queue=None,
    ) as ws:
        yield Raw(ws)


@asynccontextmanager
async def session(
    local: LocalGemini, setup: dict[str, Any] | None = None, **options: Any
) -> AsyncIterator[Raw]:
    """A connection that is set up; setupComplete is read."""
    async with socket(local, **options) as raw:
        await raw.send({"setup": setup or SETUP})
        first = await raw.next()
        assert first is not None, f"refused: {raw.close_code} {raw.close_reason}"
        assert "setupComplete" in first, first
        yield raw


def resumed(handle: str) -> dict[str, Any]:
    return {**SETUP, "sessionResumption": {"handle": handle}}

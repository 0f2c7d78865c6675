"""One open Gemini Live session on its raw socket, behind the Live port.

The SDK spends 70 to 200 us of CPU on a message and its reader stops at every completed turn;
reading and writing `session._ws` costs 3 to 15 us and hears everything. That one private name is
pinned by tests/media/live/test_gemini_session.py. Nothing of pydantic is on the hot path.
"""

from __future__ import annotations

import asyncio
import json
from binascii import b2a_base64
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from google.genai.live import AsyncSession
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, WebSocketException

from media.live.capabilities import Capabilities, Seeding, Typing
from media.live.frames import parse
from media.live.port import (
    Interaction,
    LiveClosed,
    LiveEvent,
    LiveRefused,
    LiveSetup,
    TurnComplete,
)

CLOSE_S = 1.0
UNREACHABLE = 0

_AUDIO_HEAD = '{"realtimeInput":{"audio":{"mimeType":"audio/pcm;rate=16000","data":"'
_AUDIO_TAIL = '"}}}'
_STREAM_END = '{"realtimeInput":{"audioStreamEnd":true}}'
_ACTIVITY_START = '{"realtimeInput":{"activityStart":{}}}'
_ACTIVITY_END = '{"realtimeInput":{"activityEnd":{}}}'


class GeminiSession:
    """One open Live session on its raw socket."""

    def __init__(
        self,
        opening: AbstractAsyncContextManager[AsyncSession],
        session: AsyncSession,
        setup: LiveSetup,
        row: Capabilities,
        watch: Callable[[str | bytes], None] | None = None,
    ) -> None:
        self._opening: AbstractAsyncContextManager[AsyncSession] | None = opening
        self._ws: ClientConnection = session._ws  # pinned by test_gemini_socket.py
        self._setup = setup
        self._row, self._watch = row, watch
        self._in_progress = False
        self._answered = session.setup_complete is not None

    async def seed(self) -> None:
        """Sends the past turns, which nobody answers. Raises LiveClosed, LiveRefused."""
        if not self._answered:
            raise LiveRefused(UNREACHABLE, "the first message was not setupComplete")
        seeds = self._setup.seeds
        if not seeds:
            return
        history = self._row.seeding is Seeding.HISTORY
        turns: list[object] = [_turn(seed.role, seed.text) for seed in seeds]
        if not history and seeds[-1].role != "user":
            turns.pop()  # uncompleted content must end with a user turn
        await self._send_json({"clientContent": {"turns": turns, "turnComplete": history}})

    async def send_audio(self, pcm: bytes) -> None:
        encoded = b2a_base64(pcm, newline=False).decode("ascii")
        await self._send(_AUDIO_HEAD + encoded + _AUDIO_TAIL)

    async def send_silence_end(self) -> None:
        if self._setup.vad_enabled and self._row.audio_stream_end:
            await self._send(_STREAM_END)

    async def send_activity(self, started: bool) -> None:
        if not self._setup.vad_enabled:
            await self._send(_ACTIVITY_START if started else _ACTIVITY_END)

    async def send_prompt(self, text: str) -> None:
        if self._row.typing is Typing.CONTENT:
            content = {"turns": [_turn("user", text)], "turnComplete": True}
            await self._send_json({"clientContent": content})
        else:
            await self._send_json({"realtimeInput": {"text": text}})

    async def send_realtime_text(self, text: str) -> None:
        await self._send_json({"realtimeInput": {"text": text}})

    async def send_context(self, text: str) -> None:
        """The exact shape of OBS-19. Models without silent context get nothing."""
        if text.strip() and self._row.context_mid_session:
            content = {"turns": [_turn("user", text)], "turnComplete": False}
            await self._send_json({"clientContent": content})

    async def send_tool_response(
        self, call_id: str, name: str, response: dict[str, object]
    ) -> None:
        answer = {"id": call_id, "name": name, "response": response}
        await self._send_json({"toolResponse": {"functionResponses": [answer]}})

    async def receive(self) -> tuple[LiveEvent, ...]:
        try:
            frame = await self._ws.recv()
        except ConnectionClosed as closed:
            raise closed_by(closed) from closed
        if self._watch is not None:
            self._watch(frame)
        events = parse(frame, in_progress=self._in_progress)
        for event in events:
            if isinstance(event, TurnComplete):
                self._in_progress = event.interaction is Interaction.IN_PROGRESS
        return events

    async def close(self) -> None:
        opening, self._opening = self._opening, None
        if opening is None:
            return
        try:
            async with asyncio.timeout(CLOSE_S):
                await opening.__aexit__(None, None, None)
        except (TimeoutError, WebSocketException, OSError):
            # A peer that is gone cannot be told; the abort below frees the socket.
            pass
        finally:
            self._ws.transport.abort()

    async def _send_json(self, message: dict[str, object]) -> None:
        await self._send(json.dumps(message, ensure_ascii=False, separators=(",", ":")))

    async def _send(self, text: str) -> None:
        try:
            await self._ws.send(text)
        except ConnectionClosed as closed:
            raise closed_by(closed) from closed


def _turn(role: str, text: str) -> dict[str, object]:
    return {"role": role, "parts": [{"text": text}]}


def closed_by(error: ConnectionClosed) -> LiveClosed:
    """Who ended it: the one whose close frame came first; nobody's means the line broke (1006)."""
    if error.rcvd is not None and (error.sent is None or error.rcvd_then_sent):
        return LiveClosed(error.rcvd.code, error.rcvd.reason, "peer")
    if error.sent is not None:
        return LiveClosed(error.sent.code, error.sent.reason, "local")
    return LiveClosed(1006, "", "tcp")

"""Gemini Live behind the Live port: the SDK connects and sets up, the socket itself does the rest.

The SDK spends 70 to 200 us of CPU on a message and its reader stops at every completed turn;
reading and writing `session._ws` costs 3 to 15 us and hears everything. That one private name is
pinned by tests/media/live/test_gemini_socket.py. Nothing of pydantic is on the hot path.
"""

from __future__ import annotations

import asyncio
import functools
import json
import ssl
from binascii import b2a_base64
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import NoReturn
from urllib.parse import urlsplit

from google import genai
from google.genai import errors, types
from google.genai.live import AsyncSession
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from media.live.capabilities import (
    Capabilities,
    Seeding,
    SetupInvalid,
    Typing,
    capabilities_of,
    validated,
)
from media.live.frames import parse
from media.live.port import (
    Interaction,
    LiveClosed,
    LiveEvent,
    LiveRefused,
    LiveSession,
    LiveSetup,
    TurnComplete,
)
from media.live.setup import live_config, model_path

GOOGLE_BASE_URL = "https://generativelanguage.googleapis.com"
# Explicit: the SDK's next major version changes its default to one without the preview models.
API_VERSION = "v1beta"

CONNECT_S = 10.0
OPEN_S = 8.0
CLOSE_S = 1.0
# The service answers pings late (8 to 30 s seen), so that a short timeout kills living sessions.
PING_INTERVAL_S = 20
PING_TIMEOUT_S = 60
MAX_FRAME_BYTES = 8 * 2**20
MAX_QUEUED_FRAMES = 64
REASON_CHARS = 300

SETUP_TIMED_OUT = 504
NO_KEY = 401
UNREACHABLE = 0
# A setup that is wrong in itself is as final as the service's own "invalid argument".
SETUP_INVALID = 1007

_AUDIO_HEAD = '{"realtimeInput":{"audio":{"mimeType":"audio/pcm;rate=16000","data":"'
_AUDIO_TAIL = '"}}}'
_STREAM_END = '{"realtimeInput":{"audioStreamEnd":true}}'
_ACTIVITY_START = '{"realtimeInput":{"activityStart":{}}}'
_ACTIVITY_END = '{"realtimeInput":{"activityEnd":{}}}'


class GeminiConnector:
    """Opens Live sessions. The key is asked for at every use; one client serves one key.

    `base_url` None is Google's; `ssl_context` None is one default context for the process. For the
    live probe: `row` stands in for the capability table, and `watch` sees every received frame.
    """

    def __init__(
        self,
        *,
        api_key: Callable[[], str],
        base_url: str | None = None,
        ssl_context: ssl.SSLContext | None = None,
        row: Capabilities | None = None,
        watch: Callable[[str | bytes], None] | None = None,
    ) -> None:
        self._row, self._watch = row, watch
        self._api_key = api_key
        self._base_url = (base_url or GOOGLE_BASE_URL).rstrip("/")
        self._ssl_context = ssl_context
        self._client: tuple[str, genai.Client] | None = None

    async def connect(self, setup: LiveSetup) -> LiveSession:
        """Opens a session, waits for `setupComplete`, sends the seeds. Raises LiveRefused.

        Codes: close code, HTTP status of a refused upgrade, 504 without an answer in 10 s, 1007
        for a setup that is invalid here already, 0 for a network error.
        """
        try:
            row = self._row or capabilities_of(setup.model)
            setup = validated(setup, row)
            config = live_config(setup, row)
        except SetupInvalid as problem:
            raise LiveRefused(SETUP_INVALID, str(problem)) from problem
        opening = self._for_key().aio.live.connect(model=model_path(setup), config=config)
        session: GeminiSession | None = None
        try:
            async with asyncio.timeout(CONNECT_S):
                inner = await opening.__aenter__()
                session = GeminiSession(opening, inner, setup, row, self._watch)
                await session.seed()
        except BaseException as error:
            if session is not None:
                await session.close()
            if isinstance(error, Exception):  # the adapter's edge: foreign errors end here
                _refuse(error)
            raise
        return session

    def warm(self) -> None:
        """Builds the client and pays the SDK's one-time costs (0.2 to 0.4 s of CPU) at start."""
        warm(self._for_key())

    def _for_key(self) -> genai.Client:
        key = self._api_key()
        if not key:
            raise LiveRefused(NO_KEY, "no API key is configured")
        if self._client is None or self._client[0] != key:
            context = self._ssl_context or _default_context()
            self._client = (key, live_client(key, self._base_url, context))
        return self._client[1]


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
            raise _closed(closed) from closed
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
            raise _closed(closed) from closed


def live_client(api_key: str, base_url: str, context: ssl.SSLContext) -> genai.Client:
    """A client whose sockets keep our limits; `async_client_args` is the SDK's only way to them."""
    socket: dict[str, object] = {
        "ssl": context,
        "verify": context,
        "compression": None,
        "ping_interval": PING_INTERVAL_S,
        "ping_timeout": PING_TIMEOUT_S,
        "max_size": MAX_FRAME_BYTES,
        "max_queue": MAX_QUEUED_FRAMES,
        "open_timeout": OPEN_S,
        "close_timeout": CLOSE_S,
    }
    if urlsplit(base_url).hostname in ("127.0.0.1", "localhost", "::1"):
        socket["proxy"] = None  # the library sends even loopback through HTTPS_PROXY
    options = types.HttpOptions(
        base_url=base_url,
        api_version=API_VERSION,
        client_args={"verify": context},
        async_client_args=socket,
    )
    return genai.Client(vertexai=False, api_key=api_key, http_options=options)


def warm(client: genai.Client) -> None:
    """Pays the SDK's deferred model builds once, so that no first session does it on the loop."""
    config = live_config(LiveSetup(model="gemini-3.8-live", instruction="warm"))
    types.LiveConnectParameters(model="models/warm", config=config).model_dump(exclude_none=True)
    types.LiveServerMessage._from_response(
        response={"setupComplete": {"sessionId": "warm"}}, kwargs=config.model_dump()
    )
    # Touching it builds the asynchronous side of the client.
    _ = client.aio.live


@functools.cache
def _default_context() -> ssl.SSLContext:
    return ssl.create_default_context()


def _turn(role: str, text: str) -> dict[str, object]:
    return {"role": role, "parts": [{"text": text}]}


def _closed(error: ConnectionClosed) -> LiveClosed:
    """Who ended it: the one whose close frame came first; nobody's means the line broke (1006)."""
    if error.rcvd is not None and (error.sent is None or error.rcvd_then_sent):
        return LiveClosed(error.rcvd.code, error.rcvd.reason, "peer")
    if error.sent is not None:
        return LiveClosed(error.sent.code, error.sent.reason, "local")
    return LiveClosed(1006, "", "tcp")


def _refuse(error: Exception) -> NoReturn:
    """Raises `error` as the LiveRefused it amounts to; an error of our own code stays itself."""
    match error:
        case LiveRefused():
            raise error
        case TimeoutError():
            reason = f"setupComplete did not arrive within {CONNECT_S:g} s"
            raise LiveRefused(SETUP_TIMED_OUT, reason) from error
        case InvalidStatus():
            body = (error.response.body or b"").decode(errors="replace")
            text = body[:REASON_CHARS] or error.response.reason_phrase
            raise LiveRefused(error.response.status_code, text) from error
        case errors.APIError():
            raise LiveRefused(error.code, str(error.details or error)[:REASON_CHARS]) from error
        case ConnectionClosed():
            closed = _closed(error)
            raise LiveRefused(closed.code, closed.reason) from error
        case LiveClosed():
            raise LiveRefused(error.code, error.reason) from error
        case WebSocketException() | OSError():
            text = f"{type(error).__name__}: {error}"[:REASON_CHARS]
            raise LiveRefused(UNREACHABLE, text) from error
        case ValueError():
            raise LiveRefused(UNREACHABLE, "the first message could not be read") from error
        case _:
            raise error

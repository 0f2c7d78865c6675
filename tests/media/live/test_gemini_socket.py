"""The Gemini adapter on a real TLS websocket whose every frame the test decides."""

from __future__ import annotations

import asyncio
import base64
import inspect
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any

import pytest
from google.genai.live import AsyncSession
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

from local_gemini.certificate import self_signed
from media.live import gemini
from media.live.gemini import GeminiConnector
from media.live.port import (
    Interaction,
    LiveClosed,
    LiveEvent,
    LiveRefused,
    LiveSession,
    LiveSetup,
    PlainText,
    ReplyAudio,
    Seed,
    ToolCall,
    TurnComplete,
    Unknown,
)

SETUP = LiveSetup(model="gemini-3.8-live", instruction="Be kind.")
Behaviour = Callable[["Wire"], Awaitable[None]]


@dataclass
class Wire:
    """One connection as the server sees it."""

    socket: ServerConnection
    first: dict[str, Any]

    async def ready(self) -> None:
        await self.socket.send(b'{"setupComplete":{"sessionId":"s"}}')

    async def next(self) -> str:
        frame = await self.socket.recv()
        assert isinstance(frame, str)
        return frame


@dataclass
class Service:
    base_url: str
    context: ssl.SSLContext
    keys: list[str | None] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    extensions: list[str | None] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)

    def connector(self, key: Callable[[], str] = lambda: "key") -> GeminiConnector:
        return GeminiConnector(api_key=key, base_url=self.base_url, ssl_context=self.context)


async def ready(wire: Wire) -> None:
    await wire.ready()
    await wire.socket.wait_closed()


@asynccontextmanager
async def served(
    behave: Behaviour = ready, status: HTTPStatus | None = None
) -> AsyncIterator[Service]:
    certificate = self_signed()
    service: Service

    def admit(socket: ServerConnection, request: Request) -> Response | None:
        service.keys.append(request.headers.get("x-goog-api-key"))
        service.paths.append(request.path)
        service.extensions.append(request.headers.get("Sec-WebSocket-Extensions"))
        return socket.respond(status, "Quota exceeded for requests") if status else None

    async def handle(socket: ServerConnection) -> None:
        wire = Wire(socket, json.loads(await socket.recv()))
        service.wires.append(wire)
        await behave(wire)

    async with serve(
        handle, "127.0.0.1", 0, ssl=certificate.server_context, process_request=admit
    ) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        service = Service(f"https://127.0.0.1:{port}", certificate.client_context())
        yield service


async def everything(session: LiveSession) -> tuple[list[LiveEvent], LiveClosed]:
    """All events until the session ends, and how it ended."""
    heard: list[LiveEvent] = []
    while True:
        try:
            heard += await session.receive()
        except LiveClosed as closed:
            return heard, closed


def test_the_one_private_name_of_the_sdk_is_where_we_expect_it() -> None:
    source = inspect.getsource(AsyncSession.__init__)
    assert "self._ws = websocket" in source


@pytest.mark.req(
    "VOICE-5", "VOICE-6", "VOICE-7", "VOICE-8", "VOICE-9", "VOICE-10", "VOICE-48", "GOTCHA-2"
)
async def test_the_setup_frame_of_the_defaults_is_golden() -> None:
    async with served() as service:
        session = await service.connector().connect(SETUP)
        await session.close()
        assert service.wires[0].first == {
            "setup": {
                "model": "models/gemini-3.8-live",
                "generationConfig": {"responseModalities": ["AUDIO"]},
                "systemInstruction": {"parts": [{"text": "Be kind."}], "role": "user"},
                "sessionResumption": {},
                "inputAudioTranscription": {},
                "outputAudioTranscription": {},
                "realtimeInputConfig": {
                    "automatic_activity_detection": {
                        "disabled": False,
                        "start_of_speech_sensitivity": "START_SENSITIVITY_HIGH",
                        "end_of_speech_sensitivity": "END_SENSITIVITY_HIGH",
                        "prefix_padding_ms": 300,
                        "silence_duration_ms": 1500,
                    },
                    "turn_coverage": "TURN_INCLUDES_ONLY_ACTIVITY",
                },
                "contextWindowCompression": {
                    "trigger_tokens": 32_002,
                    "sliding_window": {"target_tokens": 16_002},
                },
            }
        }
        path = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
        assert service.paths == [path]
        assert service.keys == ["key"]
        assert service.extensions == [None]


@pytest.mark.req("VOICE-9", "VOICE-10", "VOICE-4")
async def test_the_setup_frame_of_a_resumed_thinking_session_is_golden() -> None:
    full = replace(
        SETUP,
        model="gemini-3.8-live-extended-thinking",
        vad_enabled=False,
        voice_name="Kore",
        thinking_level="MEDIUM",
        handle="h",
        seeds=(Seed("user", "a"),),
    )
    async with served() as service:
        session = await service.connector().connect(full)
        await session.close()
        setup = service.wires[0].first["setup"]
        assert setup["generationConfig"] == {
            "responseModalities": ["AUDIO"],
            "speechConfig": {"voice_config": {"prebuilt_voice_config": {"voice_name": "Kore"}}},
            "thinkingConfig": {"thinking_level": "MEDIUM"},
        }
        assert setup["sessionResumption"] == {"handle": "h"}
        assert setup["realtimeInputConfig"]["automatic_activity_detection"]["disabled"] is True
        assert "historyConfig" not in setup


@pytest.mark.parametrize(
    ("model", "resumption", "present"),
    [
        ("gemini-3.8-live", True, True),
        ("gemini-3.8-live", False, False),
        ("gemini-2.5-flash-native-audio-preview", True, False),
        ("model-of-tomorrow", True, False),
    ],
)
async def test_an_empty_resumption_goes_only_to_models_that_take_it(
    model: str, resumption: bool, present: bool
) -> None:
    async with served() as service:
        connector = service.connector()
        session = await connector.connect(replace(SETUP, model=model, resumption=resumption))
        await session.close()
        assert ("sessionResumption" in service.wires[0].first["setup"]) is present


@pytest.mark.req("OBS-19", "OBS-20")
async def test_every_sent_frame_byte_by_byte() -> None:
    got: list[str] = []
    done = asyncio.Event()

    async def record(wire: Wire) -> None:
        await wire.ready()
        for _ in range(6):
            got.append(await wire.next())
        done.set()

    async with served(record) as service:
        session = await service.connector().connect(replace(SETUP, vad_enabled=False))
        await session.send_activity(True)
        await session.send_audio(b"\xfb\xef\xbe\xff")
        await session.send_activity(False)
        await session.send_silence_end()  # not with manual activity
        await session.send_context("[TUTOR STATE UPDATE]\nNote: “so”")
        await session.send_context("  ")
        await session.send_prompt("typed")
        await session.send_tool_response("c1", "lookup", {"user_id": 1})
        await done.wait()
        await session.close()
    assert got == [
        '{"realtimeInput":{"activityStart":{}}}',
        '{"realtimeInput":{"audio":{"mimeType":"audio/pcm;rate=16000","data":"++++/w=="}}}',
        '{"realtimeInput":{"activityEnd":{}}}',
        '{"clientContent":{"turns":[{"role":"user","parts":[{"text":'
        '"[TUTOR STATE UPDATE]\\nNote: “so”"}]}],"turnComplete":false}}',
        '{"clientContent":{"turns":[{"role":"user","parts":[{"text":"typed"}]}],'
        '"turnComplete":true}}',
        '{"toolResponse":{"functionResponses":[{"id":"c1","name":"lookup",'
        '"response":{"user_id":1}}]}}',
    ]
    assert base64.b64decode("++++/w==") == b"\xfb\xef\xbe\xff"


@pytest.mark.parametrize(
    ("model", "sent"),
    [
        (
            "gemini-3.1-flash-live-preview",
            ['{"realtimeInput":{"text":"typed"}}', '{"realtimeInput":{"audioStreamEnd":true}}'],
        ),
        ("model-of-tomorrow", ['{"realtimeInput":{"text":"typed"}}']),
    ],
)
async def test_models_without_client_content_get_realtime_text_and_no_update(
    model: str, sent: list[str]
) -> None:
    got: list[str] = []

    async def record(wire: Wire) -> None:
        await wire.ready()
        async for frame in wire.socket:
            got.append(str(frame))

    async with served(record) as service:
        session = await service.connector().connect(replace(SETUP, model=model))
        await session.send_context("update")
        await session.send_activity(True)  # the service's own detection is on
        await session.send_prompt("typed")
        await session.send_silence_end()
        await session.close()
    assert got == sent


SEEDS = (Seed("user", "q"), Seed("model", "a"))


@pytest.mark.parametrize(
    ("model", "history", "content"),
    [
        (
            "gemini-3.8-live",
            {"initial_history_in_client_content": True},
            {
                "turns": [
                    {"role": "user", "parts": [{"text": "q"}]},
                    {"role": "model", "parts": [{"text": "a"}]},
                ],
                "turnComplete": True,
            },
        ),
        (
            "gemini-2.5-flash-native-audio-preview",
            None,
            {"turns": [{"role": "user", "parts": [{"text": "q"}]}], "turnComplete": False},
        ),
    ],
)
async def test_past_turns_are_sent_before_anything_else(
    model: str, history: object, content: object
) -> None:
    got: asyncio.Queue[str] = asyncio.Queue()

    async def record(wire: Wire) -> None:
        await wire.ready()
        got.put_nowait(await wire.next())

    async with served(record) as service:
        session = await service.connector().connect(replace(SETUP, model=model, seeds=SEEDS))
        assert json.loads(await got.get()) == {"clientContent": content}
        assert service.wires[0].first["setup"].get("historyConfig") == history
        await session.close()


@pytest.mark.req("VOICE-20", "VOICE-23")
async def test_reading_goes_on_after_turns_and_after_frames_that_nobody_knows() -> None:
    async def talk(wire: Wire) -> None:
        await wire.ready()
        for frame in (
            b'{"brandNew":{}}',
            "not json",
            '{"serverContent":{"turnComplete":true,"interactionStatus":"IN_PROGRESS"}}',
            b'{"interactionStatus":"IDLE"}',
            bytes(960),
            '{"serverContent":{"modelTurn":{"parts":[{"text":"words"}]}}}',
            b'{"toolCall":{"functionCalls":[{"id":"1","name":"f"}]}}',
        ):
            await wire.socket.send(frame)
        await wire.socket.close(1011, "internal")

    async with served(talk) as service:
        session = await service.connector().connect(SETUP)
        heard, ended = await everything(session)
        assert heard == [
            Unknown(("brandNew",)),
            Unknown(("malformed",)),
            TurnComplete(Interaction.IN_PROGRESS),
            TurnComplete(),
            ReplyAudio(bytes(960)),
            PlainText("words"),
            ToolCall("1", "f"),
        ]
        assert (ended.code, ended.reason, ended.by) == (1011, "internal", "peer")
        with pytest.raises(LiveClosed):
            await session.send_audio(bytes(640))
        await session.close()
        await session.close()


async def test_a_line_that_breaks_is_1006_by_nobody() -> None:
    async def vanish(wire: Wire) -> None:
        await wire.ready()
        wire.socket.transport.abort()

    async with served(vanish) as service:
        session = await service.connector().connect(SETUP)
        _, ended = await everything(session)
        assert (ended.code, ended.by) == (1006, "tcp")
        await session.close()


async def test_receiving_can_be_cancelled_without_losing_a_frame() -> None:
    go = asyncio.Event()

    async def late(wire: Wire) -> None:
        await wire.ready()
        await go.wait()
        await wire.socket.send('{"goAway":{"timeLeft":"1s"}}')
        await wire.socket.wait_closed()

    async with served(late) as service:
        session = await service.connector().connect(SETUP)
        reading = asyncio.create_task(session.receive())
        await asyncio.sleep(0)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        go.set()
        assert len(await session.receive()) == 1
        await session.close()


@pytest.mark.parametrize(
    ("status", "code"), [(HTTPStatus.TOO_MANY_REQUESTS, 429), (HTTPStatus.FORBIDDEN, 403)]
)
async def test_a_refused_upgrade_tells_status_and_text(status: HTTPStatus, code: int) -> None:
    async with served(status=status) as service:
        with pytest.raises(LiveRefused) as refused:
            await service.connector().connect(SETUP)
        assert refused.value.code == code
        assert "Quota exceeded" in refused.value.reason


@pytest.mark.parametrize("seeds", [(), SEEDS])
async def test_a_close_during_setup_tells_code_and_reason(seeds: tuple[Seed, ...]) -> None:
    async def close(wire: Wire) -> None:
        await wire.socket.close(1007, "Request contains an invalid argument.")

    async with served(close) as service:
        with pytest.raises(LiveRefused) as refused:
            await service.connector().connect(replace(SETUP, seeds=seeds))
        assert refused.value.code == 1007
        assert refused.value.reason == "Request contains an invalid argument."


async def test_other_first_messages_refuse_the_session() -> None:
    for frame in ('{"serverContent":{}}', "not json", '{"brandNew":{}}'):

        async def odd(wire: Wire, frame: str = frame) -> None:
            await wire.socket.send(frame)
            await wire.socket.wait_closed()

        async with served(odd) as service:
            with pytest.raises(LiveRefused) as refused:
                await service.connector().connect(SETUP)
            assert refused.value.code == 0
            async with asyncio.timeout(5):
                await service.wires[0].socket.wait_closed()


@pytest.mark.req("VOICE-62")
async def test_a_setup_without_an_answer_ends_at_the_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert gemini.CONNECT_S == 10.0
    monkeypatch.setattr(gemini, "CONNECT_S", 0.3)

    async def silent(wire: Wire) -> None:
        await wire.socket.wait_closed()

    async with served(silent) as service:
        with pytest.raises(LiveRefused) as refused:
            await service.connector().connect(SETUP)
        assert refused.value.code == 504


async def test_nobody_there_is_a_network_error() -> None:
    async with served() as service:
        pass
    with pytest.raises(LiveRefused) as refused:
        await service.connector().connect(SETUP)
    assert refused.value.code == 0


async def test_an_invalid_setup_never_reaches_the_service() -> None:
    async with served() as service:
        with pytest.raises(LiveRefused) as refused:
            await service.connector().connect(replace(SETUP, start_sensitivity="HIGH"))
        assert refused.value.code == 1007
        assert service.paths == []


@pytest.mark.req("AUTH-15")
async def test_the_key_is_read_at_every_use_and_the_client_is_kept() -> None:
    keys = ["first", "first", "second", ""]
    async with served() as service:
        connector = service.connector(lambda: keys.pop(0))
        clients = set()
        for _ in range(3):
            session = await connector.connect(SETUP)
            clients.add(id(connector._client))
            await session.close()
        assert service.keys == ["first", "first", "second"]
        assert len(clients) == 2
        with pytest.raises(LiveRefused) as refused:
            await connector.connect(SETUP)
        assert refused.value.code == 401


async def test_the_environment_cannot_send_loopback_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "https://127.0.0.1:9")
    monkeypatch.setenv("GOOGLE_API_KEY", "other")
    async with served() as service:
        session = await service.connector().connect(SETUP)
        await session.close()
        assert service.keys == ["key"]


async def test_our_limits_reach_the_socket() -> None:
    async with served() as service:
        connector = service.connector()
        connector.warm()
        session = await connector.connect(SETUP)
        socket = session._ws  # type: ignore[attr-defined]
        assert isinstance(socket, ClientConnection)
        assert (socket.ping_interval, socket.ping_timeout) == (20, 60)
        assert socket.close_timeout == 1.0
        assert socket.protocol.max_size == 8 * 2**20
        assert socket.max_queue[0] == 64
        await session.close()
        assert socket.transport.is_closing()

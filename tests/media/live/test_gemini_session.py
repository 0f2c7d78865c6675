"""An open Gemini session on a real TLS websocket: every frame sent, every frame read, every end."""

from __future__ import annotations

import asyncio
import base64
import inspect
from dataclasses import replace

import pytest
from google.genai.live import AsyncSession

from media.live.port import (
    Interaction,
    LiveClosed,
    PlainText,
    ReplyAudio,
    ToolCall,
    TurnComplete,
    Unknown,
)
from tests.media.live.live_service import SETUP, Wire, everything, served


def test_the_one_private_name_of_the_sdk_is_where_we_expect_it() -> None:
    source = inspect.getsource(AsyncSession.__init__)
    assert "self._ws = websocket" in source


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

"""The stock client holds Live sessions with the local double. Pins what it sends and expects."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from google import genai
from google.genai import errors, live, types
from pydantic import BaseModel

from local_gemini import faults
from local_gemini.script import Script
from local_gemini.scripted import ScriptedEngine, tone
from local_gemini.server import LocalGemini
from tests.contract.genai_client import client, client_of, double, local

__all__ = ["client", "double", "local"]

LIVE = "gemini-3.8-live"
SPEECH = bytes(32 * 300) + tone(800, rate=16_000) + bytes(32 * 700)
DEADLINE_S = 15.0
CONFIG: dict[str, Any] = {
    "response_modalities": ["AUDIO"],
    "system_instruction": "You teach photosynthesis.",
    "input_audio_transcription": {},
    "output_audio_transcription": {},
    "session_resumption": {},
    "context_window_compression": {"trigger_tokens": 25_000, "sliding_window": {}},
    "realtime_input_config": {
        "automatic_activity_detection": {"silence_duration_ms": 500, "prefix_padding_ms": 100}
    },
}

# aiohttp discourages what google-genai 2.34 does inside (a subclass of ClientSession).
pytestmark = [
    pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession"),
    pytest.mark.filterwarnings("ignore:The SDK's .* is experimental"),
]


async def speak(session: live.AsyncSession, pcm: bytes = SPEECH) -> None:
    for position in range(0, len(pcm), 1280):
        piece = pcm[position : position + 1280]
        await session.send_realtime_input(
            audio=types.Blob(data=piece, mime_type="audio/pcm;rate=16000")
        )


class Heard(BaseModel):
    """One turn as an application sees it."""

    learner: str = ""
    tutor: str = ""
    audio: bytes = b""
    interrupted: bool = False
    complete: bool = False
    handle: str = ""
    usage: int = 0


async def turn(session: live.AsyncSession) -> Heard:
    heard = Heard()
    async with asyncio.timeout(DEADLINE_S):
        async for message in session.receive():
            if message.session_resumption_update and message.session_resumption_update.resumable:
                heard.handle = message.session_resumption_update.new_handle or ""
            if message.usage_metadata:
                heard.usage = message.usage_metadata.total_token_count or 0
            content = message.server_content
            if content is None:
                continue
            if content.input_transcription:
                heard.learner += content.input_transcription.text or ""
            if content.output_transcription:
                heard.tutor += content.output_transcription.text or ""
            if content.model_turn:
                for part in content.model_turn.parts or ():
                    if part.inline_data:
                        heard.audio += part.inline_data.data or b""
            heard.interrupted |= bool(content.interrupted)
            heard.complete |= bool(content.turn_complete)
    return heard


async def handle_after(session: live.AsyncSession) -> str:
    async with asyncio.timeout(DEADLINE_S):
        while True:
            update = (await session._receive()).session_resumption_update
            if update and update.resumable and update.new_handle:
                return update.new_handle


async def test_three_spoken_turns(client: genai.Client, double: ScriptedEngine) -> None:
    turns: list[Heard] = []
    async with client.aio.live.connect(model=LIVE, config=CONFIG) as session:
        assert session.session_id == "session-1"
        for _ in range(3):
            await speak(session)
            turns.append(await turn(session))
    assert [heard.learner for heard in turns] == [
        "plants eat light",
        "because of chlorophyll",
        "and make sugar",
    ]
    assert [heard.tutor for heard in turns] == ["Do they? How?", "What is that?", "Well done."]
    assert turns[2].audio == tone(120)
    assert all(heard.complete and not heard.interrupted for heard in turns)
    assert turns[0].usage < turns[1].usage < turns[2].usage
    assert double.head.minds[0].learner == [heard.learner for heard in turns]


async def test_silent_context_is_absorbed(
    client: genai.Client, local: LocalGemini, double: ScriptedEngine
) -> None:
    update = "[TUTOR STATE UPDATE]\nMove: ask\nNote: be brief"
    async with client.aio.live.connect(model=LIVE, config=CONFIG) as session:
        await session.send_client_content(
            turns=types.Content(role="user", parts=[types.Part(text=update)]), turn_complete=False
        )
        await session.send_realtime_input(text="hello")
        assert (await turn(session)).tutor == "Do they? How?"
    assert local.sessions[0].contexts == [update]
    assert double.head.minds[0].notes == [update]


async def test_a_typed_turn_interrupts_a_reply() -> None:
    double = ScriptedEngine(replies=[[" ".join(["word"] * 200)], ["Yes."]])
    async with LocalGemini(double) as slow:
        client = client_of(slow)
        async with client.aio.live.connect(model=LIVE, config=CONFIG) as session:
            content = types.Content(role="user", parts=[types.Part(text="hello")])
            await session.send_client_content(turns=content, turn_complete=True)
            await slow.until(lambda: slow.sessions[0].replies)
            await session.send_realtime_input(text="stop")
            assert (await turn(session)).interrupted
            assert (await turn(session)).tutor == "Yes."
        await client.aio.aclose()


async def test_resumption_carries_the_context_over(
    client: genai.Client, local: LocalGemini, double: ScriptedEngine
) -> None:
    async with client.aio.live.connect(model=LIVE, config=CONFIG) as session:
        await session.send_realtime_input(text="one")
        await turn(session)
        handle = await handle_after(session)
    await local.until(lambda: not local.sessions[0].open)
    config = {**CONFIG, "session_resumption": {"handle": handle}}
    async with client.aio.live.connect(model=LIVE, config=config) as session:
        await session.send_realtime_input(text="two")
        assert (await turn(session)).tutor == "What is that?"
    assert double.head.minds[0].learner == ["one", "two"]


async def test_a_tool_call_is_answered() -> None:
    script = Script().on("turn", faults.tool_call("lookup", {"user_id": 7}, call_id="c1"))
    async with LocalGemini(ScriptedEngine(), script, speed=50) as local:
        client = client_of(local)
        config = {**CONFIG, "tools": [{"function_declarations": [{"name": "lookup"}]}]}
        async with client.aio.live.connect(model=LIVE, config=config) as session:
            await session.send_realtime_input(text="look it up")
            calls: list[types.FunctionCall] = []
            while not calls:
                message = await session._receive()
                calls = list(message.tool_call.function_calls or ()) if message.tool_call else []
            assert (calls[0].name, calls[0].args) == ("lookup", {"user_id": 7})
            await session.send_tool_response(
                function_responses=types.FunctionResponse(
                    id="c1", name="lookup", response={"user_name": "Ada"}
                )
            )
            assert (await turn(session)).complete
        await client.aio.aclose()
        assert local.sessions[0].tool_responses[0]["response"] == {"user_name": "Ada"}


async def test_extended_thinking_ends_receive_only_when_idle() -> None:
    script = Script().on("turn", faults.filler("Hm."))
    async with LocalGemini(ScriptedEngine(replies=[["So."]]), script, speed=50) as local:
        client = client_of(local)
        config = {**CONFIG, "thinking_config": {"thinking_level": "LOW"}}
        model = "gemini-3.8-live-extended-thinking"
        async with client.aio.live.connect(model=model, config=config) as session:
            await session.send_realtime_input(text="why")
            assert (await turn(session)).tutor == "Hm. So."
        await client.aio.aclose()


async def test_a_close_reaches_the_sdk_with_its_code() -> None:
    script = Script().on("turn", faults.close(1011, "quota"))
    async with LocalGemini(ScriptedEngine(), script, speed=50) as local:
        client = client_of(local)
        async with client.aio.live.connect(model=LIVE, config=CONFIG) as session:
            await session.send_realtime_input(text="hello")
            with pytest.raises(errors.APIError) as closed:
                await turn(session)
            assert closed.value.code == 1011
        await client.aio.aclose()


# --- ephemeral tokens -------------------------------------------------------------------------


@pytest.mark.req("API-29")
async def test_a_minted_token_connects_once_with_the_locked_setup(
    local: LocalGemini, double: ScriptedEngine
) -> None:
    minter = client_of(local, version="v1alpha")
    now = datetime.now(UTC)
    token = await minter.aio.auth_tokens.create(
        config=types.CreateAuthTokenConfig(
            uses=1,
            expire_time=now + timedelta(minutes=30),
            new_session_expire_time=now + timedelta(minutes=2),
            live_connect_constraints=types.LiveConnectConstraints(
                model=LIVE, config=types.LiveConnectConfig.model_validate(CONFIG)
            ),
        )
    )
    await minter.aio.aclose()
    assert token.name is not None
    assert token.name.startswith("auth_tokens/")
    visitor = client_of(local, key=token.name, version="v1alpha")
    async with visitor.aio.live.connect(model=LIVE, config={"system_instruction": "?"}) as session:
        await speak(session)
        assert (await turn(session)).learner == "plants eat light"
    assert double.head.minds[0].instruction == "You teach photosynthesis."
    assert local.sessions[0].constrained
    with pytest.raises(Exception, match="1008"):
        async with visitor.aio.live.connect(model=LIVE, config={}):
            pass
    await visitor.aio.aclose()


async def test_an_expired_token_does_not_connect(double: ScriptedEngine) -> None:
    later = timedelta()
    async with LocalGemini(double, now=lambda: datetime.now(UTC) + later) as local:
        minter = client_of(local, version="v1alpha")
        token = await minter.aio.auth_tokens.create(config={"uses": 0})
        await minter.aio.aclose()
        later = timedelta(minutes=31)
        visitor = client_of(local, key=str(token.name), version="v1alpha")
        with pytest.raises(Exception, match="1008"):
            async with visitor.aio.live.connect(model=LIVE, config={}):
                pass
        await visitor.aio.aclose()

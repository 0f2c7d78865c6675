"""The stock client and ADK use the local double's REST as they use the service's."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from google import genai
from google.genai import errors, types
from pydantic import BaseModel

from local_gemini import faults
from local_gemini.script import Script
from local_gemini.scripted import ScriptedEngine, tone
from local_gemini.server import LocalGemini
from tests.contract.genai_client import client, client_of, double, local

__all__ = ["client", "double", "local"]

LIVE = "gemini-3.8-live"
TEXT = "gemini-3.8-flash"
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


async def test_text_and_stream(client: genai.Client) -> None:
    answer = await client.aio.models.generate_content(model=TEXT, contents="hello")
    assert answer.text == "You asked: hello"
    assert answer.usage_metadata is not None
    assert answer.usage_metadata.total_token_count == 6
    words = " ".join(["word"] * 100)
    pieces = [
        chunk.text or ""
        async for chunk in await client.aio.models.generate_content_stream(
            model=TEXT, contents=words
        )
    ]
    assert len(pieces) > 2
    assert "".join(pieces) == f"You asked: {words}"


class Move(BaseModel):
    mode: str
    covered: list[str]
    flagged: bool = False


async def test_an_answer_follows_its_schema(client: genai.Client) -> None:
    for schema in ({"response_schema": Move}, {"response_json_schema": Move.model_json_schema()}):
        answer = await client.aio.models.generate_content(
            model=TEXT,
            contents="hello",
            config={"response_mime_type": "application/json", **schema},
        )
        move = Move.model_validate_json(answer.text or "")
        assert move.mode == "hello"


async def test_the_function_call_loop(client: genai.Client) -> None:
    declaration = types.FunctionDeclaration(
        name="lookup",
        description="Looks a word up.",
        parameters_json_schema={
            "type": "object",
            "properties": {"search_word": {"type": "string"}},
            "required": ["search_word"],
        },
    )
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=[declaration])],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    history = [types.Content(role="user", parts=[types.Part(text="please lookup light")])]
    first = await client.aio.models.generate_content(model=TEXT, contents=history, config=config)
    assert first.function_calls is not None
    call = first.function_calls[0]
    assert (call.name, call.args) == ("lookup", {"search_word": "please lookup light"})
    assert first.candidates
    assert first.candidates[0].content is not None
    history.append(first.candidates[0].content)
    result = types.Part.from_function_response(name="lookup", response={"found_it": "a wave"})
    history.append(types.Content(role="user", parts=[result]))
    second = await client.aio.models.generate_content(model=TEXT, contents=history, config=config)
    assert second.text == 'The function says {"found_it": "a wave"}.'


async def test_one_vector_a_text(client: genai.Client) -> None:
    contents: Any = [types.Content(parts=[types.Part(text=text)]) for text in ("a", "b", "c")]
    answer = await client.aio.models.embed_content(
        model="gemini-embedding-001", contents=contents, config={"output_dimensionality": 768}
    )
    assert answer.embeddings is not None
    assert [len(item.values or ()) for item in answer.embeddings] == [768, 768, 768]


async def test_speech_both_ways(client: genai.Client) -> None:
    spoken = await client.aio.models.generate_content(
        model="gemini-3.1-flash-tts-preview",
        contents="two words",
        config={
            "response_modalities": ["AUDIO"],
            "speech_config": {"voice_config": {"prebuilt_voice_config": {"voice_name": "Kore"}}},
        },
    )
    assert spoken.candidates
    assert spoken.candidates[0].content is not None
    assert spoken.candidates[0].content.parts
    blob = spoken.candidates[0].content.parts[0].inline_data
    assert blob is not None
    assert (blob.mime_type, blob.data) == ("audio/L16;codec=pcm;rate=24000", tone(120))
    part = types.Part.from_bytes(data=blob.data, mime_type="audio/pcm;rate=24000")
    answer = await client.aio.models.generate_content(
        model=TEXT, contents=types.Content(role="user", parts=[part])
    )
    assert answer.text == "plants eat light"


async def test_refusals_become_the_sdks_errors() -> None:
    script = Script().on("generate", faults.refuse(429, "quota"), times=1)
    async with LocalGemini(ScriptedEngine(), script) as local:
        client = client_of(local)
        with pytest.raises(errors.ClientError) as refused:
            await client.aio.models.generate_content(model=TEXT, contents="hello")
        assert (refused.value.code, refused.value.status) == (429, "RESOURCE_EXHAUSTED")
        answer = await client.aio.models.generate_content(model=TEXT, contents="hello")
        assert answer.text
        await client.aio.aclose()


# --- ADK --------------------------------------------------------------------------------------


async def test_an_adk_agent_with_a_tool(local: LocalGemini) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # imports of ADK's own dependencies
        from google.adk.agents import LlmAgent
        from google.adk.models.google_llm import Gemini
        from google.adk.runners import Runner
        from google.adk.sessions import InMemorySessionService

        asked: list[str] = []

        async def lookup(word: str) -> dict[str, str]:
            """Looks a word up."""
            asked.append(word)
            return {"meaning": "a wave"}

        client = client_of(local)
        agent = LlmAgent(
            name="observer",
            model=Gemini(model=TEXT, client=client),
            instruction="You observe.",
            tools=[lookup],
        )
        sessions = InMemorySessionService()
        runner = Runner(app_name="contract", agent=agent, session_service=sessions)
        stored = await sessions.create_session(app_name="contract", user_id="u")
        message = types.Content(role="user", parts=[types.Part(text="lookup light")])
        final, usages = "", 0
        async for event in runner.run_async(user_id="u", session_id=stored.id, new_message=message):
            usages += event.usage_metadata is not None
            if event.is_final_response() and event.content and event.content.parts:
                final = event.content.parts[0].text or ""
        await client.aio.aclose()
    assert asked == ["lookup light"]
    assert final == 'The function says {"meaning": "a wave"}.'
    assert usages == 2
    body = local.requests[0].body
    assert "You observe." in body["systemInstruction"]["parts"][0]["text"]
    assert "labels" not in body

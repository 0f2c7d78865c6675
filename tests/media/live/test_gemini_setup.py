"""The first frames of a Gemini session, golden: setup, resumption, past turns."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from media.live.port import (
    Seed,
)
from tests.media.live.live_service import SEEDS, SETUP, Wire, served


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

"""The truth table of modes (VOICE-1): every combination of the switches, three kinds of model."""

from __future__ import annotations

import itertools

import pytest

from media.modes.voice_mode import Switches, VoiceMode, is_live_3_8, mode_of

PLAIN = "gemini-3.8-live"
EXTENDED = "gemini-3.8-live-extended-thinking"
LEGACY = "gemini-3.1-flash-live-preview"


@pytest.mark.req("VOICE-2")
@pytest.mark.parametrize(
    ("model", "family"),
    [
        (PLAIN, True),
        (EXTENDED, True),
        (f"models/{PLAIN}", True),
        ("gemini-3.8-live-002", True),
        (LEGACY, False),
        ("gemini-3.8-flash", False),
        ("a-gemini-3.8-live", False),
        ("", False),
    ],
)
def test_families(model: str, family: bool) -> None:
    assert is_live_3_8(model) is family


@pytest.mark.req("VOICE-1", "VOICE-44", "VOICE-45", "DATA-29", "DATA-43", "DATA-44", "DATA-45")
@pytest.mark.parametrize(
    ("native", "model", "agent_voice", "audio_output"),
    list(itertools.product((True, False), (PLAIN, EXTENDED, LEGACY), (True, False), (True, False))),
)
def test_truth_table(native: bool, model: str, agent_voice: bool, audio_output: bool) -> None:
    table = {
        # (native and 3.8, agent voice, audio output, legacy model)
        (False, False, True, True): VoiceMode.FLOW_C,
        (False, False, True, False): VoiceMode.CAPTURE_TTS,
        (False, False, False, True): VoiceMode.CAPTURE_TTS,
        (False, False, False, False): VoiceMode.CAPTURE_TTS,
    }
    legacy = model == LEGACY
    expected = table.get((native and not legacy, agent_voice, audio_output, legacy))
    if native and not legacy:
        expected = VoiceMode.NATIVE
    elif agent_voice:
        expected = VoiceMode.AGENT_VOICED
    assert mode_of(Switches(native, agent_voice, audio_output, model)) is expected


@pytest.mark.req("API-30", "VOICE-57", "VOICE-45", "GOTCHA-16")
@pytest.mark.parametrize(
    ("switches", "mode"),
    [
        (Switches(True, True, False, PLAIN, bound=False), VoiceMode.AGENT_VOICED),
        (Switches(True, False, True, LEGACY, bound=False), VoiceMode.CAPTURE_TTS),
        (Switches(False, False, True, LEGACY, bound=True), VoiceMode.FLOW_C),
        (Switches(False, False, True, PLAIN, bound=True), VoiceMode.CAPTURE_TTS),
        (Switches(False, True, True, LEGACY, bound=True), VoiceMode.AGENT_VOICED),
    ],
)
def test_native_and_flow_c_need_a_session_and_a_topic(switches: Switches, mode: VoiceMode) -> None:
    assert mode_of(switches) is mode

"""From a `LiveSetup` to the configuration that the SDK turns into the first frame. Pure.

The same configuration serves a bridged session and the constraints of a minted token, so that both
paths lock the same setup (RTC-22). The frame itself is pinned by golden tests (VOICE-5..10).
"""

from __future__ import annotations

from google.genai import types

from media.live.capabilities import Capabilities, Seeding, capabilities_of, validated
from media.live.port import LiveSetup, ToolSpec

# The whole context is billed again with every turn: past audio beyond about 20 minutes (25 tokens
# a second) is cut. The instruction is never cut, so it comes on top.
CONTEXT_TOKENS = 32_000
CONTEXT_KEPT_TOKENS = 16_000
# Of a window of 131,072 tokens, some room for the turn that is being spoken.
CONTEXT_CEILING_TOKENS = 100_000
CHARS_PER_TOKEN = 3


def live_config(setup: LiveSetup, row: Capabilities | None = None) -> types.LiveConnectConfig:
    """The SDK's configuration of `setup`; the model name goes beside it. Raises SetupInvalid.

    `row` None is the table's.

    Always AUDIO (TEXT is closed with 1007), transcription of the learner, and compression on.
    """
    row = row or capabilities_of(setup.model)
    setup = validated(setup, row)
    return types.LiveConnectConfig(
        response_modalities=[types.Modality.AUDIO],
        system_instruction=_instruction(setup),
        tools=_tools(setup),
        speech_config=_speech(setup),
        thinking_config=_thinking(setup),
        realtime_input_config=types.RealtimeInputConfig(
            automatic_activity_detection=_detection(setup),
            turn_coverage=types.TurnCoverage.TURN_INCLUDES_ONLY_ACTIVITY,
        ),
        input_audio_transcription=types.AudioTranscriptionConfig(),
        output_audio_transcription=(
            types.AudioTranscriptionConfig() if setup.output_transcription else None
        ),
        session_resumption=_resumption(setup, row),
        context_window_compression=_compression(setup),
        history_config=_history(setup, row),
    )


def model_path(setup: LiveSetup) -> str:
    """`models/<name>`, as the setup and a token constraint name it."""
    return "models/" + setup.model.removeprefix("models/")


def _instruction(setup: LiveSetup) -> types.Content | None:
    if not setup.instruction:
        return None
    return types.Content(role="user", parts=[types.Part(text=setup.instruction)])


def _tools(setup: LiveSetup) -> types.ToolListUnion:
    """One tool of all declared functions; none for a session that calls nobody (VOICE-8)."""
    if not setup.tools:
        return []
    return [types.Tool(function_declarations=[_declared(tool) for tool in setup.tools])]


def _declared(tool: ToolSpec) -> types.FunctionDeclaration:
    text = types.Type.STRING
    properties = {
        name: types.Schema(type=text, description=meaning) for name, meaning in tool.parameters
    }
    return types.FunctionDeclaration(
        name=tool.name,
        description=tool.description,
        parameters=types.Schema(
            type=types.Type.OBJECT, properties=properties, required=list(properties)
        ),
    )


def _speech(setup: LiveSetup) -> types.SpeechConfig | None:
    if not setup.voice_name:
        return None
    voice = types.PrebuiltVoiceConfig(voice_name=setup.voice_name)
    return types.SpeechConfig(voice_config=types.VoiceConfig(prebuilt_voice_config=voice))


def _thinking(setup: LiveSetup) -> types.ThinkingConfig | None:
    if setup.thinking_level is None:
        return None
    return types.ThinkingConfig(thinking_level=types.ThinkingLevel(setup.thinking_level))


def _detection(setup: LiveSetup) -> types.AutomaticActivityDetection:
    return types.AutomaticActivityDetection(
        disabled=not setup.vad_enabled,
        silence_duration_ms=setup.silence_ms,
        prefix_padding_ms=setup.prefix_ms,
        start_of_speech_sensitivity=types.StartSensitivity(setup.start_sensitivity),
        end_of_speech_sensitivity=types.EndSensitivity(setup.end_sensitivity),
    )


def _resumption(setup: LiveSetup, row: Capabilities) -> types.SessionResumptionConfig | None:
    if not setup.resumption:
        return None
    if setup.handle:
        return types.SessionResumptionConfig(handle=setup.handle)
    if row.empty_resumption:
        return types.SessionResumptionConfig()
    return None


def _compression(setup: LiveSetup) -> types.ContextWindowCompressionConfig:
    instruction = len(setup.instruction) // CHARS_PER_TOKEN
    trigger = min(instruction + CONTEXT_TOKENS, CONTEXT_CEILING_TOKENS)
    kept = trigger - (CONTEXT_TOKENS - CONTEXT_KEPT_TOKENS)
    return types.ContextWindowCompressionConfig(
        trigger_tokens=trigger, sliding_window=types.SlidingWindow(target_tokens=kept)
    )


def _history(setup: LiveSetup, row: Capabilities) -> types.HistoryConfig | None:
    if not setup.seeds or row.seeding is not Seeding.HISTORY:
        return None
    return types.HistoryConfig(initial_history_in_client_content=True)

"""What an ephemeral Live token is locked to. Pure; the gateway does the minting."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from google.genai import types

EXTENDED_THINKING = "gemini-3.8-live-extended-thinking"
API_VERSION = "v1alpha"  # tokens exist on no other version


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that the model may call; every parameter is a required text (name, meaning)."""

    name: str
    description: str
    parameters: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class LiveConstraints:
    """The locked setup (API-29). Durations in ms; sensitivities are the proto enum strings.

    `thinking_level` is used for the extended-thinking model only (VOICE-10).
    """

    model: str
    instruction: str
    vad_enabled: bool = True
    silence_ms: int = 1500
    prefix_ms: int = 300
    start_sensitivity: str = "START_SENSITIVITY_HIGH"
    end_sensitivity: str = "END_SENSITIVITY_HIGH"
    voice_name: str = ""
    output_transcription: bool = True
    thinking_level: str | None = None
    tools: tuple[Tool, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class LiveToken:
    """`name` is the secret (`auth_tokens/…`) that a client connects with."""

    name: str
    model: str
    uses: int
    expire_time: datetime


def live_config(constraints: LiveConstraints) -> types.LiveConnectConfig:
    """AUDIO only; tools, activity detection and transcription as constrained."""
    activity = types.AutomaticActivityDetection(
        disabled=not constraints.vad_enabled,
        silence_duration_ms=constraints.silence_ms,
        prefix_padding_ms=constraints.prefix_ms,
        start_of_speech_sensitivity=types.StartSensitivity(constraints.start_sensitivity),
        end_of_speech_sensitivity=types.EndSensitivity(constraints.end_sensitivity),
    )
    config = types.LiveConnectConfig(
        response_modalities=[types.Modality.AUDIO],
        system_instruction=types.Content(parts=[types.Part(text=constraints.instruction)]),
        realtime_input_config=types.RealtimeInputConfig(
            automatic_activity_detection=activity,
            turn_coverage=types.TurnCoverage.TURN_INCLUDES_ONLY_ACTIVITY,
        ),
        input_audio_transcription=types.AudioTranscriptionConfig(),
    )
    if constraints.output_transcription:
        config.output_audio_transcription = types.AudioTranscriptionConfig()
    if constraints.tools:
        declared = [_declared(tool) for tool in constraints.tools]
        config.tools = [types.Tool(function_declarations=declared)]
    if constraints.voice_name:
        prebuilt = types.PrebuiltVoiceConfig(voice_name=constraints.voice_name)
        config.speech_config = types.SpeechConfig(
            voice_config=types.VoiceConfig(prebuilt_voice_config=prebuilt)
        )
    if constraints.thinking_level and constraints.model == EXTENDED_THINKING:
        level = types.ThinkingLevel(constraints.thinking_level.upper())
        config.thinking_config = types.ThinkingConfig(thinking_level=level)
    return config


def _declared(tool: Tool) -> types.FunctionDeclaration:
    properties = {
        name: types.Schema(type=types.Type.STRING, description=meaning)
        for name, meaning in tool.parameters
    }
    parameters = types.Schema(
        type=types.Type.OBJECT, properties=properties, required=list(properties)
    )
    return types.FunctionDeclaration(
        name=tool.name, description=tool.description, parameters=parameters
    )


def token_config(
    constraints: LiveConstraints,
    uses: int,
    expire_time: datetime,
    new_session_expire_time: datetime,
) -> types.CreateAuthTokenConfig:
    """The mint request. Raises ValueError for a time without a zone (it would lose its meaning)."""
    if expire_time.tzinfo is None or new_session_expire_time.tzinfo is None:
        raise ValueError("token times need a time zone")
    # No lock_additional_fields: unset means that the whole setup is locked.
    return types.CreateAuthTokenConfig(
        uses=uses,
        expire_time=expire_time,
        new_session_expire_time=new_session_expire_time,
        live_connect_constraints=types.LiveConnectConstraints(
            model=constraints.model, config=live_config(constraints)
        ),
    )

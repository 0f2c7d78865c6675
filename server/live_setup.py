"""Composes a Live session: the locked setup, and what a client may know of it.

One implementation for minted tokens and for the peer's own session, in every mode (RTC-22). The
instruction is part of the setup and never of `session_config`.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from agent.dialogue import shown_state
from agent.live_token import EXTENDED_THINKING
from agent.prompts.classic import compose_live_classic_instruction
from agent.prompts.flow_c import compose_live_voice_instruction
from agent.prompts.native import compose_live_native_instruction
from agent.topic import Grounded
from media.live.port import LiveSetup, Seed, ToolSpec
from media.modes.flow_c import TOOL
from media.modes.voice_mode import VoiceMode
from server.callers import Caller
from server.config import AppConfig
from server.context import Context
from server.operations.fields import Style
from server.operations.teaching import Teaching, load_teaching

log = logging.getLogger(__name__)

TRANSCRIPTION_LANGUAGES = ("en-US",)

ADVANCE_TURN = ToolSpec(
    TOOL,
    "Gives the tutor’s next words for what the learner has just said.",
    (
        ("learnerText", "the learner’s exact words"),
        ("sessionId", "the sessionId of the META lines"),
        ("topicId", "the topicId of the META lines"),
    ),
)


@dataclass(frozen=True, slots=True)
class LiveComposition:
    """`setup` opens the session; `session_config` is API-28; `agenda`, `covered` are at opening."""

    mode: VoiceMode
    setup: LiveSetup
    session_config: dict[str, Any]
    session_id: str
    topic_id: str
    topic: Grounded
    style: str
    agenda: tuple[str, ...]
    covered: tuple[str, ...]
    learner_turns: int


def session_config(config: AppConfig, mode: VoiceMode) -> dict[str, Any]:
    """API-28: what a client is told about the session; its three switches give the mode again."""
    native = mode is VoiceMode.NATIVE
    return {
        "model": config.live_model,
        "vad": {
            "enabled": config.live_vad_enabled,
            "silenceDurationMs": config.live_vad_silence_duration_ms,
            "prefixPaddingMs": config.live_vad_prefix_padding_ms,
            "startOfSpeechSensitivity": config.live_vad_start_of_speech_sensitivity,
            "endOfSpeechSensitivity": config.live_vad_end_of_speech_sensitivity,
        },
        "voiceName": config.live_voice_name,
        # A native session always transcribes what it says (VOICE-48).
        "outputAudioTranscriptionEnabled": native or config.live_output_audio_transcription_enabled,
        "inputAudioTranscriptionLanguageCodes": list(TRANSCRIPTION_LANGUAGES),
        # Flow C that a model does not allow is not offered to the client either (VOICE-45).
        "audioOutputEnabled": (
            config.live_audio_output_enabled and mode is not VoiceMode.CAPTURE_TTS
        ),
        "agentVoiceEnabled": config.live_agent_voice_enabled,
        "nativeReply": native,
    }


async def compose_live(
    ctx: Context,
    caller: Caller,
    session_id: str,
    topic_id: str,
    style_override: Style | None = None,
    *,
    pinned: tuple[VoiceMode, str] | None = None,
) -> LiveComposition:
    """The session as stored, else as grounded; stores nothing itself (DATA-17).

    `style_override` is a style chosen before the first turn; `pinned` the mode and model of a
    lesson that runs already: a new configuration is for the next one (VOICE-58). Raises
    PidjinError: another's topic or session, a topic never grounded.
    """
    config = await ctx.config.load()
    mode, model = pinned or (config.voice_mode(), config.live_model)
    if pinned is None and mode is VoiceMode.CAPTURE_TTS and config.live_audio_output_enabled:
        log.warning("flow c needs a legacy live model", extra={"model": model})
    teaching = await load_teaching(ctx, caller, session_id, topic_id)
    caps = config.tiers.caps(teaching.topic.depth_tier)
    state = shown_state(teaching.state, teaching.topic, caps)
    teaching = teaching.choosing(style_override)
    return LiveComposition(
        mode=mode,
        setup=LiveSetup(
            **base_setup(config, mode, model),
            instruction=_instruction(mode, teaching, state),
            seeds=_seeds(mode, teaching),
        ),
        session_config=session_config(config, mode),
        session_id=session_id,
        topic_id=topic_id,
        topic=teaching.topic,
        style=teaching.style,
        agenda=tuple(state["agenda"]),
        covered=tuple(state["coveredAngles"]),
        learner_turns=teaching.learner_turns,
    )


def base_setup(config: AppConfig, mode: VoiceMode, model: str) -> dict[str, Any]:
    """The fields of a LiveSetup that follow from the configuration and the mode alone."""
    native = mode is VoiceMode.NATIVE
    return {
        "model": model,
        "vad_enabled": config.live_vad_enabled,
        "silence_ms": config.live_vad_silence_duration_ms,
        "prefix_ms": config.live_vad_prefix_padding_ms,
        "start_sensitivity": config.live_vad_start_of_speech_sensitivity,
        "end_sensitivity": config.live_vad_end_of_speech_sensitivity,
        "voice_name": config.live_voice_name,
        "thinking_level": config.live_thinking_level if model == EXTENDED_THINKING else None,
        "tools": (ADVANCE_TURN,) if mode is VoiceMode.FLOW_C else (),
        "output_transcription": native or config.live_output_audio_transcription_enabled,
    }


def _instruction(mode: VoiceMode, teaching: Teaching, state: dict[str, Any]) -> str:
    """API-31, API-32: native, Flow C, or that of a session that only listens and reads."""
    match mode:
        case VoiceMode.NATIVE:
            return compose_live_native_instruction(
                teaching.topic,
                teaching.style,
                tuple(state["agenda"]),
                tuple(state["coveredAngles"]),
                teaching.learner_turns,
                grounded_at=teaching.grounded_at,
            )
        case VoiceMode.FLOW_C:
            return compose_live_voice_instruction(
                teaching.topic,
                session_id=teaching.session_id,
                topic_id=teaching.topic_id,
                reveal_state=state,
            )
        case _:
            return compose_live_classic_instruction()


def _seeds(mode: VoiceMode, teaching: Teaching) -> tuple[Seed, ...]:
    """Only a model that answers by itself has to know what was said."""
    if mode is not VoiceMode.NATIVE:
        return ()
    return tuple(
        Seed("user" if speaker == "learner" else "model", text) for speaker, text in teaching.recent
    )

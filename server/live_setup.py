"""Composes a Live session: the locked setup, and what a client may know of it.

One implementation for minted tokens and for the peer's own session (RTC-22). The instruction is
part of the setup and never of `session_config`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agent.dialogue import shown_state
from agent.live_token import EXTENDED_THINKING
from agent.prompts.native import compose_live_native_instruction
from agent.topic import Grounded
from media.live.port import LiveSetup, Seed
from server.callers import Caller
from server.config import AppConfig
from server.context import Context
from server.errors import not_ready
from server.operations.teaching import load_teaching

TRANSCRIPTION_LANGUAGES = ("en-US",)


@dataclass(frozen=True, slots=True)
class LiveComposition:
    """`setup` opens the session; `session_config` is API-28; `agenda`, `covered` are at opening."""

    setup: LiveSetup
    session_config: dict[str, Any]
    session_id: str
    topic_id: str
    topic: Grounded
    style: str
    agenda: tuple[str, ...]
    covered: tuple[str, ...]
    learner_turns: int


def session_config(config: AppConfig, *, native: bool) -> dict[str, Any]:
    """API-28: what a client is told about the session."""
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
        "audioOutputEnabled": config.live_audio_output_enabled,
        "agentVoiceEnabled": config.live_agent_voice_enabled,
        "nativeReply": native,
    }


async def compose_live(
    ctx: Context,
    caller: Caller,
    session_id: str,
    topic_id: str,
    style_override: str | None = None,
) -> LiveComposition:
    """The session as stored, else as grounded; stores nothing itself (DATA-17).

    `style_override` is a style chosen before the first turn. Raises PidjinError: another's topic
    or session, a topic never grounded, or a configuration that asks for another kind of voice.
    """
    config = await ctx.config.load()
    require_native(config)
    teaching = await load_teaching(ctx, caller, session_id, topic_id)
    caps = config.tiers.caps(teaching.topic.depth_tier)
    state = shown_state(teaching.state, teaching.topic, caps)
    agenda, covered = tuple(state["agenda"]), tuple(state["coveredAngles"])
    style = style_override or teaching.style
    instruction = compose_live_native_instruction(
        teaching.topic,
        style,
        agenda,
        covered,
        teaching.learner_turns,
        grounded_at=teaching.grounded_at,
    )
    return LiveComposition(
        setup=LiveSetup(
            model=config.live_model,
            instruction=instruction,
            vad_enabled=config.live_vad_enabled,
            silence_ms=config.live_vad_silence_duration_ms,
            prefix_ms=config.live_vad_prefix_padding_ms,
            start_sensitivity=config.live_vad_start_of_speech_sensitivity,
            end_sensitivity=config.live_vad_end_of_speech_sensitivity,
            voice_name=config.live_voice_name,
            thinking_level=(
                config.live_thinking_level if config.live_model == EXTENDED_THINKING else None
            ),
            seeds=tuple(
                Seed("user" if speaker == "learner" else "model", text)
                for speaker, text in teaching.recent
            ),
        ),
        session_config=session_config(config, native=True),
        session_id=session_id,
        topic_id=topic_id,
        topic=teaching.topic,
        style=style,
        agenda=agenda,
        covered=covered,
        learner_turns=teaching.learner_turns,
    )


def require_native(config: AppConfig) -> None:
    """Only speech-to-speech lessons exist in this version (API-30)."""
    if not (config.live_native_reply and config.native_live_model):
        raise not_ready(
            "Voice lessons need liveNativeReply and a gemini-3.8-live model in config/app.",
            reason="not-native",
        )

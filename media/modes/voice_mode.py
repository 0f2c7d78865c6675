"""Which kind of voice a lesson has: a truth table over four switches (VOICE-1, VOICE-2). Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

# `gemini-3.8-live*` (VOICE-2): models that answer by themselves and whose tools do not block.
_LIVE_3_8 = re.compile(r"(models/)?gemini-3\.8-live")


class VoiceMode(Enum):
    """NATIVE: the Live model hears and answers. The others ask the agent for every reply:
    AGENT_VOICED reads it out through Live, CAPTURE_TTS through the speech model, FLOW_C lets the
    Live model fetch it by a tool and say it."""

    NATIVE = "native"
    AGENT_VOICED = "agent-voiced"
    CAPTURE_TTS = "capture-tts"
    FLOW_C = "flow-c"


@dataclass(frozen=True, slots=True)
class Switches:
    """`config/app` as far as it decides on the mode; `bound`: session and topic are both known."""

    native_reply: bool
    agent_voice: bool
    audio_output: bool
    model: str
    bound: bool = True


def is_live_3_8(model: str) -> bool:
    """Whether `model` is of the 3.8 Live family; unknown models are not."""
    return _LIVE_3_8.match(model) is not None


def mode_of(switches: Switches) -> VoiceMode:
    """Native first, then agent voice whatever else is stored, then Flow C, else local TTS.

    Flow C runs with legacy models only: the tools of a 3.8 model do not block, so it would speak
    before the result is there (VOICE-45).
    """
    modern = is_live_3_8(switches.model)
    if switches.native_reply and modern and switches.bound:
        return VoiceMode.NATIVE
    if switches.agent_voice:
        return VoiceMode.AGENT_VOICED
    if switches.audio_output and not modern and switches.bound:
        return VoiceMode.FLOW_C
    return VoiceMode.CAPTURE_TTS

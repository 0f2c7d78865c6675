"""Who holds the conversation of a lesson: the Live model itself, the agent through a voice, or,
where no Live session can be had, the agent turn by turn (design 5.6)."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from pydantic import BaseModel

from media.gate import Gate, GateSettings
from media.live.link import LiveLink
from media.modes.agent_voiced import AgentVoiced
from media.modes.awaited import Voicing
from media.modes.voice_mode import VoiceMode
from media.spans import Spans
from media.vad import Vad
from server import rtvi
from server.agent_ears import Senses
from server.agent_ports import AgentPorts
from server.agent_talk import AgentTalk
from server.captions import Captions
from server.errands import Errands
from server.errors import PidjinError
from server.lesson_plan import LessonPlan
from server.talk import Talk

log = logging.getLogger(__name__)

VOICING = {
    VoiceMode.AGENT_VOICED: Voicing.VERBATIM,
    VoiceMode.CAPTURE_TTS: Voicing.SPEECH,
    VoiceMode.FLOW_C: Voicing.TOOL,
}
# Our own ears end a turn by themselves: not sooner than a person pauses for thought.
OWN_EARS_MIN_MS = 900

# Why the Live service could not be had, and how the lesson goes on.
_GOES_ON = "We go on turn by turn: speak, then wait for the answer. You can also type."
HALF_DUPLEX_TEXT = f"The voice service cannot be reached right now. {_GOES_ON}"
HALF_DUPLEX_TEXTS = {
    "quota": f"The voice service is over its limit right now. {_GOES_ON}",
    "setup_timeout": f"The voice service did not answer in time. {_GOES_ON}",
}


@dataclass(frozen=True, slots=True)
class Room:
    """What every talk of one lesson shares; `denied` is told of access that ended."""

    captions: Captions
    tell: Callable[[BaseModel | str], None]
    tell_level: Callable[[BaseModel], None]
    ports: AgentPorts
    errands: Errands
    denied: Callable[[PidjinError], None]
    armed: Callable[[], None]
    now: Callable[[], float]
    spans: Spans


class Floor:
    """`talk` is the one that hears and speaks now; `native` serves lessons in that mode."""

    def __init__(self, plan: LessonPlan, native: Talk, link: LiveLink, room: Room) -> None:
        self._plan, self._room = plan, room
        self.degraded = False
        self.talk: Talk = native
        if plan.mode is not VoiceMode.NATIVE:
            senses = Senses(Gate(Vad(), plan.gate), link, brackets=not plan.vad_enabled)
            self.talk = self._by_agent(senses, VOICING[plan.mode])

    @property
    def renewable(self) -> bool:
        """The Live session carries the style, so that a new style needs a new session."""
        return self._plan.mode is VoiceMode.NATIVE and not self.degraded

    def degrade(self, code: str) -> None:
        """The Live session is gone for good: told, and the lesson goes on without it."""
        if self.degraded:
            return
        self.degraded = True
        text = HALF_DUPLEX_TEXTS.get(code, HALF_DUPLEX_TEXT)
        self._room.tell(rtvi.Notice(text=text, code=f"live-{code}"))
        before = self.talk
        unanswered = before.unanswered
        before.on_deadline_changed = lambda: None
        before.close()
        hangover_ms = max(self._plan.silence_ms, OWN_EARS_MIN_MS)
        settings = GateSettings(hangover_ms=hangover_ms, service_ends_turns=False)
        senses = Senses(Gate(Vad(), settings), link=None, own_ears=True)
        talk = self._by_agent(senses, Voicing.SPEECH)
        talk.microphone_on, talk.speech_on = before.microphone_on, before.speech_on
        self.talk = talk
        talk.take_over(unanswered)

    def _by_agent(self, senses: Senses, voicing: Voicing) -> AgentTalk:
        room = self._room
        talk = AgentTalk(
            senses,
            AgentVoiced(voicing, prefix=f"{secrets.token_hex(3)}-"),
            captions=room.captions,
            tell=room.tell,
            tell_level=room.tell_level,
            ports=room.ports,
            errands=room.errands,
            denied=room.denied,
            now=room.now,
            spans=room.spans,
        )
        talk.on_deadline_changed = room.armed
        return talk

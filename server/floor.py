"""Who holds the conversation of a lesson: the Live model itself, the agent through a voice, or,
where no Live session can be had, the agent turn by turn (design 5.6)."""

from __future__ import annotations

import logging
import secrets
from collections import Counter

from media.gate import Gate, GateSettings
from media.live.link import LiveLink
from media.modes.agent_voiced import AgentVoiced
from media.modes.awaited import Voicing
from media.modes.voice_mode import VoiceMode
from media.turns import Turns
from media.vad import Vad
from server import rtvi
from server.agent_ears import Senses
from server.agent_talk import AgentTalk
from server.conversation import Conversation
from server.lesson_plan import LessonPlan
from server.room import Room
from server.stand_in import StandIn
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
BACK_TEXT = "The voice service is back. You can talk freely again."


class Floor:
    """`talk` is the one that hears and speaks now: at any time only that one exists."""

    def __init__(self, plan: LessonPlan, room: Room, link: LiveLink) -> None:
        self._plan, self._room = plan, room
        self._counted: Counter[str] = Counter()
        self._reply_s: float | None = None
        self.degraded = False
        self.talk: Talk = self._by_plan(link)

    @property
    def renewable(self) -> bool:
        """The Live session carries the style, so that a new style needs a new session."""
        return self._plan.native and not self.degraded

    @property
    def counts(self) -> Counter[str]:
        """Turns and interruptions of the whole lesson (`TurnMetrics.counts`)."""
        return self._counted + self.talk.metrics.counts

    @property
    def reply_s(self) -> float | None:
        """As `Talk.reply_s`, over the whole lesson."""
        return self.talk.reply_s if self.talk.reply_s is not None else self._reply_s

    # --- changes ----------------------------------------------------------------------------------

    def degrade(self, code: str) -> None:
        """The Live session is gone: told, and the lesson goes on without it."""
        if self.degraded:
            return
        self.degraded = True
        text = HALF_DUPLEX_TEXTS.get(code, HALF_DUPLEX_TEXT)
        self._room.tell(rtvi.Notice(text=text, code=f"live-{code}"))
        unanswered = self.talk.unanswered
        before = self._clear()
        hangover_ms = max(self._plan.silence_ms, OWN_EARS_MIN_MS)
        settings = GateSettings(hangover_ms=hangover_ms, service_ends_turns=False)
        talk = self._by_agent(Senses(Gate(Vad(), settings), None, own_ears=True), Voicing.SPEECH)
        self._seat(talk, before)
        talk.take_over(unanswered)

    def restore(self, link: LiveLink) -> None:
        """A Live session stands again, at a quiet moment: told, and it goes on from here."""
        self.degraded = False
        self._room.tell(rtvi.Notice(text=BACK_TEXT, code="live-back"))
        before = self._clear()
        self._seat(self._by_plan(link), before)
        self.talk.link_restored()

    def _clear(self) -> Talk:
        """The talk that was, closed and counted."""
        before = self.talk
        before.on_deadline_changed = lambda: None
        before.close()
        self._counted += before.metrics.counts
        self._reply_s = self.reply_s
        return before

    def _seat(self, talk: Talk, before: Talk) -> None:
        """What the learner has switched stays as it is."""
        talk.microphone_on, talk.speech_on = before.microphone_on, before.speech_on
        self.talk = talk

    # --- talks ------------------------------------------------------------------------------------

    def _by_plan(self, link: LiveLink) -> Talk:
        if self._plan.native:
            return self._native(link)
        senses = Senses(Gate(Vad(), self._plan.gate), link, brackets=not self._plan.vad_enabled)
        return self._by_agent(senses, VOICING[self._plan.mode])

    def _native(self, link: LiveLink) -> Conversation:
        room = self._room
        # A resumed session meets the ids of its earlier lessons on the same page.
        turns = Turns(prefix=_prefix(), link_up=False)
        room.captions.barge_in = True
        talk = Conversation(
            gate=Gate(Vad(), self._plan.gate),
            turns=turns,
            captions=room.captions,
            tell=room.tell,
            tell_level=room.tell_level,
            finished=room.finished,
            now=room.now,
            spans=room.spans,
            manual_activity=not self._plan.vad_enabled,
            stand_in=StandIn(room.ports.speak, room.errands),
        )
        room.record.begin(turns)
        talk.on_turned = room.record.observe
        talk.on_turn = room.timed
        talk.on_deadline_changed = room.armed
        talk.connect(link)
        return talk

    def _by_agent(self, senses: Senses, voicing: Voicing) -> AgentTalk:
        return AgentTalk(senses, AgentVoiced(voicing, prefix=_prefix()), self._room)


def _prefix() -> str:
    return f"{secrets.token_hex(3)}-"

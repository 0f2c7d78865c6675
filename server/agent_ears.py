"""The learner's end of a talk whose replies come from the agent: gate, key, microphone, own ears.

What is heard goes to the Live session, or is cut out for whoever writes it down. No I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from media import turn_events as ev
from media.gate import Gate, GateStep
from media.live.link import LiveLink
from media.modes import agent_events as ag
from media.modes.segment import Segment
from media.spans import MIC_TO_GATE
from server import rtvi
from server.microphone import LEVEL_EVERY_S
from server.room import Room
from server.talk_key import TalkKey
from server.turn_metrics import TurnMetrics

_SILENCE = bytes(640)

# Our own ears failed: once is an accident, twice in a row means that the learner has to type.
DEAF_TEXT = "I could not make out what you said. Please say it again."
TEXT_ONLY_TEXT = "I cannot hear you right now. You can go on by typing."
DEAF_TIMES = 2


@dataclass(frozen=True, slots=True)
class Senses:
    """What a talk hears with and speaks through. `link` is None without a Live session; `own_ears`
    cuts speech out at the gate and writes it down; `brackets`: the gate ends the turns of the Live
    session (`liveVadEnabled:false`)."""

    gate: Gate
    link: LiveLink | None
    own_ears: bool = False
    brackets: bool = False


class Ears:
    """`listening` False: a reply is awaited or heard; `replaying`: it is heard once more. Then the
    microphone passes for silence (VOICE-31). `handle` feeds the machine."""

    def __init__(
        self,
        senses: Senses,
        handle: Callable[[ag.AgentEvent], None],
        room: Room,
        metrics: TurnMetrics,
    ) -> None:
        self._senses, self._handle = senses, handle
        self._tell, self._tell_level, self._metrics = room.tell, room.tell_level, metrics
        self._now, self._spans = room.now, room.spans
        self._key = TalkKey(senses.gate, lambda: False, handle)
        self._failures = 0
        self._level_at = 0.0
        self.segment = Segment()
        self.listening = True
        self.replaying = False
        self.microphone_on = True
        self.last_voice_at = room.now()

    # --- sound -----------------------------------------------------------------------------------

    def hear(self, pcm: bytes, at: float) -> None:
        """20 ms of the microphone, PCM16 mono 16 kHz, that arrived at `at`."""
        self._spans.add(MIC_TO_GATE, self._now() - at)
        gate = self._senses.gate
        wanted = (self.microphone_on and not self.deaf) or gate.holding
        open_ = wanted and self.listening and not self.replaying
        step = gate.feed(pcm if open_ else _SILENCE, at)
        self._heard(step, at)
        self._key.heard(at)
        if at - self._level_at >= LEVEL_EVERY_S:
            self._level_at = at
            level = rtvi.ActivityLevel(level=round(step.level, 2), sending=bool(step.forward))
            self._tell_level(level)

    def _heard(self, step: GateStep, at: float) -> None:
        """An activity begins before its sound and ends after it (RTC-9)."""
        for event in step.events:
            self._gate_event(event)
        if step.activity is True:
            self._bracket(started=True)
        if step.forward:
            self._forward(step.forward, at)
        if step.activity is False:
            self._bracket(started=False)
        self._cut_out(step.events, at)

    def _forward(self, pcm: bytes, at: float) -> None:
        if self._senses.own_ears:
            self.segment.add(pcm)
        elif self._senses.link is not None:
            self._senses.link.audio(pcm, at)

    def _cut_out(self, events: Sequence[ev.TurnEvent], at: float) -> None:
        if self._senses.own_ears and any(isinstance(one, ev.SpeechEnded) for one in events):
            self._handle(ag.Uttered(at))

    def _gate_event(self, event: ev.TurnEvent) -> None:
        match event:
            case ev.SpeechStarted(at=at, onset=onset):
                self._metrics.speech_started(onset, at)
                self._tell("user-started-speaking")
            case ev.SpeechEnded(at=at):
                self._metrics.speech_ended(at - self._senses.gate.lag_ms / 1000)
                self._tell("user-stopped-speaking")
            case _:
                return
        self.last_voice_at = at
        self._handle(event)

    def _bracket(self, *, started: bool) -> None:
        if self._senses.brackets and self._senses.link is not None:
            self._senses.link.activity(started)
            self._handle(ag.Activity(self._now(), started))

    # --- the page --------------------------------------------------------------------------------

    def push_to_talk(self, down: bool, at: float) -> None:
        self._key.move(down, at)

    def absent(self, at: float) -> None:
        """A key is up again, what was being said is over."""
        self._key.move(False, at)
        gate = self._senses.gate
        was_open, events = gate.open, gate.absent(at)
        for event in events:
            self._gate_event(event)
        if was_open:
            self._bracket(started=False)
        self._cut_out(events, at)

    # --- our own ears ----------------------------------------------------------------------------

    @property
    def deaf(self) -> bool:
        """They failed too often: the learner has to type."""
        return self._failures >= DEAF_TIMES

    def understood(self) -> None:
        self._failures = 0
        self.segment.clear()

    def failed(self) -> rtvi.Notice:
        """What could not be written down is lost; says so."""
        self.segment.clear()
        self._failures += 1
        if self.deaf:
            return rtvi.Notice(text=TEXT_ONLY_TEXT, code="text-only")
        return rtvi.Notice(text=DEAF_TEXT, code="deaf")

    def recover(self) -> bool:
        """Tries them again; whether they had failed."""
        failed, self._failures = self._failures > 0, 0
        return failed

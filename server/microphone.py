"""The learner's end of a native talk: microphone, push-to-talk key and gate, and what of the sound
goes on to the Live service. It ends no turn, except where our own detection does. No I/O.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from pydantic import BaseModel

from media import turn_events as ev
from media.endpoint import THINKING_S
from media.gate import Gate, GateStep
from media.question import asks
from media.spans import MIC_TO_GATE, Spans
from server import rtvi
from server.talk_key import TalkKey

# Design 3.3: at most 5 `activity` messages a second.
LEVEL_EVERY_S = 0.2
LEVEL_AGAIN_S = 2.0
# Silence sent on after speech while no answer has come: the bound of what it may cost.
PATIENCE_S = 6.0
_SILENCE = bytes(640)


class Line(Protocol):
    """Where the sound goes, with the marks around it."""

    def audio(self, pcm: bytes, at: float) -> None: ...
    def activity(self, started: bool) -> None: ...


class Microphone:
    """`handle` gets what the gate and the key say. `claimable`: the key may silence the voice;
    `awaited`: an answer is due. `manual`: our own detection brackets the learner's turns."""

    def __init__(
        self,
        gate: Gate,
        *,
        manual: bool,
        claimable: Callable[[], bool],
        awaited: Callable[[], bool],
        handle: Callable[[ev.TurnEvent], None],
        tell_level: Callable[[BaseModel], None],
        now: Callable[[], float],
        spans: Spans,
    ) -> None:
        self._gate, self._manual = gate, manual
        self._awaited, self._handle, self._tell_level = awaited, handle, tell_level
        self._now, self._spans = now, spans
        self._key = TalkKey(gate, claimable, handle)
        self._level_at = 0.0
        self._shown_level: rtvi.ActivityLevel | None = None
        self._patient_until = 0.0
        self.line: Line | None = None
        self.on = True

    @property
    def lag_s(self) -> float:
        """From the end of what was said last to the gate's word of it."""
        return self._gate.lag_ms / 1000

    # --- sound ----------------------------------------------------------------------------------

    def hear(self, pcm: bytes, at: float) -> None:
        """20 ms of the microphone, PCM16 mono 16 kHz, that arrived at `at`."""
        self._spans.add(MIC_TO_GATE, self._now() - at)
        heard = self.on or self._gate.holding
        step = self._gate.feed(pcm if heard else _SILENCE, at)
        self._told(step.events)
        self._key.heard(at)
        self._send(step, at)
        if at - self._level_at >= LEVEL_EVERY_S:
            self._show_level(step, at)

    def _told(self, events: tuple[ev.TurnEvent, ...]) -> None:
        for event in events:
            if isinstance(event, ev.SpeechEnded):
                self._patient_until = event.at + PATIENCE_S
            self._handle(event)

    def _send(self, step: GateStep, at: float) -> None:
        """An activity begins before its sound and ends after it (RTC-9)."""
        line, forward = self.line, step.forward or self._patience(at)
        if line is None:
            return
        if step.activity is True:
            line.activity(True)
        if forward:
            line.audio(forward, at)
        if step.activity is False:
            line.activity(False)

    def _patience(self, at: float) -> bytes:
        """The gate is shut and the answer is due: a service that is slow to notice the end of
        speech is never starved of the silence it needs for that: it can only count audio."""
        if self._manual or not self._awaited():
            return b""
        return _SILENCE if at < self._patient_until else b""

    def _show_level(self, step: GateStep, at: float) -> None:
        """A level that does not move is told again only now and then."""
        level = rtvi.ActivityLevel(level=round(step.level, 2), sending=bool(step.forward))
        if level != self._shown_level or at - self._level_at >= LEVEL_AGAIN_S:
            self._level_at, self._shown_level = at, level
            self._tell_level(level)

    def push_to_talk(self, down: bool) -> None:
        self._key.move(down, self._now())

    def absent(self) -> None:
        """Nobody is on the line: a key is up again, what was being said is over."""
        at = self._now()
        self._key.move(False, at)
        was_open = self._gate.open
        self._told(self._gate.absent(at))
        if self._manual and was_open and self.line is not None:
            self.line.activity(False)

    # --- what the end of a turn of our own detection depends on -----------------------------------

    def understood(self, text: str) -> None:
        """The words of the turn so far."""
        if self._manual:
            self._gate.endpoint.words(text)

    def replied(self, heard: str) -> None:
        """A reply has been heard to its end: after a question the learner may think first."""
        if self._manual:
            self._gate.thinking(THINKING_S if asks(heard) else 0.0)

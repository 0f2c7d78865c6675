"""A tutor who talks and a microphone, with everything of ours in between: what is played comes
back, what is heard ducks, pauses and interrupts."""

from __future__ import annotations

import numpy as np

from media import turn_events as ev
from media.gate import BLOCK_BYTES, Gate, GateSettings
from media.playout import Playout
from media.turns import Turns
from media.vad import Vad
from tests.media.hearing.clips import RATE, Sound, db, joe_24k
from tests.media.hearing.trial import ROOM
from tests.media.hearing.way_back import ACTIVE_DB, MIC_BLOCK, WayBack
from tests.media.player import perform

STEP_S = 0.02
JITTER_S = 0.015
REPLY = (
    "That is a good start, and you have already named the two things that matter most here.",
    "Now think about what happens at night, when there is no light at all for many hours.",
    "What would a plant have to do then, so that it does not starve before the morning?",
)


def tutor() -> Sound:
    """14 s of the local voice at 24 kHz, at -23 dBFS of active level."""
    voice = np.concatenate([joe_24k(sentence) for sentence in REPLY])
    power = db(voice, 480)
    active = 10 * np.log10(np.mean(10 ** (power[power > power.max() - 30] / 10)))
    return np.asarray(voice * 10 ** ((ACTIVE_DB - active) / 20), np.float32)


class Desk:
    """`hear` sound at the microphone (16 kHz, full scale 1) while the reply plays."""

    def __init__(self, way_back: WayBack | None = None, settings: GateSettings | None = None):
        self.at = 0.0
        self.way_back = way_back
        self.turns = Turns()
        self.gate = Gate(Vad(), settings)
        self.playout = Playout(on_started=self._started, on_drained=self._drained)
        self.effects: list[tuple[float, ev.Effect]] = []
        self.activity: list[bool] = []
        self._rng = np.random.default_rng(5)
        self._arrivals = np.random.default_rng(6)
        self._replies = 0

    def _started(self, turn_id: str, at: float) -> None:
        self.gate.set_tutor_speaking(True)
        self.handle(ev.PlayoutStarted(at, turn_id))

    def _drained(self, turn_id: str, at: float) -> None:
        self.gate.set_tutor_speaking(False)
        self.handle(ev.PlayoutDrained(at, turn_id))

    def handle(self, event: ev.TurnEvent) -> None:
        for effect in self.turns.handle(event):
            self.effects.append((self.at, effect))
            perform(effect, self.playout)
            if isinstance(effect, ev.Flush):
                self.gate.set_tutor_speaking(False)

    def tutor_says(self, voice: Sound) -> None:
        self._replies += 1
        self.handle(ev.Typed(self.at, "Please explain.", f"r{self._replies}"))
        self.handle(ev.TutorAudioArrived(self.at, len(voice) / 24))
        self.playout.audio(np.rint(voice * 32767).astype("<i2").tobytes())
        self.handle(ev.GenerationCompleted(self.at))
        self.handle(ev.TurnCompleted(self.at))

    def hear(self, sound: Sound) -> None:
        for start in range(0, len(sound), MIC_BLOCK):
            piece = np.zeros(MIC_BLOCK, np.float32)
            piece[: len(sound[start : start + MIC_BLOCK])] = sound[start : start + MIC_BLOCK]
            self._step(piece)

    def wait(self, seconds: float) -> None:
        self.hear(np.zeros(int(seconds * RATE), np.float32))

    def _step(self, near: Sound) -> None:
        played = self.playout.pull(self.at)
        if played is not None:
            self.gate.played(played, self.at)
        heard = near + self._rng.standard_normal(MIC_BLOCK).astype(np.float32) * ROOM
        if self.way_back is None:
            pcm = np.clip(np.rint(heard * 32768), -32768, 32767).astype("<i2").tobytes()
        else:
            pcm = self.way_back.microphone(heard + self.way_back.hear(played))
        assert len(pcm) == BLOCK_BYTES
        self.at += STEP_S  # a block is heard when it is over
        # The network is not a clock: up to 15 ms late.
        step = self.gate.feed(pcm, self.at + float(self._arrivals.uniform(0, JITTER_S)))
        for event in step.events:
            self.handle(event)
        if step.activity is not None:
            self.activity.append(step.activity)
        self.handle(ev.TimePassed(self.at))

    def times(self, kind: type[ev.Effect]) -> list[float]:
        return [at for at, effect in self.effects if isinstance(effect, kind)]

"""Barge-in from microphone samples to what the peer hears: detector, gate, machine and playout."""

from __future__ import annotations

import numpy as np
import pytest

from media import turn_events as ev
from media.gate import Gate
from media.playout import Playout
from media.sound import DUCKED_GAIN
from media.turns import State, Turns
from media.vad import Vad
from tests.media.player import perform
from tests.media.test_vad import blocks, noise, silence, speech

STEP_S = 0.02


class Desk:
    """A tutor who talks, a microphone, and what leaves for the learner, 20 ms at a time."""

    def __init__(self) -> None:
        self.at = 0.0
        self.turns = Turns()
        self.playout = Playout(
            on_started=lambda turn, at: self.handle(ev.PlayoutStarted(at, turn)),
            on_drained=lambda turn, at: self.handle(ev.PlayoutDrained(at, turn)),
        )
        self.gate = Gate(Vad())
        self.effects: list[tuple[float, ev.Effect]] = []
        self.level: list[float] = []

    def handle(self, event: ev.TurnEvent) -> None:
        for effect in self.turns.handle(event):
            self.effects.append((self.at, effect))
            perform(effect, self.playout)

    def tutor_says(self, seconds: float) -> None:
        self.handle(ev.Typed(self.at, "Please explain.", "r1"))
        pcm = np.full(int(24_000 * seconds), 8000, "<i2").tobytes()
        self.handle(ev.TutorAudioArrived(self.at, seconds * 1000))
        self.playout.audio(pcm)
        self.handle(ev.GenerationCompleted(self.at))

    def hear(self, pcm: bytes) -> None:
        for block in blocks(pcm):
            self.gate.set_tutor_speaking(self.turns.state is State.TUTOR)
            self.at += STEP_S  # a block is heard when it is over
            for event in self.gate.feed(block, self.at).events:
                self.handle(event)
            self.handle(ev.TimePassed(self.at))
            out = self.playout.pull(self.at)
            self.level.append(float(np.abs(np.frombuffer(out, "<i2")[200:]).max()) if out else 0.0)

    def first(self, kind: type[ev.Effect]) -> float:
        return next(at for at, effect in self.effects if isinstance(effect, kind))


def onset_of(voice: bytes) -> float:
    """First 10 ms that come within 25 dB of the loudest."""
    samples = np.frombuffer(voice, "<i2").astype(float)
    frames = samples[: len(samples) // 160 * 160].reshape(-1, 160)
    energy = np.sqrt((frames**2).mean(1))
    return float(np.argmax(energy > energy.max() * 10 ** (-25 / 20))) * 0.01


def interrupted_by(voice: bytes, after: float = 1.0) -> tuple[Desk, float]:
    desk = Desk()
    desk.tutor_says(20)
    desk.hear(noise(1.5, 3))
    onset = desk.at + onset_of(voice)
    desk.hear(voice + silence(after))
    return desk, onset


@pytest.mark.req("RTC-11")
def test_t19_barge_in_is_ducked_within_60_ms_and_silent_within_150() -> None:
    """T19, design 10: medians over five voices, network not counted."""
    ducked, silent = [], []
    for card in ("001", "002", "003", "004", "005"):
        desk, onset = interrupted_by(speech(card))
        start = int(onset / STEP_S) - 5
        full = max(desk.level[:start])
        low = next(i for i in range(start, 999) if desk.level[i] <= full * DUCKED_GAIN * 1.05)
        mute = next(i for i in range(start, 999) if desk.level[i] == 0.0)
        ducked.append((low + 1) * STEP_S - onset)
        silent.append((mute + 1) * STEP_S - onset)
        assert isinstance(next(e for _, e in desk.effects if isinstance(e, ev.Flush)), ev.Flush)
        assert desk.turns.state in (State.LEARNER, State.FORMULATING)
    assert np.median(ducked) <= 0.06 + STEP_S
    assert np.median(silent) <= 0.15


def test_t4_a_real_cough_is_forgiven_without_losing_a_sample() -> None:
    """T4: 160 ms of a voice, then silence; the reply goes on to its end."""
    voice = speech("001")
    begin = int(onset_of(voice) * 16_000) * 2
    cough = voice[begin : begin + 2 * 16 * 160]
    desk, _ = interrupted_by(cough, after=3.0)
    kinds = [type(effect) for _, effect in desk.effects]
    assert ev.Resume in kinds or ev.Pause not in kinds
    assert ev.Flush not in kinds
    played = desk.playout.heard().played_ms
    stood_still = sum(level == 0.0 for level in desk.level) * 20
    assert played == pytest.approx(len(desk.level) * 20 - stood_still, abs=20)
    assert desk.turns.state is State.TUTOR


def test_noise_never_stops_the_tutor() -> None:
    desk = Desk()
    desk.tutor_says(20)
    desk.hear(noise(10, 400))
    assert not any(isinstance(effect, ev.Pause | ev.Flush) for _, effect in desk.effects)
    assert min(desk.level) > 0

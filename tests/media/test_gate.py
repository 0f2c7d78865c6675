"""What may leave, and the events of speech, with a detector that says what the test wants."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from media.gate import BLOCK_BYTES, MARGIN_MS, REST_BLOCKS, Gate, GateSettings, GateStep
from media.turn_events import SpeechEnded, SpeechEvidence, SpeechStarted, SpeechSustained
from media.vad import VadReading
from tests.media.ears import Told, block, loud_block

ZERO = bytes(BLOCK_BYTES)


class Mic:
    def __init__(self, settings: GateSettings | None = None) -> None:
        self.gate = Gate(Told(), settings)
        self.number = 0
        self.at = 10.0
        self.sent = b""
        self.events: list[object] = []

    def say(self, ms: int, speech: int) -> list[GateStep]:
        steps = []
        for _ in range(ms // 20):
            steps.append(self._feed(block(self.number, speech)))
        return steps

    def mute(self, ms: int) -> list[GateStep]:
        return [self._feed(ZERO) for _ in range(ms // 20)]

    def _feed(self, pcm: bytes) -> GateStep:
        step = self.gate.feed(pcm, self.at)
        self.number += 1
        self.at += 0.02
        self.sent += step.forward
        self.events += step.events
        return step

    def sent_blocks(self) -> list[int]:
        starts = range(0, len(self.sent), BLOCK_BYTES)
        return [int(np.frombuffer(self.sent[s : s + 2], "<i2")[0]) for s in starts]

    def kinds(self) -> list[type]:
        return [type(event) for event in self.events]


def first(events: Iterable[object], kind: type) -> object:
    return next(event for event in events if isinstance(event, kind))


@pytest.mark.req("RTC-8")
def test_silence_is_not_forwarded() -> None:
    mic = Mic()
    steps = mic.say(60_000, 5)
    assert mic.sent == b""
    assert mic.events == []
    assert not any(step.open for step in steps)


@pytest.mark.req("RTC-9", "RTC-8")
def test_t29_the_pre_roll_is_400_ms_and_sample_exact() -> None:
    """T29: forwarded audio starts 400 ms before the gate opened, no sample lost or doubled."""
    mic = Mic()
    mic.say(2000, 2)
    mic.say(1000, 90)
    opened = 100 + 1  # the second voiced block makes speech certain
    assert mic.sent_blocks()[0] == opened - 20
    assert mic.sent_blocks() == list(range(opened - 20, mic.number))
    assert mic.sent == b"".join(
        block(n, 2 if n < 100 else 90) for n in range(opened - 20, mic.number)
    )


@pytest.mark.req("RTC-9")
def test_the_first_forwarded_sample_lies_300_to_400_ms_before_the_onset() -> None:
    for over_tutor in (False, True):
        mic = Mic()
        mic.gate.set_tutor_speaking(over_tutor)
        mic.say(2000, 2)
        mic.say(400, 90)
        started = first(mic.events, SpeechStarted)
        assert isinstance(started, SpeechStarted)
        first_sent_at = 10.0 + mic.sent_blocks()[0] * 0.02
        assert 0.25 <= started.onset - first_sent_at <= 0.4


@pytest.mark.req("RTC-8")
def test_enough_trailing_audio_follows_the_speech() -> None:
    mic = Mic(GateSettings(trailing_ms=1500))
    mic.say(1000, 2)
    mic.say(600, 90)
    last = mic.number - 1
    mic.say(5000, 2)
    trailing = (mic.sent_blocks()[-1] - last) * 20
    assert 1500 <= trailing <= 1500 + MARGIN_MS
    assert not mic.gate.open


def test_reopening_soon_repeats_no_sample() -> None:
    mic = Mic(GateSettings(trailing_ms=500))
    mic.say(1000, 2)
    for _ in range(3):
        mic.say(200, 90)
        mic.say(800, 2)
    sent = mic.sent_blocks()
    assert sent == sorted(set(sent))


def test_t7_a_short_quiet_word_gets_through() -> None:
    """T7: a 120 ms voiced burst."""
    mic = Mic()
    mic.say(1000, 2)
    start = mic.number
    mic.say(120, 55)
    mic.say(3000, 2)
    assert mic.kinds() == [SpeechEvidence, SpeechStarted, SpeechEnded]
    assert set(range(start - 15, start + 6)) <= set(mic.sent_blocks())


def test_where_it_takes_long_to_be_sure_the_pre_roll_is_longer() -> None:
    """More signs are asked for while the tutor may be heard back: the first word is whole."""
    mic = Mic()
    mic.say(1000, 2)
    begin = mic.number
    for _ in range(40):
        mic.gate.played(bytes(960), mic.at)
        mic.say(20, 90)
    started = first(mic.events, SpeechStarted)
    assert isinstance(started, SpeechStarted)
    assert started.at - started.onset > 0.2
    assert begin - 20 <= mic.sent_blocks()[0] <= begin - 13
    assert mic.sent_blocks() == list(range(mic.sent_blocks()[0], mic.number))


def test_evidence_comes_before_certainty() -> None:
    mic = Mic()
    mic.say(200, 2)
    mic.say(1000, 90)
    assert mic.kinds() == [SpeechEvidence, SpeechStarted, SpeechSustained]
    evidence, started, sustained = (event.at for event in mic.events)  # type: ignore[attr-defined]
    assert started - evidence == pytest.approx(0.02)
    assert sustained - evidence == pytest.approx(0.48)


def test_a_click_is_evidence_at_most() -> None:
    mic = Mic()
    mic.say(200, 2)
    mic.say(20, 90)
    mic.say(2000, 2)
    assert mic.kinds() == [SpeechEvidence]
    assert mic.sent == b""


def test_a_warm_first_stage_is_evidence_and_shortens_the_way() -> None:
    """Design 5.4: duck within 60 ms; the second stage alone would be late at a fricative."""
    hissing = np.full(BLOCK_BYTES // 2, 900, "<i2").tobytes()

    class Warm(Told):
        def feed(self, pcm20: bytes) -> VadReading:
            speech = super().feed(pcm20).speech
            return VadReading(0.6, 0.0) if pcm20 == hissing else VadReading(speech, speech)

    mic = Mic()
    mic.gate = Gate(Warm())
    mic.gate.set_tutor_speaking(True)
    mic.say(200, 2)
    for _ in range(10):
        mic._feed(hissing)
    assert mic.kinds() == [SpeechEvidence]
    mic.say(40, 90)
    assert mic.kinds() == [SpeechEvidence, SpeechStarted]


def test_more_evidence_is_needed_over_the_tutor() -> None:
    quiet, loud = Mic(), Mic()
    loud.gate.set_tutor_speaking(True)
    for mic in (quiet, loud):
        mic.say(200, 2)
        mic.say(40, 90)
        mic.say(60, 2)
        mic.say(60, 55)
    assert SpeechStarted in quiet.kinds()
    assert SpeechStarted not in loud.kinds()
    loud.say(60, 90)
    assert SpeechStarted in loud.kinds()


def test_a_cough_over_the_tutor_is_over_soon() -> None:
    mic = Mic()
    mic.gate.set_tutor_speaking(True)
    mic.say(200, 2)
    mic.say(160, 90)
    mic.say(1000, 2)
    started, ended = first(mic.events, SpeechStarted), first(mic.events, SpeechEnded)
    assert isinstance(started, SpeechStarted)
    assert isinstance(ended, SpeechEnded)
    assert ended.at - started.at < 0.4
    assert SpeechSustained not in mic.kinds()


def test_a_breath_within_a_sentence_does_not_end_speech() -> None:
    mic = Mic()
    mic.say(200, 2)
    for _ in range(5):
        mic.say(300, 90)
        mic.say(400, 2)
    assert mic.kinds().count(SpeechStarted) == 1
    assert SpeechEnded not in mic.kinds()


@pytest.mark.req("RTC-10")
def test_t5_mute_in_the_middle_of_a_word_ends_the_speech() -> None:
    """T5: from then on only zero blocks."""
    mic = Mic()
    mic.say(200, 2)
    mic.say(500, 90)
    muted = mic.at
    mic.mute(3000)
    ended = first(mic.events, SpeechEnded)
    assert isinstance(ended, SpeechEnded)
    assert ended.at - muted <= 1.2
    assert not mic.gate.open
    assert len(mic.sent) // BLOCK_BYTES * 20 >= 500 + 1500


def test_t5_time_and_not_blocks_ends_the_speech() -> None:
    mic = Mic()
    mic.say(200, 2)
    mic.say(500, 90)
    mic.at += 3.0  # nothing at all arrived meanwhile
    mic.mute(20)
    assert mic.kinds()[-1] is SpeechEnded


class Counted(Told):
    """How many blocks were looked at."""

    blocks = 0

    def feed(self, pcm20: bytes) -> VadReading:
        self.blocks += 1
        return super().feed(pcm20)


def test_a_gate_that_hears_digital_silence_rests_and_wakes_whole() -> None:
    """A microphone that is off costs nothing; the first word after it has its pre-roll."""
    mic, vad = Mic(), Counted()
    mic.gate = Gate(vad)
    mic.say(500, 90)
    mic.mute(60_000)
    assert vad.blocks <= 25 + REST_BLOCKS + 125  # the gate stays open for the service first
    assert not mic.gate.open
    mic.sent, mic.events, begin = b"", [], mic.number
    mic.say(400, 90)
    assert mic.kinds() == [SpeechEvidence, SpeechStarted]
    assert mic.sent.startswith(bytes(19 * BLOCK_BYTES) + block(begin, 90))
    assert len(mic.sent) == (19 + 20) * BLOCK_BYTES


def test_a_gate_does_not_rest_in_a_hold() -> None:
    mic = Mic()
    mic.mute(10_000)
    mic.gate.hold(True)
    mic.mute(2_000)
    for n in range(20):
        mic._feed(loud_block(n))
    assert mic.gate.speaking
    mic.mute(10_000)
    assert mic.gate.speaking
    mic.gate.hold(False)
    mic.mute(1_000)
    assert not mic.gate.speaking


def test_own_turns_are_bracketed_by_the_gate() -> None:
    mic = Mic(GateSettings(service_ends_turns=False, hangover_ms=1200))
    mic.say(1000, 2)
    steps = mic.say(600, 90) + mic.say(3000, 2)
    brackets = [
        (type(event), bool(step.forward))
        for step in steps
        for event in step.events
        if isinstance(event, SpeechStarted | SpeechEnded)
    ]
    assert brackets == [(SpeechStarted, True), (SpeechEnded, False)]
    started = next(i for i, s in enumerate(steps) if s.forward)
    ended = next(i for i, s in enumerate(steps) if SpeechEnded in map(type, s.events))
    assert all(step.forward for step in steps[started:ended])
    assert not any(step.forward for step in steps[ended:])
    assert ended * 20 == 600 + 1200


def test_own_turns_bracket_what_is_forwarded() -> None:
    mic = Mic(GateSettings(service_ends_turns=False, hangover_ms=1200))
    mic.say(1000, 2)
    steps = mic.say(600, 90) + mic.say(3000, 2)
    brackets = [(step.activity, bool(step.forward)) for step in steps if step.activity is not None]
    assert brackets == [(True, True), (False, False)]
    assert all(step.activity is None for step in Mic().say(3000, 90))


def test_own_turns_over_the_tutor_open_late_and_lose_nothing() -> None:
    """A cough is over before the service hears of it; a word is sent from its pre-roll on."""
    settings = GateSettings(service_ends_turns=False, hangover_ms=1200)
    cough, word = Mic(settings), Mic(settings)
    for mic, voiced_ms in ((cough, 200), (word, 400)):
        mic.gate.set_tutor_speaking(True)
        mic.say(2000, 2)
        mic.say(voiced_ms, 90)
        mic.say(3000, 2)
    assert SpeechStarted in cough.kinds()
    assert cough.sent == b""
    certain = 100 + 2  # the third voiced block
    assert word.sent_blocks()[0] == certain - 20
    assert word.sent_blocks() == list(range(certain - 20, word.sent_blocks()[-1] + 1))
    assert SpeechEnded in word.kinds()


@pytest.mark.parametrize("pause", [600, 1000])
def test_t8_own_turns_survive_a_pause_in_a_sentence(pause: int) -> None:
    """T8: one turn while the pause is shorter than the hang-over."""
    mic = Mic(GateSettings(service_ends_turns=False, hangover_ms=1500))
    mic.say(600, 90)
    mic.say(pause, 2)
    mic.say(600, 90)
    mic.say(3000, 2)
    assert mic.kinds().count(SpeechStarted) == mic.kinds().count(SpeechEnded) == 1


def test_the_meter_shows_the_voice_and_falls_back() -> None:
    gate = Gate(Told())
    t = np.arange(320) / 16_000
    voice = (3000 * np.sin(2 * np.pi * 200 * t)).astype("<i2").tobytes()
    assert gate.feed(ZERO, 0.0).level == 0.0
    loud = gate.feed(voice, 0.02).level
    assert 0.5 < loud <= 1.0
    levels = [gate.feed(ZERO, 0.04 + n * 0.02).level for n in range(40)]
    assert levels == sorted(levels, reverse=True)
    assert levels[-1] < 0.01


@pytest.mark.parametrize("size", [0, 639, 1280])
def test_only_whole_blocks_are_taken(size: int) -> None:
    with pytest.raises(ValueError, match="640"):
        Gate(Told()).feed(bytes(size), 0.0)

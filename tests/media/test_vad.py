"""The two-stage detector with its real models on real speech."""

from __future__ import annotations

import wave
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from media import vad
from media.gate import Gate
from media.turn_events import SpeechEnded, SpeechStarted
from media.vad import BLOCK_BYTES, Vad

CARDS = Path("/usr/share/pocketsphinx/test/data/cards")
RNG = np.random.default_rng(7)


def speech(name: str = "001") -> bytes:
    path = CARDS / f"{name}.wav"
    if not path.exists():
        pytest.skip("needs the Debian package pocketsphinx-testdata")
    with wave.open(str(path)) as recording:
        assert recording.getframerate() == vad.RATE
        return recording.readframes(recording.getnframes())


def blocks(pcm: bytes) -> list[bytes]:
    return [pcm[i : i + BLOCK_BYTES] for i in range(0, len(pcm) - BLOCK_BYTES + 1, BLOCK_BYTES)]


def silence(seconds: float) -> bytes:
    return bytes(int(seconds * vad.RATE) * 2)


def noise(seconds: float, level: float = 300) -> bytes:
    return (RNG.standard_normal(int(seconds * vad.RATE)) * level).astype("<i2").tobytes()


def test_speech_is_found_and_silence_is_not() -> None:
    detector = Vad()
    before = [detector.feed(block).speech for block in blocks(silence(2))]
    amid = [detector.feed(block).speech for block in blocks(speech())]
    assert max(before) < 0.3
    assert np.mean(np.array(amid) > 0.5) > 0.6


def test_stage_two_rests_while_nothing_is_warm() -> None:
    detector = Vad()
    for block in blocks(silence(10)):
        detector.feed(block)
    assert detector.windows == 0
    detector.reset()
    for block in blocks(noise(20)):
        detector.feed(block)
    assert detector.windows <= 0.05 * 20 * vad.RATE / vad.WINDOW
    for block in blocks(speech()):
        detector.feed(block)
    assert detector.windows > 20


def test_blocks_are_cut_into_hops_without_losing_samples() -> None:
    """20 ms blocks, one feed of everything and odd cuts give the same probabilities."""
    pcm = silence(0.2) + speech()  # shorter than what the models rest in
    pcm = pcm[: len(pcm) // 512 * 512]

    def last(cut: int) -> vad.VadReading:
        detector = Vad()
        for start in range(0, len(pcm), cut):
            reading = detector.feed(pcm[start : start + cut])
        return reading

    assert last(640) == last(len(pcm)) == last(1022)


def test_digital_silence_costs_nothing_and_the_next_word_is_heard() -> None:
    """A muted page sends exact zeros: after 300 ms of them neither model runs."""
    detector = Vad()
    for block in blocks(speech() + silence(1.0)):
        detector.feed(block)
    heard: list[object] = []
    first = detector._first
    detector._first = SimpleNamespace(  # type: ignore[assignment]
        predict_i16=lambda hop: heard.append(hop) or first.predict_i16(hop), reset=first.reset
    )
    for block in blocks(silence(60)):
        assert detector.feed(block).speech == 0.0
    assert heard == []
    assert max(detector.feed(block).speech for block in blocks(speech())) > 0.9


def test_streams_share_a_session_and_nothing_else() -> None:
    one, two = Vad(), Vad()
    alone = Vad()
    expected = [alone.feed(block) for block in blocks(speech())]
    mixed = []
    for block, other in zip(blocks(speech()), blocks(speech("002") + silence(5)), strict=False):
        mixed.append(one.feed(block))
        two.feed(other)
    assert mixed == expected
    assert vad._silero() is vad._silero()


def test_reset_forgets_the_stream() -> None:
    used, fresh = Vad(), Vad()
    for block in blocks(speech()):
        used.feed(block)
    used.reset()
    again = [used.feed(block) for block in blocks(speech("002"))]
    assert again == [fresh.feed(block) for block in blocks(speech("002"))]


def test_memory_starts_afresh_after_long_clear_non_speech() -> None:
    second = vad._Second()
    zero = np.zeros(vad.WINDOW, np.int16)
    for _ in range(vad.CLEAR_WINDOWS - 1):
        second.step(zero)
    assert second._state.any()
    second.step(zero)
    assert not second._state.any()


def test_half_a_sample_is_refused() -> None:
    with pytest.raises(ValueError):
        Vad().feed(bytes(639))


@pytest.mark.req("RTC-8", "RTC-9")
@pytest.mark.parametrize("card", ["001", "002", "003", "004", "005"])
@pytest.mark.parametrize("gain", [1.0, 0.1])
def test_an_utterance_passes_the_gate_whole(card: str, gain: float) -> None:
    """Soon after the first loud sample, nothing of the words cut, at -20 dB as well."""
    voice = (np.frombuffer(speech(card), "<i2") * gain).astype("<i2").tobytes()
    hiss = noise(1.5, 3)
    gate, sent, events = Gate(Vad()), b"", []
    for n, block in enumerate(blocks(hiss + voice + noise(3, 3))):
        step = gate.feed(block, n * 0.02)
        sent += step.forward
        events += step.events
    started = [event for event in events if isinstance(event, SpeechStarted)]
    assert started
    assert sum(isinstance(event, SpeechEnded) for event in events) == len(started)
    loud = np.abs(np.frombuffer(voice, "<i2").astype(int)) > 0.1 * 32768 * gain
    onset = 1.5 + int(np.argmax(loud)) / vad.RATE
    assert started[0].at - onset < 0.25
    assert voice[len(voice) // 4 : -len(voice) // 4] in sent
    assert not gate.open


def test_noise_alone_opens_nothing() -> None:
    gate = Gate(Vad())
    steps = [gate.feed(block, n * 0.02) for n, block in enumerate(blocks(noise(20, 500)))]
    assert not any(step.forward for step in steps)

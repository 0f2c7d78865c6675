"""A reply played again: sample by sample as it was, or slower at the same pitch."""

import time

import numpy as np
import numpy.typing as npt
import pytest

from media.replay import Replay
from media.sound import BLOCK_BYTES, FADE_SAMPLES, RATE

Floats = npt.NDArray[np.float64]


def _voice(seconds: float, hz: float = 140.0) -> Floats:
    """A buzz with the harmonics of a voice, that swells and fades four times a second."""
    at = np.arange(int(RATE * seconds)) / RATE
    wave: Floats = np.zeros(len(at))
    for harmonic in range(1, 9):
        wave += np.sin(2 * np.pi * hz * harmonic * at) / harmonic
    return wave * (0.6 + 0.4 * np.sin(2 * np.pi * 4 * at)) * 6000


def _pcm(wave: Floats) -> bytes:
    return bytes(wave.astype("<i2").tobytes())


def _played(replay: Replay) -> bytes:
    out = bytearray()
    while (block := replay.pull()) is not None:
        assert len(block) == BLOCK_BYTES
        out += block
    assert replay.pull() is None
    return bytes(out)


def _pitch(pcm: bytes) -> float:
    """By the strongest lag between 60 and 400 Hz."""
    wave = np.frombuffer(pcm, "<i2").astype(np.float64)[RATE // 2 : RATE]
    alike = np.correlate(wave, wave, "full")[len(wave) - 1 :]
    low, high = RATE // 400, RATE // 60
    return RATE / (low + int(np.argmax(alike[low:high])))


def test_at_full_speed_it_is_the_recording() -> None:
    pcm = _pcm(_voice(1.234))
    out = _played(Replay("t1", pcm))
    assert out[: len(pcm)] == pcm
    assert out[len(pcm) :].strip(b"\0") == b""


@pytest.mark.parametrize("rate", [0.5, 0.8, 0.9])
@pytest.mark.parametrize("hz", [85.0, 140.0, 240.0])
def test_slower_is_longer_at_the_same_pitch_and_level(rate: float, hz: float) -> None:
    pcm = _pcm(_voice(2.0, hz))
    out = _played(Replay("t1", pcm, rate))
    assert len(out) / len(pcm) == pytest.approx(1 / rate, rel=0.02)
    assert _pitch(out) == pytest.approx(_pitch(pcm), rel=0.03)
    before, after = (np.frombuffer(one, "<i2").astype(np.float64).std() for one in (pcm, out))
    assert after == pytest.approx(before, rel=0.1)


def test_slower_speech_has_no_clicks() -> None:
    wave = _voice(2.0)
    out = np.frombuffer(_played(Replay("t1", _pcm(wave), 0.8)), "<i2").astype(np.float64)
    assert np.abs(np.diff(out)).max() <= 1.3 * np.abs(np.diff(wave)).max()


@pytest.mark.parametrize("rate", [1.0, 0.8])
def test_a_voice_that_interrupts_ends_it_within_a_block(rate: float) -> None:
    replay = Replay("t1", _pcm(_voice(2.0)), rate)
    for _ in range(10):
        assert replay.pull()
    replay.halt()
    last = replay.pull()
    assert last is not None
    samples = np.frombuffer(last, "<i2")
    assert samples[: FADE_SAMPLES // 2].any()
    assert not samples[FADE_SAMPLES:].any()
    assert replay.pull() is None


def test_nothing_is_nothing() -> None:
    assert Replay("t1", b"").pull() is None
    assert Replay("t1", b"\1").pull() is None


@pytest.mark.parametrize("rate", [0.49, 1.01, float("nan")])
def test_a_rate_that_nobody_wants_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="rate"):
        Replay("t1", b"", rate)


def test_a_block_of_slow_speech_fits_into_a_tick() -> None:
    """The pacer has 5 ms for a slot of lessons; a block takes a small part of one."""
    replay = Replay("t1", _pcm(_voice(4.0)), 0.8)
    started, count = time.process_time(), 0
    while replay.pull() is not None:
        count += 1
    assert (time.process_time() - started) / count < 0.001

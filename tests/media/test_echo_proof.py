"""The waveform of what was played, found again in what is heard."""

from __future__ import annotations

import numpy as np
import pytest
import soxr
from numpy.typing import NDArray

from media.echo_proof import HEARD_BLOCKS, Sounds


def noise(seconds: float, seed: int) -> NDArray[np.float64]:
    """At 24 kHz."""
    return np.random.default_rng(seed).standard_normal(int(seconds * 24_000)) * 3000


def heard(sounds: Sounds, played: NDArray[np.float64], near: NDArray[np.float64]) -> int | None:
    """The delay that the last two of five questions, 60 ms apart, agree on."""
    blocks = len(played) // 480
    found = None
    for number in range(blocks):
        out = played[number * 480 : (number + 1) * 480]
        came = near[number * 320 : (number + 1) * 320]
        sounds.played(number, out.astype("<i2").tobytes())
        sounds.heard(number, came.astype("<i2").tobytes())
        if number > blocks - 14 and number % 3 == 0:
            found = sounds.delay(number)
    return found


def at_16k(sound: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(soxr.resample(sound, 24_000, 16_000))


@pytest.mark.parametrize("delay_ms", [10, 65, 130, 309, 610])
def test_the_delay_is_found_to_the_block(delay_ms: int) -> None:
    played = noise(2.0, 1)
    near = np.concatenate((np.zeros(16 * delay_ms), at_16k(played))) * 0.25
    assert heard(Sounds(), played, near) == delay_ms // 20


def test_it_is_found_below_another_sound() -> None:
    played = noise(2.0, 1)
    near = np.concatenate((np.zeros(1600), at_16k(played))) * 0.25
    near[:32_000] += at_16k(noise(2.0, 2)) * 0.25
    assert heard(Sounds(), played, near) == 5


def test_another_sound_is_not_it() -> None:
    assert heard(Sounds(), noise(2.0, 1), at_16k(noise(2.0, 2))) is None


def test_silence_on_either_side_proves_nothing() -> None:
    assert heard(Sounds(), noise(2.0, 1), np.zeros(32_000)) is None
    assert heard(Sounds(), np.zeros(48_000), at_16k(noise(2.0, 1))) is None


def test_one_answer_is_none() -> None:
    """A vowel may have the pitch of another for a moment."""
    played, sounds = noise(2.0, 1), Sounds()
    near = np.concatenate((np.zeros(1600), at_16k(played)))
    for number in range(3 * HEARD_BLOCKS):
        sounds.played(number, played[number * 480 : (number + 1) * 480].astype("<i2").tobytes())
        sounds.heard(number, near[number * 320 : (number + 1) * 320].astype("<i2").tobytes())
    assert sounds.delay(number) is None
    assert sounds.delay(number) == 5

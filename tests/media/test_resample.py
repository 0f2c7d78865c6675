"""Rate conversion: whole buffers and streams in chunks of any size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from media.resample import StreamResampler, downmix, resample
from tests.media.peers import loudness, pitch, tone

RATES = [(8_000, 16_000), (16_000, 16_000), (22_050, 24_000), (24_000, 48_000), (48_000, 16_000)]


def _samples(pcm: bytes) -> np.ndarray:
    return np.frombuffer(pcm, "<i2").astype(int)


@pytest.mark.parametrize(("source", "target"), RATES)
def test_a_tone_keeps_pitch_length_and_level(source: int, target: int) -> None:
    out = resample(tone(1000, source, 1.0), source, target)
    assert abs(len(out) // 2 - target) <= 1
    assert pitch(out, target) == pytest.approx(1000, rel=0.01)
    assert loudness(out) == pytest.approx(9000 / 2**0.5, rel=0.02)


@pytest.mark.req("RTC-7")
@settings(max_examples=60, deadline=None)
@given(st.sampled_from(RATES), st.lists(st.integers(1, 5000), min_size=1, max_size=60))
def test_chunks_of_any_size_equal_one_shot(rates: tuple[int, int], sizes: list[int]) -> None:
    source, target = rates
    pcm = tone(700, source, 0.4, level=20_000)
    stream, out, at = StreamResampler(source, target), bytearray(), 0
    for size in [*sizes, len(pcm)]:
        out += stream.feed(pcm[at : at + size])
        at += size
    out += stream.flush()
    whole = _samples(resample(pcm, source, target))
    parts = _samples(bytes(out))
    assert abs(len(whole) - len(parts)) <= 1
    shared = min(len(whole), len(parts))
    assert np.abs(whole[:shared] - parts[:shared]).max() <= 1


@pytest.mark.req("RTC-7")
def test_an_odd_byte_waits_for_the_next_chunk() -> None:
    pcm = tone(500, 16_000, 0.1)
    stream = StreamResampler(16_000, 16_000)
    assert stream.feed(pcm[:101]) == pcm[:100]
    assert stream.feed(pcm[101:]) == pcm[100:]
    assert resample(pcm[:101], 16_000, 16_000) == pcm[:100]


def test_full_scale_does_not_wrap() -> None:
    square = (np.sign(np.sin(np.arange(16_000) / 5)) * 32767).astype("<i2").tobytes()
    out = _samples(resample(square, 16_000, 24_000))
    assert out.max() == 32767
    assert out.min() == -32768
    # A wrapped sample would jump across the whole range right inside a plateau.
    assert np.abs(np.diff(_samples(resample(square, 16_000, 48_000)))).max() < 40_000


def test_downmix_is_the_mean() -> None:
    stereo = np.array([[100, 300], [-50, 50], [32767, 32767]], "<i2").tobytes()
    assert list(_samples(downmix(stereo, 2))) == [200, 0, 32767]
    assert downmix(b"\1\0", 1) == b"\1\0"

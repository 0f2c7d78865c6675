"""Slower speech at the same pitch: WSOLA, block by block. Pure; no clock.

Each block of output overlaps two pieces of the recording; the second is taken where it continues
the first best, near the place that the rate asks for. One block costs some 50 us, so that the
pacer's tick carries it and no recording is stretched in one go.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from media.sound import BLOCK_BYTES

BLOCK = BLOCK_BYTES // 2
# The lowest voices have a period of 12 ms: the search must reach one of them.
REACH = 24_000 * 7 // 1000
# Every other sample tells as well where voices match.
STEP = 2

Samples = npt.NDArray[np.float32]
_RISE = (0.5 - 0.5 * np.cos(np.pi * (np.arange(BLOCK) + 0.5) / BLOCK)).astype(np.float32)
_FALL = _RISE[::-1].copy()


class Stretch:
    """`block` gives the next 960 bytes (20 ms of PCM16 24 kHz), None after the end."""

    def __init__(self, pcm: bytes, rate: float) -> None:
        samples = np.frombuffer(pcm[: len(pcm) & ~1], "<i2").astype(np.float32)
        self._end = len(samples)
        self._pcm = np.concatenate([samples, np.zeros(2 * BLOCK + REACH, np.float32)])
        self._rate = rate
        self._place = 0.0
        self._next: int | None = None

    def block(self) -> bytes | None:
        nominal = round(self._place)
        if nominal >= self._end:
            return None
        self._place += BLOCK * self._rate
        if self._next is None or self._rate == 1.0:
            start, out = nominal, self._pcm[nominal : nominal + BLOCK]
        else:
            follows = self._pcm[self._next : self._next + BLOCK]
            start = self._match(follows, nominal)
            out = follows * _FALL + self._pcm[start : start + BLOCK] * _RISE
        self._next = start + BLOCK
        return bytes(out.clip(-32768, 32767).astype("<i2").tobytes())

    def _match(self, follows: Samples, nominal: int) -> int:
        """Where, within REACH of `nominal`, the recording is most like `follows`."""
        first = max(0, nominal - REACH)
        near = self._pcm[first : nominal + REACH + BLOCK : STEP]
        alike = np.correlate(near, follows[::STEP], "valid")
        power = np.concatenate([np.zeros(1, np.float32), np.cumsum(np.square(near))])
        size = BLOCK // STEP
        level = np.sqrt(np.maximum(power[size:] - power[:-size], 1.0))
        return first + int(np.argmax(alike / level)) * STEP

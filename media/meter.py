"""How loud a microphone is: RMS in sample units, and the level that a page shows. Pure."""

from __future__ import annotations

import math

import numpy as np

FULL_SCALE = 32768
# The meter: -60 dBFS is 0, -10 dBFS is 1; it falls by a fifth a block.
FLOOR_DB, TOP_DB, FALL = -60.0, -10.0, 0.8
# Lower than a page can show.
NOTHING = 0.001


def rms(pcm: bytes) -> float:
    """Of PCM16."""
    if not any(pcm):
        return 0.0
    samples = np.frombuffer(pcm, "<i2").astype(np.float32)
    return math.sqrt(float(np.dot(samples, samples)) / len(samples))


class Meter:
    """One microphone. `level` is 0..1."""

    def __init__(self) -> None:
        self.level = 0.0

    def hear(self, loudness: float) -> None:
        """The RMS of 20 ms."""
        self.level = max(_level(loudness), self.level * FALL)

    @property
    def still(self) -> bool:
        return self.level < NOTHING / 2


def _level(loudness: float) -> float:
    if loudness < 1.0:
        return 0.0
    db = 20 * math.log10(loudness / FULL_SCALE)
    return min(1.0, max(0.0, (db - FLOOR_DB) / (TOP_DB - FLOOR_DB)))

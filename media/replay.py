"""A reply played once more, from memory: as it was, or slower at the same pitch. Pure; no clock."""

from __future__ import annotations

import numpy as np

from media.sound import BLOCK_BYTES, FADE_SAMPLES
from media.stretch import Stretch

SLOWEST = 0.5


class Replay:
    """`pull` gives 20 ms blocks of PCM16 24 kHz until None; `halt` lets it die away in 5 ms."""

    def __init__(self, turn_id: str, pcm: bytes, rate: float = 1.0) -> None:
        if not SLOWEST <= rate <= 1.0:
            raise ValueError(f"rate {rate} is not within {SLOWEST}..1")
        self.turn_id = turn_id
        self._stretch: Stretch | None = Stretch(pcm, rate)
        self._halting = False

    def pull(self) -> bytes | None:
        if self._stretch is None:
            return None
        block = self._stretch.block()
        if block is None or self._halting:
            self._stretch = None
        if block is None or not self._halting:
            return block
        samples = np.frombuffer(block, "<i2").astype(np.float32)[:FADE_SAMPLES]
        samples *= np.linspace(1.0, 0.0, FADE_SAMPLES, dtype=np.float32)
        return bytes(samples.astype("<i2").tobytes().ljust(BLOCK_BYTES, b"\0"))

    def halt(self) -> None:
        self._halting = True

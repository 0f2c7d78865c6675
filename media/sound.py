"""One reply as sound: everything received, how far it has been played, and at what level. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from media.ledger import Ledger

RATE = 24_000
BLOCK_MS = 20
BLOCK_BYTES = RATE * BLOCK_MS // 1000 * 2
BYTES_PER_MS = RATE * 2 // 1000
FADE_SAMPLES = RATE * 5 // 1000
DUCKED_GAIN = 10 ** (-15 / 20)
# A ducked voice comes back over five blocks (100 ms); it goes down within one.
RISE_PER_BLOCK = (1.0 - DUCKED_GAIN) / 5
# Below -50 dBFS nobody hears a voice (replies at near-zero amplitude occur).
AUDIBLE_RMS = 32768 * 10 ** (-50 / 20)

_FADE_IN = np.linspace(0.0, 1.0, FADE_SAMPLES, dtype=np.float32)
_FADE_OUT = _FADE_IN[::-1].copy()


def audible(pcm: bytes) -> bool:
    """Whether a person would hear this piece of PCM16."""
    samples = np.frombuffer(pcm[: len(pcm) & ~1], "<i2")
    if not len(samples):
        return False
    return float(np.sqrt(np.mean(np.square(samples, dtype=np.float32)))) >= AUDIBLE_RMS


@dataclass(frozen=True, slots=True)
class Heard:
    """What the learner heard of a reply and what not; ms of its audio."""

    text: str
    unheard: str
    played_ms: float
    total_ms: float


@dataclass(slots=True)
class Sound:
    """One reply: everything received, how far it has been played, its words."""

    turn_id: str
    pcm: bytearray = field(default_factory=bytearray)
    received: int = 0
    played: int = 0
    complete: bool = False
    ledger: Ledger = field(default_factory=Ledger)
    loudest: float = 0.0

    def add(self, pcm: bytes) -> None:
        fresh = self.received & ~1
        self.pcm += pcm
        self.received += len(pcm)
        self.complete = False
        samples = np.frombuffer(bytes(self.pcm[fresh : self.received & ~1]), "<i2")
        if len(samples):
            rms = float(np.sqrt(np.mean(np.square(samples, dtype=np.float32))))
            self.loudest = max(self.loudest, rms)

    def left(self) -> int:
        return self.received - self.played

    def forget(self) -> None:
        """Drops the sound, keeps the account of it."""
        self.pcm = bytearray()

    def heard(self) -> Heard:
        # A half sample at the very end can never be played.
        total = (self.received & ~1) / BYTES_PER_MS
        played = self.played / BYTES_PER_MS
        text = self.ledger.heard(played, total, complete=self.complete)
        return Heard(text, self.ledger.text[len(text) :], played, total)


@dataclass(slots=True)
class Flow:
    """How the sound leaves: level, standing still, gaps."""

    gain: float = 1.0
    target: float = 1.0
    paused: bool = False
    rising: bool = False
    sounding: bool = False
    starved: bool = False
    idle_pulls: int = 0

    def shape(self, raw: bytes, *, rising: bool) -> bytes:
        """One block at the present level; level changes are ramps, edges are faded."""
        rising = rising or self.rising
        self.rising = False
        block = raw.ljust(BLOCK_BYTES, b"\0")
        if self.gain == self.target == 1.0 and not rising:
            return block
        samples = np.frombuffer(block, "<i2").astype(np.float32)
        after = self.target if self.target < self.gain else self.gain + RISE_PER_BLOCK
        after = min(after, self.target)
        samples *= np.linspace(self.gain, after, len(samples), dtype=np.float32)
        self.gain = after
        if rising:
            samples[:FADE_SAMPLES] *= _FADE_IN
        return samples.astype("<i2").tobytes()

    def fade(self, ahead: bytes) -> bytes | None:
        """A block that lets the next 5 ms die away; None when nothing is left to fade."""
        samples = np.frombuffer(ahead[: len(ahead) & ~1], "<i2").astype(np.float32)
        if not len(samples):
            return None
        faded = samples * _FADE_OUT[-len(samples) :] * self.gain
        return faded.astype("<i2").tobytes().ljust(BLOCK_BYTES, b"\0")

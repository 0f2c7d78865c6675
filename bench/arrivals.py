"""What RTP arrivals tell about the other side: how late, how many lost, how loud. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

CLOCK = 48_000  # RFC 7587: Opus over RTP, whatever the sampling rate
STEP = 960
# Below -50 dBFS nobody hears a voice.
AUDIBLE_RMS = 32768 * 10 ** (-50 / 20)
# A voice this far below its level before is ducked (the product ducks by 15 dB).
DUCKED_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Arrival:
    """One packet: loop time in s, sequence number (16 bits) and RTP timestamp (32 bits)."""

    at: float
    sequence: int
    timestamp: int


def lateness(arrivals: Sequence[Arrival]) -> list[float]:
    """Seconds each packet came after the schedule of its stretch of speech.

    The schedule is the stretch's own: its earliest packet counts as punctual. A stretch ends where
    the sender was silent (a step of the timestamp without one of the sequence).
    """
    late: list[float] = []
    stretch: list[float] = []
    first = before = None
    for arrival in arrivals:
        if before is not None:
            steps = (arrival.sequence - before.sequence) & 0xFFFF
            ticks = (arrival.timestamp - before.timestamp) & 0xFFFF_FFFF
            if ticks != steps * STEP:
                late += _after_the_first(stretch)
                stretch, first = [], None
        first = first or arrival
        ticks = (arrival.timestamp - first.timestamp) & 0xFFFF_FFFF
        stretch.append(arrival.at - ticks / CLOCK)
        before = arrival
    return late + _after_the_first(stretch)


def _after_the_first(offsets: list[float]) -> list[float]:
    earliest = min(offsets, default=0.0)
    return [offset - earliest for offset in offsets]


def lost(arrivals: Sequence[Arrival]) -> int:
    """Sequence numbers that never came, between the first and the last that did."""
    if not arrivals:
        return 0
    position, seen, before = 0, {0}, arrivals[0].sequence
    for arrival in arrivals[1:]:
        position += (arrival.sequence - before + 0x8000 & 0xFFFF) - 0x8000
        before = arrival.sequence
        seen.add(position)
    return max(seen) - min(seen) + 1 - len(seen)


def loudness(pcm: bytes) -> float:
    """RMS of PCM16."""
    samples = np.frombuffer(pcm, "<i2").astype(np.float32)
    return float(np.sqrt(np.mean(samples * samples))) if len(samples) else 0.0


@dataclass(frozen=True, slots=True)
class Yielding:
    """Seconds from the learner's onset until the tutor was ducked, and until nothing audible came;
    None when it did not happen."""

    ducked_s: float | None
    silent_s: float | None


def yielding(levels: Sequence[tuple[float, float]], onset: float, until: float) -> Yielding:
    """`levels` are (arrival, RMS) of the tutor's packets around an `onset`; `until` is when the
    watching ended. A last audible packet within 200 ms of `until` means it never fell silent."""
    before = [level for at, level in levels if at <= onset and level > AUDIBLE_RMS]
    after = [(at, level) for at, level in levels if at > onset]
    if not before:
        return Yielding(None, None)
    usual = float(np.median(before[-25:]))
    ducked = next((at - onset for at, level in after if level < DUCKED_SHARE * usual), None)
    audible = [at for at, level in after if level > AUDIBLE_RMS]
    if not audible:
        return Yielding(ducked, 0.0)
    return Yielding(ducked, audible[-1] - onset if until - audible[-1] > 0.2 else None)

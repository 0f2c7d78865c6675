"""A microphone track with labels through a real gate: what was heard when, and what was sent."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from media.gate import BLOCK_BYTES, Gate, GateSettings
from media.turn_events import SpeechEnded, SpeechStarted
from media.vad import Vad
from tests.media.hearing.clips import ACTIVE, RATE, Clip, Sound

BLOCK = BLOCK_BYTES // 2
LEAD_S, GAP_S = 2.0, 2.6  # the gate is shut again before the next one begins
# A microphone in a quiet room.
ROOM = 3 / 32768


@dataclass
class Track:
    """`spans`: first and last sample of each utterance."""

    sound: Sound
    spans: list[tuple[int, int]]

    @property
    def seconds(self) -> float:
        return len(self.sound) / RATE


def track(clips: tuple[Clip, ...], gap_s: float = GAP_S) -> Track:
    parts: list[Sound] = [np.zeros(int(LEAD_S * RATE), np.float32)]
    spans: list[tuple[int, int]] = []
    at = int(LEAD_S * RATE)
    for number, clip in enumerate(clips):
        spans.append((at + clip.onset, at + clip.end))
        # Odd gaps: onsets fall anywhere within a block.
        rest = np.zeros(int(gap_s * RATE) + 37 * (number % 9), np.float32)
        parts += [clip.sound, rest]
        at += len(clip.sound) + len(rest)
    return Track(np.concatenate(parts), spans)


def with_noise(base: Track, noise: Sound, snr_db: float) -> Track:
    """Noise `snr_db` below the active level of the voices; a second's noise repeats as needed."""
    level = ACTIVE * 10 ** (-snr_db / 20)
    return Track(base.sound + np.resize(noise, len(base.sound)) * level, base.spans)


def pcm(sound: Sound, seed: int = 1) -> bytes:
    """PCM16 with the hiss of a microphone."""
    hiss = np.random.default_rng(seed).standard_normal(len(sound)) * ROOM
    scaled = np.rint((sound + hiss) * 32768)
    return np.clip(scaled, -32768, 32767).astype("<i2").tobytes()


@dataclass
class Heard:
    """Times in seconds of the track. `sent`: per block, whether it was forwarded."""

    started: list[float] = field(default_factory=list)
    ended: list[float] = field(default_factory=list)
    sent: list[bool] = field(default_factory=list)
    openings: list[float] = field(default_factory=list)


def listen(track: Track, settings: GateSettings | None = None, gate: Gate | None = None) -> Heard:
    gate = gate or Gate(Vad(), settings)
    raw, heard, was_open = pcm(track.sound), Heard(), False
    for number in range(len(raw) // BLOCK_BYTES):
        at = (number + 1) * 0.02  # a block is heard when it is over
        step = gate.feed(raw[number * BLOCK_BYTES : (number + 1) * BLOCK_BYTES], at)
        sent = len(step.forward) // BLOCK_BYTES
        heard.sent.append(False)
        for back in range(sent):
            heard.sent[-1 - back] = True
        if sent and not was_open:
            heard.openings.append(at)
        was_open = step.open
        for event in step.events:
            if isinstance(event, SpeechStarted):
                heard.started.append(at)
            elif isinstance(event, SpeechEnded):
                heard.ended.append(at)
    return heard


@dataclass
class Onsets:
    """Of each utterance: delay until speech was certain (None: never), first block sent in time."""

    delays: list[float | None]
    whole: list[bool]

    @property
    def found(self) -> list[float]:
        return [delay for delay in self.delays if delay is not None]


def onsets(track: Track, heard: Heard) -> Onsets:
    delays: list[float | None] = []
    whole = []
    for first, last in track.spans:
        onset, end = first / RATE, last / RATE
        # Certain shortly before the label is early hearing, not a false alarm.
        late = [at for at in heard.started if onset - 0.06 <= at <= end + 0.3]
        held = any(
            start < onset - 0.06 and not any(start < over < onset for over in heard.ended)
            for start in heard.started
        )
        delays.append(max(0.0, late[0] - onset) if late else (0.0 if held else None))
        block = first // BLOCK
        whole.append(block > 0 and heard.sent[block - 1] and heard.sent[block])
    return Onsets(delays, whole)


def false_openings(track: Track, heard: Heard) -> int:
    """Openings while nobody speaks nor has just spoken."""
    return sum(
        not any(first / RATE - 0.1 <= at <= last / RATE + 0.5 for first, last in track.spans)
        for at in heard.openings
    )

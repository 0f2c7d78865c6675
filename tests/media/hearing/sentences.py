"""Sentences with pauses for thought: the same words, cut where the voice is weakest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.media.hearing.clips import HOP, RATE, Clip, Sound, db

FADE = RATE // 100
# Words lie on both sides of a cut.
EDGE_S = 0.6


@dataclass(frozen=True)
class Spoken:
    """`end`: the sample where the sentence is over; the pauses before it end nothing."""

    name: str
    sound: Sound
    end: int
    pauses_s: tuple[float, ...]


def with_pauses(clip: Clip, pauses_s: tuple[float, ...]) -> Spoken | None:
    """The pauses in order, spread over the sentence; None if it is too short for them."""
    voice = clip.sound[clip.onset : clip.end]
    length = len(voice) / RATE
    if pauses_s and length < EDGE_S * (len(pauses_s) + 1):
        return None
    power = np.convolve(db(voice), np.ones(4) / 4, "same")
    parts: list[Sound] = []
    at = 0
    for number, pause in enumerate(pauses_s):
        middle = len(power) * (number + 1) // (len(pauses_s) + 1)
        reach = max(5, int(len(power) / (len(pauses_s) + 1) / 3))
        near = power[middle - reach : middle + reach]
        cut = (middle - reach + int(np.argmin(near))) * HOP
        parts += [_faded(voice[at:cut]), np.zeros(int(pause * RATE), np.float32)]
        at = cut
    parts.append(voice[at:])
    sound = np.concatenate(parts)
    return Spoken(clip.name, sound, len(sound), pauses_s)


def _faded(sound: Sound) -> Sound:
    sound = sound.copy()
    sound[-FADE:] *= np.linspace(1, 0, FADE, dtype=np.float32)
    return sound

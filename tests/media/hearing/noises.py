"""Noise of unit power at 16 kHz: white, babble, keyboard, something like music, and short bangs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tests.media.hearing.clips import RATE, Clip, Sound

NAMES = ("white", "keyboard", "music", "babble")
TALKERS = 8


def noise(name: str, seconds: float, talkers: tuple[Clip, ...], seed: int = 7) -> Sound:
    """`talkers`: whose voices make the babble."""
    rng, samples = np.random.default_rng(seed), int(seconds * RATE)
    match name:
        case "white":
            sound = rng.standard_normal(samples)
        case "babble":
            sound = _babble(samples, talkers, rng)
        case "keyboard":
            sound = _keyboard(samples, rng)
        case "music":
            sound = _music(samples, rng)
        case _:
            raise ValueError(f"no such noise: {name}")
    return np.asarray(sound / np.sqrt(np.mean(sound**2)), np.float32)


Wide = NDArray[np.float64]


def _babble(samples: int, talkers: tuple[Clip, ...], rng: np.random.Generator) -> Wide:
    """Eight people at once, none of whom pauses for long."""
    sound = np.zeros(samples)
    for _ in range(TALKERS):
        parts: list[Sound] = []
        while sum(map(len, parts)) < 2 * samples:
            clip = talkers[int(rng.integers(len(talkers)))]
            parts.append(clip.sound[clip.onset : clip.end])
        voice = np.concatenate(parts)
        start = int(rng.integers(len(voice) - samples + 1))
        sound += voice[start : start + samples]
    return sound


def _keyboard(samples: int, rng: np.random.Generator) -> Wide:
    sound, at = 1e-3 * rng.standard_normal(samples), 0
    ramp = np.arange(480)
    while True:
        at += int(RATE * rng.choice([0.08, 0.12, 0.15, 0.2, 0.3, 0.9]))
        if at + 1600 + 480 >= samples:
            return sound
        for later, level in ((0, 1.0), (int(RATE * rng.uniform(0.05, 0.09)), 0.5)):
            fall = np.exp(-ramp / rng.uniform(25, 80))
            click = rng.standard_normal(480) * fall
            click += 0.7 * np.sin(2 * np.pi * rng.uniform(1200, 4500) * ramp / RATE) * fall
            sound[at + later : at + later + 480] += level * rng.uniform(0.4, 1) * click


def _music(samples: int, rng: np.random.Generator) -> Wide:
    """Four chords, a drum, a melody; notes of half a second."""
    sound, at, bar = np.zeros(samples), 0, 0
    while at < samples:
        size = min(RATE // 2, samples - at)
        time = np.arange(size) / RATE
        root = (220.0, 174.6, 261.6, 196.0)[bar // 4 % 4]
        part = np.exp(-time * 40) * rng.standard_normal(size) * (2.0 if bar % 2 else 0.8)
        for interval in (1, 1.26, 1.5, 2):
            turn = 2 * np.pi * root * interval * time
            for harmonic in range(1, 6):
                part += np.sin(harmonic * turn) / harmonic * np.exp(-time * 1.5)
        melody = root * 4 * 2 ** (rng.choice([0, 2, 4, 7, 9]) / 12)
        wave = np.sin(2 * np.pi * melody * time + 0.3 * np.sin(2 * np.pi * 6 * time))
        sound[at : at + size] += part + 1.5 * wave * np.exp(-time * 2)
        at, bar = at + size, bar + 1
    return sound


def cough(seed: int = 7, seconds: float = 0.3) -> Sound:
    """An explosive burst of broad noise and a weaker second one; no pitch. Peak 1."""
    rng = np.random.default_rng(seed)
    samples = int(seconds * RATE)
    time = np.arange(samples) / RATE
    raw = rng.standard_normal(samples)
    shaped = np.convolve(raw, np.hanning(9) / 4, "same") + 0.4 * raw
    second = np.where(time > 0.16, np.exp(-(time - 0.16) * 22), 0.0)
    burst = shaped * (np.exp(-time * 28) + 0.6 * second)
    return np.asarray(burst / np.abs(burst).max(), np.float32)


def door(seed: int = 7, seconds: float = 0.5) -> Sound:
    """A low thud with a rattle. Peak 1."""
    rng = np.random.default_rng(seed)
    time = np.arange(int(seconds * RATE)) / RATE
    thud = np.sin(2 * np.pi * 70 * time) * np.exp(-time * 14)
    thud += 0.5 * np.sin(2 * np.pi * 155 * time) * np.exp(-time * 20)
    rattle = 0.4 * rng.standard_normal(len(time)) * np.exp(-time * 35)
    sound = thud + rattle
    return np.asarray(sound / np.abs(sound).max(), np.float32)

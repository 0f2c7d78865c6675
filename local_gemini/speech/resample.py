"""Exact polyphase resampling from 22.05 kHz (Piper voices) to 24 kHz (the Live wire). Pure."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

SOURCE, TARGET = 22_050, 24_000
UP, DOWN = 160, 147  # 24000 / 22050 in lowest terms
TAPS = 32
BANDWIDTH = 0.95
Samples = npt.NDArray[np.float32]


def _filters() -> Samples:
    """One row of taps per output phase: a Kaiser-windowed sinc shifted by that phase."""
    phase = (np.arange(UP) * DOWN % UP) / UP
    offset = np.arange(TAPS)[None] - (TAPS // 2 - 1) - phase[:, None]
    window = np.i0(7.0 * np.sqrt(np.clip(1 - (offset / (TAPS / 2)) ** 2, 0, 1))) / np.i0(7.0)
    taps = np.sinc(offset * BANDWIDTH) * BANDWIDTH * window
    filters: Samples = (taps / taps.sum(axis=1, keepdims=True)).astype(np.float32)
    return filters


FILTERS = _filters()


def to_24k(samples: Samples) -> Samples:
    """Float samples at 22.05 kHz to float samples at 24 kHz, same duration, no delay."""
    blocks = -(-len(samples) // DOWN)
    padded = np.zeros(TAPS // 2 - 1 + blocks * DOWN + TAPS, np.float32)
    padded[TAPS // 2 - 1 : TAPS // 2 - 1 + len(samples)] = samples
    windows = np.lib.stride_tricks.sliding_window_view(padded, TAPS)
    out = np.empty((blocks, UP), np.float32)
    for phase in range(UP):
        start = phase * DOWN // UP
        out[:, phase] = windows[start : start + (blocks - 1) * DOWN + 1 : DOWN] @ FILTERS[phase]
    return out.ravel()[: len(samples) * UP // DOWN]

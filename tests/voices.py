"""Learners' voices: made by the local speech models, once per run."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import soxr


@functools.cache
def spoken(text: str) -> bytes:
    """A learner's voice saying `text`: PCM16 mono 48 kHz, made once per run."""
    from local_gemini.speech.voice import JoeVoice

    pcm = _voice(JoeVoice).speak(text)
    samples = np.frombuffer(pcm, "<i2").astype(np.float32)
    return bytes(soxr.resample(samples, 24_000, 48_000).clip(-32768, 32767).astype("<i2"))


@functools.cache
def _voice(kind: Callable[[], Any]) -> Any:
    return kind()


def said(text: str, *, before: float = 0.3, after: float = 1.0) -> bytes:
    """`text` between stretches of silence (s): PCM16 mono 48 kHz."""
    quiet = bytes(2)
    return quiet * int(48_000 * before) + spoken(text) + quiet * int(48_000 * after)

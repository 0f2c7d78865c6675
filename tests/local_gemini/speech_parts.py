"""The local speech models, loaded once per run, and learner speech made with them."""

from __future__ import annotations

import os
from functools import cache

import numpy as np
import pytest
import soxr

from local_gemini.brain import LocalBrain
from local_gemini.speech import SpeechMissing
from local_gemini.speech.embedder import MiniLmEmbedder
from local_gemini.speech.recogniser import MoonshineRecogniser
from local_gemini.speech.voice import JoeVoice
from tests.voices import reading


@cache
def _loaded() -> tuple[MoonshineRecogniser, JoeVoice, MiniLmEmbedder] | str:
    try:
        return MoonshineRecogniser(), JoeVoice(), MiniLmEmbedder()
    except SpeechMissing as missing:
        return str(missing)


def _parts() -> tuple[MoonshineRecogniser, JoeVoice, MiniLmEmbedder]:
    """A foreign machine without the extra skips with the reason; CI fails."""
    parts = _loaded()
    if isinstance(parts, str):
        if os.environ.get("CI") == "true":
            pytest.fail(parts)
        pytest.skip(parts)
    return parts


def recogniser() -> MoonshineRecogniser:
    return _parts()[0]


def voice() -> JoeVoice:
    return _parts()[1]


def embedder() -> MiniLmEmbedder:
    return _parts()[2]


def brain() -> LocalBrain:
    return LocalBrain(embedder())


@cache
def learner_pcm(text: str, take: int = 0) -> bytes:
    """`text` as a learner's microphone would deliver it: PCM16 mono 16 kHz."""
    voice()  # says why it cannot speak
    samples = np.frombuffer(reading(text, take), "<i2").astype(np.float32)
    pcm: bytes = soxr.resample(samples, 24_000, 16_000).astype("<i2").tobytes()
    return pcm


def quiet(ms: int) -> bytes:
    return bytes(32 * ms)

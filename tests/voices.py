"""Learners' voices: made by the local speech models, each line the same in every run."""

from __future__ import annotations

import functools
import zlib
from typing import TYPE_CHECKING

import numpy as np
import soxr

if TYPE_CHECKING:
    from local_gemini.speech.voice import JoeVoice


def reading(text: str, take: int = 0) -> bytes:
    """The local voice reading `text`: PCM16 mono 24 kHz; another `take` is another reading.

    The voice breathes at random: its noise is drawn by the model's session, from a seed that a
    session takes when it is opened. A session per reading makes it the same whatever else a
    process has read. Raises SpeechMissing without the extra `local`.
    """
    import onnxruntime

    from local_gemini.speech.models import VOICE, locate, open_model

    voice = local_voice()
    onnxruntime.set_seed((zlib.crc32(text.encode()) + take) % 2**31)
    voice._model = open_model(locate(VOICE))
    voice._kept.clear()
    return voice.speak(text)


@functools.cache
def local_voice() -> JoeVoice:
    from local_gemini.speech.voice import JoeVoice

    return JoeVoice()


@functools.cache
def spoken(text: str) -> bytes:
    """A learner's voice saying `text`: PCM16 mono 48 kHz."""
    samples = np.frombuffer(reading(text), "<i2").astype(np.float32)
    return bytes(soxr.resample(samples, 24_000, 48_000).clip(-32768, 32767).astype("<i2"))


def said(text: str, *, before: float = 0.3, after: float = 1.0) -> bytes:
    """`text` between stretches of silence (s): PCM16 mono 48 kHz."""
    quiet = bytes(2)
    return quiet * int(48_000 * before) + spoken(text) + quiet * int(48_000 * after)

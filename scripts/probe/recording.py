"""A learner's voice: from a WAV file, or from the local voice where it is installed."""

from __future__ import annotations

import io
import wave
from pathlib import Path

import numpy as np
import soxr

QUESTION = "Please go on with what comes next."


class RecordingInvalid(ValueError):
    """The file is no PCM16 WAV with sound in it; the text says what it is."""


def read_wav(file: Path, rate: int) -> bytes:
    """PCM16 mono at `rate` Hz of a WAV file with any rate and any channels.

    Raises RecordingInvalid, OSError.
    """
    try:
        with wave.open(io.BytesIO(file.read_bytes())) as sound:
            if sound.getsampwidth() != 2:
                raise RecordingInvalid(f"{file}: {sound.getsampwidth() * 8} bit, not 16")
            channels, source = sound.getnchannels(), sound.getframerate()
            data = sound.readframes(sound.getnframes())
    except (wave.Error, EOFError) as error:
        raise RecordingInvalid(f"{file}: {error}") from error
    samples = np.frombuffer(data, "<i2").reshape(-1, channels).mean(axis=1).astype(np.float32)
    if not samples.size:
        raise RecordingInvalid(f"{file}: there is no sound in it")
    return resampled(samples, source, rate)


def local_voice(rate: int, text: str = QUESTION) -> bytes | None:
    """`text` as PCM16 mono at `rate` Hz, spoken by the local voice; None where it is missing."""
    from local_gemini.engine import RATE_SPOKEN
    from local_gemini.speech.models import SpeechMissing

    try:
        from local_gemini.speech.voice import JoeVoice

        pcm = JoeVoice().speak(text)
    except (ImportError, SpeechMissing):
        return None
    return resampled(np.frombuffer(pcm, "<i2").astype(np.float32), RATE_SPOKEN, rate)


def resampled(samples: np.ndarray, source: int, rate: int) -> bytes:
    whole = soxr.resample(samples, source, rate) if source != rate else samples
    return bytes(np.clip(whole, -32768, 32767).astype("<i2"))

"""Recorded speech inside a `generateContent` request, brought to PCM16 16 kHz mono. Blocking."""

from __future__ import annotations

import io

import av
import numpy
import soxr

from local_gemini.engine import RATE_HEARD
from local_gemini.wire import WireError, pcm_rate

MAX_AUDIO_S = 600


def pcm16k_of(data: bytes, mime: str) -> bytes:
    """Raw PCM by its stated rate; anything else through its container. Raises WireError."""
    if mime.lower().startswith(("audio/pcm", "audio/l16")):
        rate = pcm_rate(mime)
        samples = numpy.frombuffer(data[: len(data) // 2 * 2], dtype="<i2")
        if rate != RATE_HEARD:
            samples = soxr.resample(samples, rate, RATE_HEARD)
        return bytes(samples.astype("<i2").tobytes())[: MAX_AUDIO_S * RATE_HEARD * 2]
    return _decoded(data)


def _decoded(data: bytes) -> bytes:
    out = bytearray()
    try:
        with av.open(io.BytesIO(data), mode="r") as container:
            resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE_HEARD)
            for frame in container.decode(audio=0):
                for piece in resampler.resample(frame):
                    out += piece.to_ndarray().tobytes()
                if len(out) > MAX_AUDIO_S * RATE_HEARD * 2:
                    break
            for piece in resampler.resample(None):
                out += piece.to_ndarray().tobytes()
    except (av.FFmpegError, IndexError, ValueError) as error:
        raise WireError("Unable to process the audio of the request.") from error
    return bytes(out)

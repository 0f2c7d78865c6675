"""PCM to MP3, whole clips. Blocking: call it in a worker thread."""

from __future__ import annotations

import io

import av
import numpy

BITRATE = 64_000
# One call of the encoder at a time holds this much, in samples.
CHUNK_SAMPLES = 24_000


def encode_mp3(pcm: bytes, rate: int = 24_000) -> bytes:
    """`pcm` (16 bit mono at `rate`) as a complete MP3 file (audio/mpeg)."""
    samples = numpy.frombuffer(pcm[: len(pcm) & ~1], dtype="<i2")
    out = io.BytesIO()
    with av.open(out, "w", format="mp3") as container:
        stream = container.add_stream("libmp3lame", rate=rate)
        stream.bit_rate = BITRATE
        stream.layout = "mono"
        for at in range(0, len(samples), CHUNK_SAMPLES):
            piece = samples[at : at + CHUNK_SAMPLES].reshape(1, -1)
            frame = av.AudioFrame.from_ndarray(piece, format="s16", layout="mono")
            frame.sample_rate, frame.pts = rate, at
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return out.getvalue()

"""Rate conversion of PCM16 mono with soxr: whole buffers and streams (RTC-7).

Not for the Opus path: libopus decodes to 16 kHz and takes 24 kHz itself, while a streaming soxr
holds back 20 to 40 ms. In float inside, so that streaming equals one-shot to the last bit but one.
"""

from __future__ import annotations

import numpy as np
import soxr
from numpy.typing import NDArray

QUALITY = "HQ"


def _floats(pcm: bytes) -> NDArray[np.float32]:
    return np.frombuffer(pcm, "<i2").astype(np.float32)


def _pcm(samples: NDArray[np.float32]) -> bytes:
    return np.clip(np.rint(samples), -32768, 32767).astype("<i2").tobytes()


def resample(pcm: bytes, source: int, target: int) -> bytes:
    """A whole buffer of PCM16 mono from `source` to `target` Hz; an odd last byte is dropped."""
    pcm = pcm[: len(pcm) & ~1]
    if source == target or not pcm:
        return pcm
    return _pcm(soxr.resample(_floats(pcm), source, target, QUALITY))


def downmix(pcm: bytes, channels: int) -> bytes:
    """Interleaved PCM16 to mono by averaging."""
    if channels == 1:
        return pcm
    frames = np.frombuffer(pcm, "<i2").reshape(-1, channels)
    mono: NDArray[np.int16] = np.rint(frames.mean(axis=1)).astype("<i2")
    return mono.tobytes()


class StreamResampler:
    """The same for one direction of one peer, in chunks of any length, also odd ones."""

    def __init__(self, source: int, target: int) -> None:
        self._same = source == target
        self._stream = soxr.ResampleStream(source, target, 1, dtype="float32", quality=QUALITY)
        self._odd = b""

    def feed(self, pcm: bytes) -> bytes:
        """What is ready after this chunk; a half sample waits for the next one."""
        pcm = self._odd + pcm
        even = len(pcm) & ~1
        pcm, self._odd = pcm[:even], pcm[even:]
        if self._same or not pcm:
            return pcm
        return _pcm(self._stream.resample_chunk(_floats(pcm)))

    def flush(self) -> bytes:
        """The tail; the stream is over."""
        if self._same:
            return b""
        return _pcm(self._stream.resample_chunk(_floats(b""), last=True))

"""A microphone that plays a recording once, then a silent room; and ears for the reply."""

from __future__ import annotations

import asyncio
import fractions
import math
from collections.abc import Callable

import av
import numpy as np
from aiortc.mediastreams import MediaStreamError, MediaStreamTrack

RATE = 48_000
FRAME = RATE // 50
FRAME_BYTES = FRAME * 2
# Below -56 dBFS nobody hears anything.
AUDIBLE_RMS = 50.0


class Microphone(MediaStreamTrack):
    """20 ms frames in real time. `play` starts the recording with the next frame."""

    kind = "audio"

    def __init__(self) -> None:
        super().__init__()
        self._recording = b""
        self._sent = 0
        self._began: float | None = None

    def play(self, pcm48k: bytes) -> None:
        self._recording = pcm48k

    @property
    def playing(self) -> bool:
        return bool(self._recording)

    async def recv(self) -> av.AudioFrame:
        clock = asyncio.get_running_loop().time
        if self._began is None:
            self._began = clock()
        await asyncio.sleep(max(0.0, self._began + self._sent / RATE - clock()))
        pcm, self._recording = self._recording[:FRAME_BYTES], self._recording[FRAME_BYTES:]
        samples = np.frombuffer(pcm.ljust(FRAME_BYTES, b"\0"), "<i2").reshape(1, -1)
        frame = av.AudioFrame.from_ndarray(samples, "s16", "mono")
        frame.sample_rate, frame.pts = RATE, self._sent
        frame.time_base = fractions.Fraction(1, RATE)
        self._sent += FRAME
        return frame


async def listen(track: MediaStreamTrack, heard: Callable[[float], None]) -> None:
    """Tells the length (s) of every audible frame, until the track ends."""
    while True:
        try:
            frame = await track.recv()
        except MediaStreamError:
            return
        samples = frame.to_ndarray().astype(np.float64)  # type: ignore[union-attr]
        if math.sqrt(float(np.mean(samples * samples))) > AUDIBLE_RMS:
            heard(frame.samples / frame.sample_rate)  # type: ignore[union-attr]

"""A learner without headphones: what a call plays comes back into its microphone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import numpy as np
from numpy.typing import NDArray

from media.opus import Decoder, Encoder
from tests.call import Call
from tests.media.hearing.way_back import MIC_BLOCK, WayBack

RATE = 16_000
BLOCK_S = 0.02
TICKS_48K = 960
# The jitter buffer of a browser on a good line, in blocks.
BUFFERED = 2


class Loudspeaker:
    """Plays what the call receives by its timestamps, 20 ms at a time; the microphone hears
    `way_back` of it and whatever `say` puts into the room (float32, 16 kHz, full scale 1).
    `late_s`: the longest that this process has stood still meanwhile."""

    def __init__(self, call: Call, way_back: WayBack) -> None:
        self._call, self._way_back = call, way_back
        self._decoder, self._encoder = Decoder(24_000), Encoder(RATE, "voip", 32_000)
        self._taken = len(call.client.received)
        self._block_number = 0
        self._due: dict[int, bytes] = {}
        self._first: int | None = None  # timestamp that is played in block 0
        self._voice = np.zeros(0, np.float32)
        self._said = asyncio.Event()
        self.late_s = 0.0

    async def say(self, voice: NDArray[np.float32]) -> None:
        """Until the last of it is at the microphone."""
        self._voice = np.concatenate((self._voice, voice.astype(np.float32)))
        self._said.clear()
        await self._said.wait()

    def _take(self) -> None:
        """Schedules what has come; what comes too late moves the schedule."""
        received = self._call.client.received
        for payload, _, timestamp in received[self._taken :]:
            at = (self._block_number + BUFFERED) * TICKS_48K
            if self._first is None or timestamp - self._first < self._block_number * TICKS_48K:
                self._first = timestamp - at
            self._due[(timestamp - self._first) // TICKS_48K] = payload
        self._taken = len(received)

    def _block(self) -> bytes:
        self._take()
        payload = self._due.pop(self._block_number, None)
        self._block_number += 1
        sound = self._way_back.hear(self._decoder.decode(payload) if payload else None)
        voice, self._voice = self._voice[:MIC_BLOCK], self._voice[MIC_BLOCK:]
        sound[: len(voice)] += voice
        if not len(self._voice):
            self._said.set()
        pcm = np.clip(np.rint(sound * 32768), -32768, 32767).astype("<i2").tobytes()
        return self._encoder.encode(pcm)

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            due += BLOCK_S
            await asyncio.sleep(max(0.0, due - loop.time()))
            self.late_s = max(self.late_s, loop.time() - due)
            self._call.client.send(self._block())


@asynccontextmanager
async def loudspeaker(call: Call, *, delay_ms: float, gain_db: float) -> AsyncIterator[Loudspeaker]:
    """Instead of the call's own silent room."""
    await call.still()
    room = Loudspeaker(call, WayBack(delay_ms=delay_ms, gain_db=gain_db, codec=False))
    running = asyncio.create_task(room.run())
    try:
        yield room
    finally:
        running.cancel()
        await asyncio.wait([running])

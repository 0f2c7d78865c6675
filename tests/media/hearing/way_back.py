"""From the loudspeaker back into the microphone: delay, a small room, a phone, a codec."""

from __future__ import annotations

import numpy as np

from media.opus import Decoder, Encoder
from tests.media.hearing.clips import RATE, Sound

TUTOR_BLOCK, MIC_BLOCK = 480, 320
SILENCE = bytes(2 * TUTOR_BLOCK)
ACTIVE_DB = -23.0


def _low_pass(cutoff: float, rate: float, taps: int) -> Sound:
    at = np.arange(taps) - (taps - 1) / 2
    shape = np.sinc(2 * cutoff / rate * at) * np.hamming(taps)
    return np.asarray(shape / shape.sum(), np.float32)


def room(reverberation_ms: float, seed: int) -> Sound:
    """Impulse response at 16 kHz: the direct way, a few walls, a tail; no lows of a phone."""
    rng = np.random.default_rng(seed)
    size = int(reverberation_ms / 1000 * RATE)
    tail = rng.standard_normal(size) * np.exp(-6.9 * np.arange(size) / size) * 0.06
    response = np.zeros(size, np.float32)
    response += tail.astype(np.float32)
    response[0] += 1.0
    for wall in rng.integers(20, min(size, 400), 4):
        response[int(wall)] += float(rng.uniform(-0.35, 0.35))
    speaker = -_low_pass(350, RATE, 129)
    speaker[64] += 1.0  # a small loudspeaker gives nothing below 350 Hz
    return np.convolve(response, speaker).astype(np.float32)


class WayBack:
    """`hear` what left for the learner (PCM16 24 kHz, 20 ms, or None); gives the echo, PCM16
    16 kHz, of the same 20 ms: `gain_db` below what was played, `delay_ms` later."""

    def __init__(
        self,
        *,
        delay_ms: float,
        gain_db: float,
        reverberation_ms: float = 120,
        codec: bool = True,
        seed: int = 3,
    ) -> None:
        response = room(reverberation_ms, seed)
        self.gain = 10 ** (gain_db / 20)
        self._response = response / np.sqrt(np.sum(response**2))
        self._up = np.zeros(95, np.float32)
        self._filter = 2 * _low_pass(7_600, 48_000, 96)
        self._tail = np.zeros(len(self._response) - 1, np.float32)
        # The filter of the rate conversion takes 1 ms.
        self._waiting = np.zeros(int((delay_ms - 1) / 1000 * RATE), np.float32)
        self._codec = (Encoder(RATE, "voip", 32_000), Decoder(RATE)) if codec else None

    def hear(self, block: bytes | None) -> Sound:
        """Float32, full scale 1."""
        heard = np.frombuffer(block or SILENCE, "<i2").astype(np.float32) / 32768
        stuffed = np.zeros(2 * TUTOR_BLOCK, np.float32)
        stuffed[::2] = heard
        line = np.concatenate((self._up, stuffed))
        self._up = line[-95:]
        slow = np.convolve(line, self._filter, "valid")[::3]
        rung = np.convolve(slow, self._response)
        rung[: len(self._tail)] += self._tail
        self._tail = rung[MIC_BLOCK:].copy()
        self._waiting = np.concatenate((self._waiting, rung[:MIC_BLOCK] * self.gain))
        now, self._waiting = self._waiting[:MIC_BLOCK], self._waiting[MIC_BLOCK:]
        return now.astype(np.float32)

    def microphone(self, sound: Sound) -> bytes:
        """What arrives at the server of 20 ms of sound at the microphone."""
        raw = np.clip(np.rint(sound * 32768), -32768, 32767).astype("<i2").tobytes()
        if self._codec is None:
            return raw
        encoder, decoder = self._codec
        return decoder.decode(encoder.encode(raw))

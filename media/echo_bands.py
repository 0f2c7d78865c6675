"""The last second of the loudspeaker and of the microphone, as bands of power, and how alike they
are. Pure.

Blocks are numbered on the clock of their stream. Patterns are deviations from the mean, so that
neither the loudspeaker's colour nor the room's counts.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

BLOCK_S = 0.02
DELAYS = 32
KEPT = 64  # blocks of what was played
# A block this far from the clock of its stream begins a new one; jitter is averaged away. What is
# played comes in stretches; the microphone never pauses, but is late in bursts.
PLAYER_SLIP_S, MICROPHONE_SLIP_S, PULL = 0.05, 0.15, 0.05
# What was played rings on in the room: -3 dB a block.
RINGING = 0.5
# In Hz: what a phone plays and a narrow codec leaves. The window is 200 Hz wide.
FREQUENCIES = (*range(300, 1900, 100), *range(2000, 4100, 300))
BANDS = len(FREQUENCIES)
FLOOR = np.float32(4.0)  # power of a band in sample units
# Patterns are compared over about so many blocks, as deviations from the mean in nepers of power.
MEMORY = 1 - 1 / 12
MEAN_PACE = 1 / 50
DEPTH = np.float32(-3.0)
# So alike, over at least so many blocks, only an echo is; a better delay must be better by this.
ALIKE, ALIKE_BLOCKS, BETTER = 0.6, 10, 0.1
# From then on every second block is judged and every fourth compared.
SETTLING_BLOCKS = 60

Bands = NDArray[np.float32]


def _analysis(rate: int) -> Bands:
    """Windowed transform of 20 ms to the middle of each band: real parts, then imaginary ones."""
    samples = rate // 50
    turn = 2 * np.pi * np.outer(np.arange(samples), FREQUENCIES) / rate
    window = np.hanning(samples)[:, None] * (2 / samples)
    return (np.concatenate((np.cos(turn), np.sin(turn)), axis=1) * window).astype(np.float32)


PLAYED, HEARD = _analysis(24_000), _analysis(16_000)


def powers(pcm: bytes, analysis: Bands) -> Bands:
    """Of each band, for each of the whole blocks in `pcm`."""
    samples = np.frombuffer(pcm, "<i2").astype(np.float32).reshape(-1, len(analysis))
    parts = samples @ analysis
    parts *= parts
    return parts[:, :BANDS] + parts[:, BANDS:] + FLOOR


NOTHING = np.full(BANDS, FLOOR)


class Clock:
    """Numbers the blocks of a stream: 20 ms apart however they arrive, anew after a gap."""

    def __init__(self, slip_s: float) -> None:
        self._slip_s = slip_s
        self._last = 0
        self._ahead = 0.0
        self._started = False
        self.slips = 0

    def number(self, at: float) -> int:
        number = self._last + 1
        error = at - number * BLOCK_S - self._ahead
        if not self._started or abs(error) > self._slip_s:
            number, self._started = round(at / BLOCK_S), True
            self.slips += 1
            self._ahead = at - number * BLOCK_S
        else:
            self._ahead += PULL * error
            if abs(self._ahead) > BLOCK_S:
                step = 1 if self._ahead > 0 else -1
                number, self._ahead = number + step, self._ahead - step * BLOCK_S
        self._last = number
        return number


class Played:
    """The last 1.3 s of what was played, as levels that ring on and as patterns.

    Analysed when somebody asks: without a voice at the microphone nobody does.
    """

    def __init__(self) -> None:
        # Twice in a row, so that any stretch is one slice.
        self.logs = np.zeros((2 * KEPT, BANDS), np.float32)
        self.patterns = np.full((2 * KEPT, BANDS), DEPTH)
        self.norms = np.full(2 * KEPT, BANDS * DEPTH * DEPTH, np.float32)
        self._waiting: deque[tuple[int, bytes]] = deque(maxlen=KEPT)
        self._before = self._ringing = NOTHING
        self.mean = np.zeros(BANDS, np.float32)
        self._blocks = 0
        self._newest = -KEPT

    def add(self, number: int, pcm24k: bytes) -> None:
        self._waiting.append((number, pcm24k))

    def back_from(self, number: int) -> slice:
        """Rows of the DELAYS blocks up to `number`, oldest first."""
        while self._waiting and self._waiting[0][0] <= number:
            played, pcm24k = self._waiting.popleft()
            self._silence(played - 1)
            self._put(played, powers(pcm24k, PLAYED)[0], sound=True)
        self._silence(number)
        first = (number - DELAYS + 1) % KEPT
        return slice(first, first + DELAYS)

    def _silence(self, last: int) -> None:
        for number in range(max(self._newest + 1, last - KEPT), last + 1):
            self._put(number, NOTHING, sound=False)

    def _put(self, number: int, power: Bands, *, sound: bool) -> None:
        self._newest = number
        self._ringing = np.maximum(power + self._before, RINGING * self._ringing)
        self._before = power
        logs = np.log(self._ringing)
        if sound:
            self._blocks += 1
            self.mean += max(MEAN_PACE, 1 / self._blocks) * (logs - self.mean)
        pattern = np.maximum(logs - self.mean, DEPTH)
        row = number % KEPT
        self.logs[row::KEPT] = logs
        self.patterns[row::KEPT] = pattern
        self.norms[row::KEPT] = pattern @ pattern


class Likeness:
    """How alike the patterns of the microphone and of what was played are, at every delay."""

    def __init__(self) -> None:
        self._mean = np.zeros(BANDS, np.float32)
        self.blocks = 0
        self.most = 0.0
        self._alike = np.zeros(DELAYS, np.float32)
        self._norms = np.full(DELAYS, 1e-6, np.float32)
        self._norm = 1e-6
        self._levels = np.zeros((DELAYS, BANDS), np.float32)

    def best(
        self, logs: Bands, played: Played, rows: slice, known: int | None, *, settling: bool
    ) -> int | None:
        """Row of the delay at which only an echo can be so alike; None if there is none."""
        self.blocks += 1
        self._mean += max(MEAN_PACE, 1 / self.blocks) * (logs - self._mean)
        pattern = np.maximum(logs - self._usual(played), DEPTH)
        self._alike *= MEMORY
        self._alike += played.patterns[rows] @ pattern
        self._norms *= MEMORY
        self._norms += played.norms[rows]
        self._norm = MEMORY * self._norm + float(pattern @ pattern)
        if settling:
            pace = max(1 - MEMORY, 1 / self.blocks)
            self._levels += pace * (logs - played.logs[rows] - self._levels)
        likeness = self._alike / np.sqrt(self._norms * self._norm)
        best = int(likeness.argmax())
        self.most = float(likeness[best])
        if self.blocks < ALIKE_BLOCKS or self.most < ALIKE:
            return None
        return known if known is not None and likeness[best] < likeness[known] + BETTER else best

    def _usual(self, played: Played) -> Bands:
        """The mean of the microphone; in the beginning the shape of what was played."""
        if self.blocks >= SETTLING_BLOCKS:
            return self._mean
        apart = self._mean - played.mean
        known: Bands = (
            played.mean + apart.mean() + self.blocks / SETTLING_BLOCKS * (apart - apart.mean())
        )
        return known

    def level(self, row: int) -> Bands:
        """Log of what comes back of what was played, band by band, at this delay."""
        level: Bands = self._levels[row].copy()
        return level

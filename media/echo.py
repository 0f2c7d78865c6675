"""Is that the tutor's own voice, come back through the learner's microphone?

Compares what the microphone hears with what was played, in bands of power and at every delay up
to 640 ms; what looks like an echo must have its waveform before it is one. It learns delay and
level of the echo by itself and never touches the sound. Pure: time comes with the blocks. Costs
nothing unless something is or has just been played.
"""

from __future__ import annotations

from enum import Enum

import numpy as np

from media.echo_bands import (
    ALIKE_BLOCKS,
    BLOCK_S,
    DELAYS,
    HEARD,
    MICROPHONE_SLIP_S,
    NOTHING,
    PLAYER_SLIP_S,
    SETTLING_BLOCKS,
    Bands,
    Clock,
    Likeness,
    Played,
    powers,
)
from media.echo_proof import Sounds

PLAYED_BYTES, HEARD_BYTES = 960, 640  # 20 ms at 24 and at 16 kHz
# A way back on which nothing keeps its waveform: alike for so many blocks in a row.
PATIENCE_BLOCKS = 100
# While no echo is known the waveform is asked for in every third block, later in every tenth.
ASK_EVERY, ASK_BLOCKS, ASK_SELDOM = 3, 150, 10
# More alike than the learner's own voice usually is; less alike than an echo ever is.
SUSPICIOUS, UNLIKE = 0.45, 0.3
# The learned level follows the median by so much a block (dB), and 9 dB above it is no echo.
STEP = np.float32(0.2 / 4.34)
MARGIN = np.float32(np.log(8.0))
# Of so many blocks compared an echo is alike by more than UNLIKE (98 of 100).
COMPARED_BLOCKS = 12
# A share above this speaks for the learner, below for the echo; the sum decides.
TYPICAL, CAP, OWN = 0.35, 1.2, 0.5
# The way back is never known to the block, and buffers on it breathe.
NEAR = 2
# After our own process stood still nothing is certain for so long.
SHAKEN_BLOCKS = 25
# After so much of the tutor with nothing to be heard of it there is none; a known one is forgotten.
# Counted while the tutor is audible and has been for as long as the way back may be.
CLEAR_BLOCKS, GONE_BLOCKS = 30, 150
AUDIBLE, ON_THE_WAY_S = 300, 0.3
LONGEST_STEP = 15
# An echo makes up for so many quiet blocks.
RELAPSE = 5


class Hearing(Enum):
    """What a voice at the microphone is, as far as the tutor's own voice goes."""

    FREE = "free"  # nothing was played that could come back
    UNSURE = "unsure"  # it could be: not yet known
    LIKELY = "likely"  # not yet known, but it looks like it
    ECHO = "echo"
    OWN = "own"  # more than the echo


class Echo:
    """One lesson's way from the loudspeaker to the microphone."""

    def __init__(self) -> None:
        self._played = Played()
        self._sounds = Sounds()
        self._player = Clock(PLAYER_SLIP_S)
        self._microphone = Clock(MICROPHONE_SLIP_S)
        self._audible_until = float("-inf")
        self._likeness = Likeness()
        self._row: int | None = None  # of the delay, oldest first
        self._level = NOTHING  # log of what comes back of what was played
        self._own = 0.0
        self._alike = 0  # blocks in a row, as far as bands tell
        self._found: int | None = None  # row of a delay that the waveform has shown
        self._asked = 0
        self._clear = 0
        self._sounding_since = self._sounded_at = float("-inf")
        self._heard_at = 0.0
        self._shaken, self._slips = 0, 0

    @property
    def delay_ms(self) -> int | None:
        """Of the known echo; None while there is none."""
        return None if self._row is None else (DELAYS - 1 - self._row) * 20

    def played(self, pcm24k: bytes, at: float) -> None:
        """20 ms that leave for the learner at `at` (s, monotonic), at the level they leave with.

        Raises ValueError on another length.
        """
        if len(pcm24k) != PLAYED_BYTES:
            raise ValueError(f"a block played has {PLAYED_BYTES} bytes, not {len(pcm24k)}")
        if self._clear < GONE_BLOCKS and np.abs(np.frombuffer(pcm24k, "<i2")).max() > AUDIBLE:
            if at > self._audible_until:
                self._sounding_since = at
            self._sounded_at = at
        self._audible_until = at + DELAYS * BLOCK_S
        number = self._player.number(at)
        self._played.add(number, pcm24k)
        self._sounds.played(number, pcm24k)

    def hear(self, pcm20: bytes, at: float, *, voice: bool) -> Hearing:
        """20 ms of the microphone, PCM16 16 kHz; `voice`: a detector takes it for one."""
        number = self._microphone.number(at)
        self._shaken = max(0, self._shaken - 1)
        if self._microphone.slips != self._slips:
            self._slips, self._shaken = self._microphone.slips, SHAKEN_BLOCKS
        since, self._heard_at = at - self._heard_at, at
        if at > self._audible_until:
            self._own = 0.0
            return Hearing.FREE
        self._sounds.heard(number, pcm20)
        if not voice:
            self._quiet(at, since)
        elif self._settling or not number % 2:
            self._voice(pcm20, number)
        return self._verdict()

    @property
    def _settling(self) -> bool:
        """The way back is not known well: every block is looked at."""
        return self._row is None or self._likeness.blocks < SETTLING_BLOCKS

    def _verdict(self) -> Hearing:
        if self._row is not None:
            more = Hearing.UNSURE if self._settling or self._shaken else Hearing.OWN
            return more if self._own >= OWN else Hearing.ECHO
        if self._clear >= CLEAR_BLOCKS:
            return Hearing.FREE
        if self._found is not None or self._likeness.most >= SUSPICIOUS:
            return Hearing.LIKELY
        unlike = self._likeness.most < UNLIKE and self._likeness.blocks >= COMPARED_BLOCKS
        return Hearing.OWN if unlike else Hearing.UNSURE

    def _quiet(self, at: float, since: float) -> None:
        """`since`: s since the block before; silence that lasts comes in fewer blocks."""
        self._own = max(0.0, self._own - TYPICAL)
        if at - self._sounded_at > BLOCK_S * 5 or at - self._sounding_since < ON_THE_WAY_S:
            return
        blocks = min(max(1, round(since / BLOCK_S)), LONGEST_STEP)
        self._clear = min(self._clear + blocks, GONE_BLOCKS)
        if self._clear == GONE_BLOCKS:
            self._row = None

    def _voice(self, pcm20: bytes, number: int) -> None:
        rows = self._played.back_from(number)
        heard = powers(pcm20, HEARD)[0]
        logs = np.log(heard)
        if self._settling or not number % 4:
            self._learn(logs, rows, number)
        if self._row is not None:
            row = rows.start + self._row
            near = slice(max(rows.start, row - NEAR), min(rows.stop, row + NEAR + 1))
            self._judge(heard, logs, self._played.logs[row], self._played.logs[near].max(axis=0))

    def _learn(self, logs: Bands, rows: slice, number: int) -> None:
        """Which delay, if any, makes what was played look like what is heard."""
        likeness, settling = self._likeness, self._settling
        alike = likeness.best(logs, self._played, rows, self._row, settling=settling)
        self._alike = 0 if alike is None else self._alike + 1
        best = self._proven(alike, number)
        if best is None:
            if settling and likeness.most < UNLIKE:
                self._row = None
            return
        self._found = None
        if best != self._row:
            self._row = best
            if settling:
                self._level = likeness.level(best)
        self._clear = max(0, self._clear - RELAPSE)

    def _proven(self, alike: int | None, number: int) -> int | None:
        """Row of the delay of what is an echo beyond doubt: at the known delay or near it bands are
        enough, elsewhere it must have the waveform."""
        if alike is not None and self._row is not None and abs(alike - self._row) <= NEAR:
            return alike
        if self._found is None and (alike is not None or self._row is None):
            self._asked += 1
            if not self._asked % (ASK_EVERY if self._asked < ASK_BLOCKS else ASK_SELDOM):
                delay = self._sounds.delay(number)
                self._found = None if delay is None else DELAYS - 1 - delay
        if self._found is not None and self._likeness.blocks >= ALIKE_BLOCKS:
            return self._found
        return alike if self._alike >= PATIENCE_BLOCKS else None

    def _judge(self, heard: Bands, logs: Bands, played: Bands, loudest: Bands) -> None:
        """`played`: at the known delay; `loudest`: at the delays around it."""
        echo = played + self._level
        beyond = float(np.maximum(heard - np.exp(loudest + self._level + MARGIN), 0).sum())
        weight = (1 if self._settling else 2) * (beyond / float(heard.sum()) - TYPICAL)
        self._own = min(CAP, max(0.0, self._own + weight))
        if self._own < OWN:
            self._level = self._level + np.where(logs > echo, STEP, -STEP)

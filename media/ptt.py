"""One push-to-talk hold: from when on the sound of a held key may leave. Pure; time is blocks.

Energy admits, no classifier (OWN-34): very quiet speech stays out, sustained loud noise gets in.
A hold that ends before it was admitted was empty: nothing of it leaves (OWN-33).
"""

from __future__ import annotations

from enum import Enum

import numpy as np

BLOCK_MS = 20
WINDOW_BYTES = 320  # 10 ms of PCM16 mono 16 kHz
# So many consecutive windows above the floor are a voice (OWN-31); the floor is -50 dBFS.
WINDOWS = 2
FLOOR = 32768 * 10 ** (-50 / 20)
# A tap shorter than this says nothing (PAINS T6); the pre-roll keeps the onset meanwhile.
SHORTEST_MS = 250
# Sound that was on its way when the key came up.
TAIL_MS = 100
# The breath that the key cut off is nobody's next turn: it ends with so much quiet or, in a room
# that is never quiet, after so long.
QUIET_MS, BREATH_MS = 200, 1000
# A key that is held longer is stuck.
LONGEST_MS = 120_000


class Passage(Enum):
    """What becomes of one block."""

    SHUT = "shut"
    OPENS = "opens"  # this block admits the hold
    OPEN = "open"
    ENDS = "ends"  # the admitted hold is over, this block excluded


class _Phase(Enum):
    UP = "up"
    PENDING = "pending"
    ADMITTED = "admitted"
    TAIL = "tail"
    BREATH = "breath"  # what the key cut off, as it goes on


class Hold:
    """`press` and `release` a key, `feed` every block meanwhile. A stretch that was admitted or
    adopted ends with exactly one `ENDS`, whatever the key does in between."""

    def __init__(self) -> None:
        self.onset = 0.0
        self._phase = _Phase.UP
        self._held_ms = self._windows = 0
        self._released_at: float | None = None
        self._loud_at = 0.0
        self._sounded = False

    @property
    def down(self) -> bool:
        return self._phase in (_Phase.PENDING, _Phase.ADMITTED)

    @property
    def active(self) -> bool:
        """Blocks belong to `feed`."""
        return self._phase is not _Phase.UP

    @property
    def pending(self) -> bool:
        """Down, and not admitted yet."""
        return self._phase is _Phase.PENDING

    def press(self, *, adopt: bool = False) -> None:
        """`adopt`: the learner speaks already, in the open; the hold takes that speech over."""
        if self.down:
            return
        adopt = adopt or self._phase is _Phase.TAIL
        self._phase = _Phase.ADMITTED if adopt else _Phase.PENDING
        self._held_ms = self._windows = 0
        self._sounded = False

    def release(self) -> None:
        if self._phase is _Phase.PENDING:
            self._phase = _Phase.UP
        elif self._phase is _Phase.ADMITTED:
            self._phase, self._released_at = _Phase.TAIL, None

    def drop(self) -> None:
        """Whoever held the key is gone; the caller ends what was admitted."""
        self._phase = _Phase.UP

    def feed(self, pcm20: bytes, at: float) -> Passage:
        """One 20 ms block that begins at `at` (s, monotonic)."""
        self._held_ms += BLOCK_MS
        if self._held_ms > LONGEST_MS:
            self.release()
        match self._phase:
            case _Phase.UP:
                return Passage.SHUT
            case _Phase.ADMITTED:
                return Passage.OPEN
            case _Phase.TAIL:
                return self._tail(pcm20, at)
            case _Phase.BREATH:
                self._breathe(pcm20, at)
                return Passage.SHUT
        if not self._sounded:
            self._listen(pcm20, at)
        if not self._sounded or self._held_ms < SHORTEST_MS:
            return Passage.SHUT
        self._phase = _Phase.ADMITTED
        return Passage.OPENS

    def _tail(self, pcm20: bytes, at: float) -> Passage:
        """By the clock: silence that lasts comes in fewer blocks."""
        if self._released_at is None:
            self._released_at = self._loud_at = at
        if round((at - self._released_at) * 1000) < TAIL_MS:
            self._loud_at = at if _rms(pcm20) > FLOOR else self._loud_at
            return Passage.OPEN
        self._phase = _Phase.BREATH
        self._breathe(pcm20, at)
        return Passage.ENDS

    def _breathe(self, pcm20: bytes, at: float) -> None:
        assert self._released_at is not None
        if _rms(pcm20) > FLOOR:
            self._loud_at = at
        quiet_ms = round((at - self._loud_at) * 1000)
        if quiet_ms >= QUIET_MS or round((at - self._released_at) * 1000) >= TAIL_MS + BREATH_MS:
            self._phase = _Phase.UP

    def _listen(self, pcm20: bytes, at: float) -> None:
        for start in range(0, len(pcm20), WINDOW_BYTES):
            loud = _rms(pcm20[start : start + WINDOW_BYTES]) > FLOOR
            self._windows = self._windows + 1 if loud else 0
            if self._windows == WINDOWS:
                self._sounded = True
                # The first of the two windows.
                self.onset = at + (start - WINDOW_BYTES) / WINDOW_BYTES * 0.010
                return


def _rms(pcm: bytes) -> float:
    if not any(pcm):
        return 0.0
    samples = np.frombuffer(pcm, "<i2").astype(np.float32)
    return float(np.sqrt(np.dot(samples, samples) / len(samples)))

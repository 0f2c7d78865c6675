"""Which packets of a quiet room need not be decoded. Pure.

A sender tells the level of each packet in its header (RFC 6464), made for exactly this. After 3 s
of packets that are all quieter than a room in which anybody could be heard, they are only kept, and
one in half a second is decoded all the same: a sender whose levels are wrong is never believed
again. The first packet that is louder wakes it, and what was kept comes first.
"""

from __future__ import annotations

from collections import deque

# In dB below full scale (RFC 6464): quieter than a whisper, and than any room with voices in it
# (`media.room`: below -52 dBFS a room asks for nothing).
QUIET = 54
AFTER_PACKETS = 150
# What was kept covers the time since the last test, and any pre-roll that has sound in it.
KEPT = TEST_EVERY = 25
# A packet said to be quiet and louder than -46 dBFS when decoded: those levels are worth nothing.
LIAR = 32768 * 10 ** (-46 / 20)
# RFC 6716 3.1: the packet says itself how many frames it has; then lengths may vary.
_ANY_COUNT = 3


class Doze:
    """One stream."""

    def __init__(self) -> None:
        self.believed = True
        self._toc = -1
        self._quiet = 0
        self._kept: deque[bytes] = deque(maxlen=KEPT)

    def sleeps(self, payload: bytes, level: int | None) -> bool:
        """True: the packet (of the length of the one before) was kept and need not be decoded."""
        toc = payload[0] if payload else -1
        if level is None or level < QUIET or toc != self._toc or not self.believed:
            self._toc = -1 if toc & _ANY_COUNT == _ANY_COUNT else toc
            self._quiet = 0
            return False
        self._quiet += 1
        if self._quiet <= AFTER_PACKETS:
            return False
        self._kept.append(payload)
        return True

    @property
    def doubts(self) -> bool:
        """The packet that came last is to be decoded and its loudness `told`."""
        return bool(self._quiet) and self._quiet % TEST_EVERY == 0

    def told(self, loudness: float) -> None:
        """RMS of a packet that was said to be quiet."""
        if loudness > LIAR:
            self.believed = False

    def woken(self) -> tuple[bytes, ...]:
        """What was kept and never decoded, oldest first; then it is forgotten."""
        kept = tuple(self._kept)
        self._kept.clear()
        return kept

    def forget(self) -> None:
        """The next packet is of another stream."""
        self._kept.clear()
        self._quiet = 0

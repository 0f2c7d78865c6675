"""One stretch of the learner's speech, cut out by our own gate where no service listens. Pure."""

from __future__ import annotations

# PCM16 mono 16 kHz.
BYTES_PER_S = 32_000
# As the longest learner turn of a live lesson; beyond it the oldest sound gives way.
LONGEST_S = 120


class Segment:
    """Collects what the gate forwards until the stretch has been written down."""

    def __init__(self) -> None:
        self._pcm = bytearray()

    @property
    def pcm(self) -> bytes:
        """Everything since the last `clear`, pauses left out."""
        return bytes(self._pcm)

    def add(self, pcm: bytes) -> None:
        self._pcm += pcm
        excess = len(self._pcm) - LONGEST_S * BYTES_PER_S
        if excess > 0:
            del self._pcm[:excess]

    def clear(self) -> None:
        self._pcm.clear()

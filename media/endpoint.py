"""Has the learner finished, or are they only thinking? How long a silence ends their turn.

Used where our own detection ends turns. Pure: no clock, no I/O; silence is counted by the gate.
"""

from __future__ import annotations


class Endpoint:
    """One microphone. `silence_ms`: the silence that ends an ordinary turn."""

    def __init__(self, silence_ms: int) -> None:
        self._silence_ms = silence_ms
        self._thinking_ms = 0

    @property
    def hangover_ms(self) -> int:
        return max(self._silence_ms, self._thinking_ms)

    def thinking(self, seconds: float) -> None:
        self._thinking_ms = round(seconds * 1000)

    def words(self, text: str) -> None: ...

    def started(self) -> None: ...

    def hear(self, pcm20: bytes, *, voiced: bool) -> None: ...

    def ended(self) -> None:
        self._thinking_ms = 0

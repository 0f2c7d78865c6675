"""When the sound that waits to be sent arrived, by its place in the stream. Pure."""

from __future__ import annotations

from collections import deque

# Ten seconds of 20 ms blocks and more: what the outbox may hold at most.
KEPT = 1024


class Arrivals:
    """Positions are bytes since the beginning. Sound that was dropped, or whose send failed, is
    never told of."""

    def __init__(self) -> None:
        self._came = 0
        self._marks: deque[tuple[int, float]] = deque(maxlen=KEPT)

    def came(self, size: int, at: float | None) -> None:
        """`size` bytes were queued; the newest of them arrived at `at`, when that is known."""
        self._came += size
        if at is not None:
            self._marks.append((self._came, at))

    def taken(self, size: int, left: int) -> list[float]:
        """Arrivals of the blocks that end in the `size` bytes taken now; `left` wait still."""
        end = self._came - left
        found: list[float] = []
        while self._marks and self._marks[0][0] <= end:
            position, at = self._marks.popleft()
            if position > end - size:
                found.append(at)
        return found

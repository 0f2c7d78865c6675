"""When one connection must be handed over to the next: goAway, and our own age limit. Pure.

The service ends a session at 58 minutes even with compression on, so we leave before 55; a goAway
names its own deadline. The hand-over prefers a quiet moment and is forced just before the deadline.
"""

from __future__ import annotations

# From here on a quiet moment is used, and at the latest by the other one.
SEEK_AFTER_S = 50 * 60.0
LEAVE_AFTER_S = 54 * 60.0
# Left before an announced deadline: closing takes one message, connecting comes after it.
MARGIN_S = 2.0
# However much time is announced, no session waits longer for its hand-over (OWN-64).
ANNOUNCED_MAX_S = 600.0
# A session that is sent away when it has just come is used for so long, where its time allows it:
# the next one may be sent away as well. One that had to end sooner counts as lost.
SHORTEST_S = 5.0


class Rotation:
    """The clock of one connection, opened at `at` (loop time, s)."""

    def __init__(self, at: float) -> None:
        self._opened_at = at
        self._seek_at = at + SEEK_AFTER_S
        self._leave_at = at + LEAVE_AFTER_S

    def go_away(self, at: float, time_left_s: float) -> None:
        """The service announced its end; an earlier deadline stands."""
        self._seek_at = min(self._seek_at, max(at, self._opened_at + SHORTEST_S))
        left_s = min(time_left_s, ANNOUNCED_MAX_S)
        self._leave_at = min(self._leave_at, at + max(0.0, left_s - MARGIN_S))

    def due(self, at: float, quiet: bool) -> bool:
        return at >= self._leave_at or (quiet and at >= self._seek_at)

    def next_check(self, at: float) -> float:
        """When `due` can change by itself."""
        return min(self._seek_at, self._leave_at) if at < self._seek_at else self._leave_at

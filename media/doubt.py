"""Words over the tutor of which nobody knows yet whose they are. Pure.

One that was too short to be certain belongs to what is said soon after it, and goes out with it.
"""

from __future__ import annotations

from media.echo import Hearing

# So long after the last of them a new passage begins.
GAP_S = 1.0
IN_DOUBT = (Hearing.UNSURE, Hearing.LIKELY)


class Doubt:
    """One microphone's. Times in seconds, of the blocks."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._last = 0.0

    def heard(self, at: float, hearing: Hearing, *, voice: bool) -> None:
        """A block; what is known to be the echo ends the doubt."""
        if hearing is Hearing.ECHO or at - self._last > GAP_S:
            self._since = None
        if voice and (hearing in IN_DOUBT or self._since is not None):
            self._since, self._last = (at if self._since is None else self._since), at

    def first(self, onset: float) -> float:
        """When what is certain now, and seemed to begin at `onset`, began."""
        return onset if self._since is None else min(onset, self._since)

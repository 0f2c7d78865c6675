"""Tells a superseded reply from the next one when both come down the same wire. Pure.

After an interruption the service may still send audio and words of the dropped generation, and one
`TurnCompleted` that belongs to it. The fence refuses the former and claims the latter.
"""

from __future__ import annotations

# A service that neither acknowledges nor completes the dropped generation is trusted again after
# this long: no first audio of a new answer has been seen sooner than that after the learner's turn.
FENCE_S = 1.0


class Fence:
    """Up: what arrives belongs to a dropped generation. `owed`: its `TurnCompleted` is to come."""

    def __init__(self) -> None:
        self.up = False
        self.owed = False
        self._acknowledged = False
        self._lowers_at: float | None = None

    def forget(self) -> None:
        """Another session: nothing old can come down its wire."""
        self.up = self.owed = self._acknowledged = False
        self._lowers_at = None

    def supersede(self, *, generated: bool, completed: bool) -> None:
        """The current generation was dropped; `generated`: all its audio had come already."""
        self.up = not generated
        self.owed = not completed
        self._acknowledged = False
        self._lowers_at = None

    def acknowledge(self) -> None:
        """The service said `interrupted`; an interrupted turn ends on the next completion."""
        self._acknowledged = True
        self.owed = True

    def learner_done(self, at: float) -> None:
        """The learner's next turn has been handed in: what answers it must not be refused."""
        if self.up and self._acknowledged:
            self.up = False
        elif self.up:
            self._lowers_at = at + FENCE_S

    def lower_later(self, at: float) -> None:
        """Nobody speaks after the interruption: only time can tell."""
        self._lowers_at = at + FENCE_S

    def admits(self, at: float) -> bool:
        """Whether reply audio or words arriving now are current."""
        if self.up and self._lowers_at is not None and at >= self._lowers_at:
            self.up = False
        if not self.up:
            self.owed = False
        return not self.up

    def completed(self) -> bool:
        """A `TurnCompleted` came; true when it belongs to the dropped generation."""
        was_owed = self.owed
        self.up = self.owed = False
        return was_owed

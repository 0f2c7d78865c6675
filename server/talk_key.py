"""The push-to-talk key of one page, between the gate and the turn machine. No I/O, no clock."""

from __future__ import annotations

from collections.abc import Callable

from media import turn_events as ev
from media.gate import Gate


class TalkKey:
    """`claimable`: whether a key may silence the voice now. `handle` feeds the turn machine. What
    the key says twice is said once; a key whose page is gone, or that got stuck, comes up."""

    def __init__(
        self, gate: Gate, claimable: Callable[[], bool], handle: Callable[[ev.TurnEvent], None]
    ) -> None:
        self._gate, self._claimable, self._handle = gate, claimable, handle
        self._down = False

    def move(self, down: bool, at: float) -> None:
        if down == self._down:
            return
        self._down = down
        self._gate.hold(down)
        if not down:
            self._handle(ev.HoldReleased(at))
        elif self._claimable():
            self._handle(ev.HoldClaimed(at))

    def heard(self, at: float) -> None:
        """After every block: the gate lets a stuck key go."""
        if self._down and not self._gate.held:
            self.move(False, at)

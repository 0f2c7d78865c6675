"""The learner speaks while a reply is current: duck, pause, then interrupt or forgive. Pure.

Evidence ducks at once; speech pauses and keeps the position; only a confirmation interrupts. A
cough is forgiven: the reply goes on exactly where it stopped.
"""

from __future__ import annotations

from enum import Enum

from media.turn_events import Duck, Effect, Pause, Resume, Unduck

# Evidence that does not become speech within this raises the voice again.
EVIDENCE_S = 0.3
# Speech that ended without any confirmation is forgiven after this.
FORGIVE_S = 0.8
# No reply is held longer than this by one stretch of speech: confirmed, or played anyway.
HELD_S = 1.5
# A key that is held in silence keeps a reply silent no longer than this.
HUSH_S = 15.0


class Phase(Enum):
    CLEAR = "clear"
    DUCKED = "ducked"
    PAUSED = "paused"  # the learner speaks over the reply
    FORGIVING = "forgiving"  # the speech is over, unconfirmed
    HELD = "held"  # the reply came while the learner still spoke; it has not been heard
    HUSHED = "hushed"  # a push-to-talk key is down


class BargeIn:
    """One reply's barge-in state; every phase but CLEAR has a deadline `until`."""

    def __init__(self) -> None:
        self.phase = Phase.CLEAR
        self.onset: float | None = None
        self.until: float | None = None
        self._paused_at = 0.0

    @property
    def unconfirmed(self) -> bool:
        """Speech over the reply that may still turn out to be an interruption."""
        return self.phase in (Phase.PAUSED, Phase.FORGIVING)

    @property
    def silent(self) -> bool:
        """The voice stands still."""
        return self.phase not in (Phase.CLEAR, Phase.DUCKED)

    def evidence(self, at: float) -> tuple[Effect, ...]:
        if self.phase is Phase.CLEAR:
            self._to(Phase.DUCKED, at + EVIDENCE_S)
            return (Duck(),)
        if self.phase is Phase.DUCKED:
            self.until = at + EVIDENCE_S
        return ()

    def started(self, at: float, onset: float) -> tuple[Effect, ...]:
        """The deadline runs from the first pause, however often the speech breaks off."""
        if self.phase is Phase.HELD:
            return ()
        if self.silent:
            self._to(Phase.PAUSED, max(at, self._paused_at + HELD_S))
            return ()
        self.onset, self._paused_at = onset, at
        self._to(Phase.PAUSED, at + HELD_S)
        return (Pause(),)

    def hold(self, at: float) -> tuple[Effect, ...]:
        """A reply begins while the learner speaks."""
        self._to(Phase.HELD, at + HELD_S)
        return (Pause(),)

    def hush(self, at: float) -> tuple[Effect, ...]:
        """A key claims the line; a voice that stands still already only changes its deadline."""
        if self.phase is Phase.HUSHED:
            return ()
        was_silent = self.silent
        self._to(Phase.HUSHED, at + HUSH_S)
        return () if was_silent else (Pause(),)

    def unhush(self) -> tuple[Effect, ...]:
        return self.release() if self.phase is Phase.HUSHED else ()

    def ended(self, at: float) -> tuple[Effect, ...]:
        if self.phase is Phase.PAUSED:
            self._to(Phase.FORGIVING, at + FORGIVE_S)
            return ()
        if self.phase is Phase.HELD:
            self.clear()
            return (Resume(),)
        return ()

    def expire(self) -> tuple[Effect, ...] | None:
        """The deadline passed. None: the speech was so long that it confirms itself."""
        return None if self.phase is Phase.PAUSED else self.release()

    def release(self) -> tuple[Effect, ...]:
        """The reply is over: the voice is left as it was found."""
        phase = self.phase
        self.clear()
        if phase is Phase.CLEAR:
            return ()
        return (Unduck(),) if phase is Phase.DUCKED else (Resume(),)

    def clear(self) -> None:
        self._to(Phase.CLEAR, None)
        self.onset = None

    def _to(self, phase: Phase, until: float | None) -> None:
        self.phase, self.until = phase, until

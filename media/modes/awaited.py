"""One reply that was asked for: which sound belongs to it, who owns its voice, when it is over.

In these modes the model's own talk comes down the same wire as the speech that was requested; only
the latter may be heard, and never two voices at once (VOICE-35 to VOICE-38). Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from media.turn_events import TurnId
from media.turn_limits import COMPLETION_S, SILENT_S, STUCK_S

# No audio so long after the request: the speech model takes the turn over (VOICE-38).
FALLBACK_S = 1.8
# Flow C: the model has the move in its hands and has to begin to say it.
TOOL_SPEECH_S = 6.0
# The speech model is waited for this long; then the reply stays in writing.
SYNTHESIS_S = 20.0
# Whoever was on the line may come back this late, or nobody does and the lesson ends.
AWAY_S = 20.0
# Talk that was running when speech was requested is over, or was dropped, by then.
DRIFT_S = 1.0


class Voicing(Enum):
    """Who says the agent's words."""

    VERBATIM = "verbatim"  # the Live voice, by an exact read
    SPEECH = "speech"  # the speech model
    TOOL = "tool"  # the Live model, once its tool call is answered


class Drift:
    """What the model says without having been asked."""

    def __init__(self) -> None:
        self._running = False
        self._until = 0.0

    def piece(self) -> None:
        self._running = True

    def over(self) -> None:
        """`interrupted` or `turnComplete`: the wire is free for what was requested."""
        self._running = False

    def request(self, at: float) -> None:
        self._until = at + DRIFT_S

    def fills(self, at: float) -> bool:
        """Whether what arrives now is still drift, although speech is awaited."""
        if self._running and at >= self._until:
            self._running = False
        return self._running


@dataclass(slots=True)
class Awaited:
    """`owned`: the speech model has the turn, the Live voice is refused for the rest of it."""

    turn_id: TurnId
    text: str
    voicing: Voicing
    since: float
    owned: bool = False
    audio_ms: float = 0.0
    started: bool = False
    generated: bool = False
    completed: bool = False
    drained_at: float | None = None
    playing_until: float = field(default=0.0)

    @property
    def by_live(self) -> bool:
        """The Live voice is expected to say it."""
        return not self.owned and self.voicing is not Voicing.SPEECH

    def sound(self, at: float, ms: float) -> None:
        """Sound of the reply came."""
        self.audio_ms += ms
        self.drained_at = None
        self.expect_playing(at)

    def expect_playing(self, at: float) -> None:
        """A playout that reports nothing is taken for drained some time after this."""
        self.playing_until = max(self.playing_until, at + self.audio_ms / 1000 + STUCK_S)

    def line_lost(self, at: float) -> None:
        """It stands still for now, and part of it may have to be played again."""
        if self.audio_ms:
            self.expect_playing(at + AWAY_S)

    def takes_over(self, at: float) -> None:
        self.owned, self.since = True, at

    def due(self) -> float:
        """The reply lives no longer than this without news."""
        if not self.audio_ms:
            if not self.by_live:
                return self.since + SYNTHESIS_S
            return self.since + (FALLBACK_S if self.voicing is Voicing.VERBATIM else TOOL_SPEECH_S)
        if self.drained_at is not None:
            return self.drained_at + (COMPLETION_S if self.generated else SILENT_S)
        return self.playing_until

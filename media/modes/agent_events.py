"""What reaches, and what leaves, the machine of a lesson whose replies come from the agent.

Data only; the events and effects that it shares with native lessons are in `media.turn_events`.
"""

from __future__ import annotations

from dataclasses import dataclass

from media import turn_events as ev
from media.turn_events import TurnId

# --- events --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Activity:
    """The service (or the gate, where it brackets) hears the learner begin or end (VOICE-13)."""

    at: float
    started: bool


@dataclass(frozen=True, slots=True)
class Uttered:
    """A stretch of speech has been cut out by our own gate; it waits to be written down."""

    at: float


@dataclass(frozen=True, slots=True)
class WrittenDown:
    """The words of the stretch; empty for noise."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class NotWrittenDown:
    at: float


@dataclass(frozen=True, slots=True)
class Called:
    """Flow C: the model asks for the move that answers `text`."""

    at: float
    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class CallsCancelled:
    at: float
    call_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Taken:
    """Words of an earlier machine that nobody answered: they are asked under their own turn."""

    at: float
    turn_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Decided:
    """The agent's move, stored already: `text` is what the tutor says."""

    at: float
    turn_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Undecided:
    """No move could be had; the shell tells why."""

    at: float
    turn_id: str


@dataclass(frozen=True, slots=True)
class Voiced:
    """Sound of a reply came from the speech model."""

    at: float
    turn_id: str
    ms: float


@dataclass(frozen=True, slots=True)
class AllVoiced:
    """The speech model has given all of it."""

    at: float
    turn_id: str


@dataclass(frozen=True, slots=True)
class Unvoiced:
    """The speech model gave no sound."""

    at: float
    turn_id: str


@dataclass(frozen=True, slots=True)
class LineLost:
    """Nobody is on the line: what is being said stands still until somebody comes back."""

    at: float


@dataclass(frozen=True, slots=True)
class SpeechSwitched:
    """Spoken replies are wanted or not (VOICE-66)."""

    at: float
    on: bool


AgentEvent = (
    ev.TurnEvent
    | Activity
    | Uttered
    | WrittenDown
    | NotWrittenDown
    | Called
    | CallsCancelled
    | Taken
    | Decided
    | Undecided
    | Voiced
    | AllVoiced
    | Unvoiced
    | LineLost
    | SpeechSwitched
)

# --- effects -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Microphone:
    """Whether what the learner says now may be heard (VOICE-31)."""

    open: bool


@dataclass(frozen=True, slots=True)
class WriteDown:
    """Transcribe the stretch of speech that has been cut out."""


@dataclass(frozen=True, slots=True)
class KeepListening:
    """The learner goes on: what was cut out belongs to what follows."""


@dataclass(frozen=True, slots=True)
class Ask:
    turn_id: TurnId
    text: str


@dataclass(frozen=True, slots=True)
class StopAsking:
    turn_id: TurnId


@dataclass(frozen=True, slots=True)
class ReadAloud:
    """Ask the Live session for an exact read of `text` (VOICE-34)."""

    turn_id: TurnId
    text: str


@dataclass(frozen=True, slots=True)
class Synthesise:
    """Ask the speech model for the sound of `text`; it owns the turn from now on (VOICE-38)."""

    turn_id: TurnId
    text: str


@dataclass(frozen=True, slots=True)
class AnswerCall:
    """`outcome` is `move` (the reply of `turn_id`), `noop` or `error`."""

    call_id: str
    outcome: str
    turn_id: TurnId | None = None


@dataclass(frozen=True, slots=True)
class ReplyOver:
    """Nothing more of this reply will be heard; its text stands as decided."""

    turn_id: TurnId
    text: str


@dataclass(frozen=True, slots=True)
class Deaf:
    """Our own ears failed: the learner has to type."""


AgentEffect = (
    ev.Effect
    | Microphone
    | WriteDown
    | KeepListening
    | Ask
    | StopAsking
    | ReadAloud
    | Synthesise
    | AnswerCall
    | ReplyOver
    | Deaf
)

"""What the turn machine hears (events, past tense) and what it asks for (effects). Data only.

`at` is the monotonic loop time in seconds. Turn ids of one machine count upwards: the order of the
numbers is the order in which the turns began (by speech start), whatever arrives late.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NewType

TurnId = NewType("TurnId", str)

# --- events ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SpeechEvidence:
    """The gate heard what may become speech (<= 60 ms of it)."""

    at: float


@dataclass(frozen=True, slots=True)
class SpeechStarted:
    """The gate is sure of speech; `onset` is when it began (earlier than `at`)."""

    at: float
    onset: float


@dataclass(frozen=True, slots=True)
class SpeechSustained:
    """The learner has voiced 500 ms since `SpeechStarted`: no cough, no "mhm"."""

    at: float


@dataclass(frozen=True, slots=True)
class SpeechEnded:
    """Nothing voiced for the gate's hang-over. Never the end of a turn by itself (VOICE-32)."""

    at: float


@dataclass(frozen=True, slots=True)
class LearnerWords:
    """Input transcription. `interim` replaces the last interim; otherwise a delta."""

    at: float
    text: str
    finished: bool = False
    interim: bool = False


@dataclass(frozen=True, slots=True)
class TutorAudioArrived:
    """`ms` of reply audio came from the service (not: were heard)."""

    at: float
    ms: float


@dataclass(frozen=True, slots=True)
class TutorWords:
    """A delta of what the reply says."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class ReplyInterrupted:
    """The service dropped its reply."""

    at: float


@dataclass(frozen=True, slots=True)
class GenerationCompleted:
    """The service has sent all audio of this generation."""

    at: float


@dataclass(frozen=True, slots=True)
class TurnCompleted:
    """The service's turn is over; `in_progress` (extended thinking): the answer still follows."""

    at: float
    in_progress: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PlayoutStarted:
    """The first sample of the reply, or of its continuation after a gap, left for the peer."""

    at: float
    turn_id: str = ""


@dataclass(frozen=True, slots=True)
class PlayoutDrained:
    """The last queued sample has been played; more may follow unless the service is done."""

    at: float
    turn_id: str = ""
    audible: bool = True


@dataclass(frozen=True, slots=True)
class Typed:
    """An authoritative learner turn in writing (VOICE-64)."""

    at: float
    text: str
    request_id: str = ""


@dataclass(frozen=True, slots=True)
class HoldClaimed:
    """A push-to-talk key is down and nobody else owns the turn: the voice stands still (OWN-28)."""

    at: float


@dataclass(frozen=True, slots=True)
class HoldReleased:
    """The key is up again, whether or not it had claimed the line and whatever was said."""

    at: float


@dataclass(frozen=True, slots=True)
class TextUnvoiced:
    """No voice could be had for a reply that came without sound."""

    at: float
    turn_id: str


@dataclass(frozen=True, slots=True)
class TimePassed:
    at: float


@dataclass(frozen=True, slots=True)
class LinkLost:
    at: float


@dataclass(frozen=True, slots=True)
class LinkRestored:
    at: float


@dataclass(frozen=True, slots=True)
class Closed:
    """The lesson ends now: whatever was heard is finished, nothing else happens after it."""

    at: float


TurnEvent = (
    SpeechEvidence
    | SpeechStarted
    | SpeechSustained
    | SpeechEnded
    | LearnerWords
    | TutorAudioArrived
    | TutorWords
    | ReplyInterrupted
    | GenerationCompleted
    | TurnCompleted
    | PlayoutStarted
    | PlayoutDrained
    | Typed
    | HoldClaimed
    | HoldReleased
    | TextUnvoiced
    | TimePassed
    | LinkLost
    | LinkRestored
    | Closed
)

# --- effects, performed in order -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Duck:
    """Lower the tutor's voice."""


@dataclass(frozen=True, slots=True)
class Unduck:
    """Raise the tutor's voice again."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Stop the tutor's voice and keep the position."""


@dataclass(frozen=True, slots=True)
class Resume:
    """Go on exactly where the voice was paused."""


@dataclass(frozen=True, slots=True)
class Flush:
    """Drop everything queued; the playout keeps what was heard."""


@dataclass(frozen=True, slots=True)
class BeginReply:
    """Audio and words of the reply belong to this turn from now on."""

    turn_id: TurnId


@dataclass(frozen=True, slots=True)
class EndReply:
    """No more audio is expected for now: play the last partial block too."""

    turn_id: TurnId


@dataclass(frozen=True, slots=True)
class SendTyped:
    text: str
    request_id: str


@dataclass(frozen=True, slots=True)
class ShowState:
    """`state` is `listening`, `formulating` or `speaking`; `reason` a trouble code or empty."""

    state: str
    may_interrupt: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ShowLearner:
    """The whole learner text of the turn so far."""

    turn_id: TurnId
    text: str
    final: bool


@dataclass(frozen=True, slots=True)
class ShowTutor:
    """The whole reply text received so far; after an interruption the heard text replaces it."""

    turn_id: TurnId
    text: str


@dataclass(frozen=True, slots=True)
class ShowInterrupted:
    """The learner cut this reply short: `(You interrupted the tutor.)`."""

    turn_id: TurnId


@dataclass(frozen=True, slots=True)
class FinishTurn:
    """The exchange is over; the shell adds the heard tutor text (empty: nothing to save)."""

    turn_id: TurnId
    learner_text: str
    interrupted: bool
    typed: bool


@dataclass(frozen=True, slots=True)
class DropReply:
    """The turn ends unsaved. `why`: `noise`, `empty`, `no_learner` (a reply to nobody: its bubble
    stays), `unheard`, `silent_turn`, `link_down`, `closed`."""

    turn_id: TurnId
    why: str


@dataclass(frozen=True, slots=True)
class QuietMoment:
    """Nobody speaks, nothing is queued: the time to inject and to rotate."""


@dataclass(frozen=True, slots=True)
class VoiceText:
    """The service gave the words of a reply and no sound: another voice has to say them. Its sound
    comes in as that of the reply; `TextUnvoiced` when there is none."""

    turn_id: TurnId
    text: str


@dataclass(frozen=True, slots=True)
class Trouble:
    """A watchdog fired: `silent_turn`, `empty_turns`, `inaudible`, `text_without_audio`,
    `stuck_playout`, `turn_tracking` (too many typed turns without an answer: the lesson ends)."""

    code: str
    turn_id: TurnId


Effect = (
    Duck
    | Unduck
    | Pause
    | Resume
    | Flush
    | BeginReply
    | EndReply
    | SendTyped
    | ShowState
    | ShowLearner
    | ShowTutor
    | ShowInterrupted
    | FinishTurn
    | DropReply
    | QuietMoment
    | VoiceText
    | Trouble
)

"""What the server says on the data channel, as pydantic models. Data only.

RTVI's own messages keep its snake_case; Pidjin's ride as `server-message` in camelCase.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

PROTOCOL_VERSION = "2.1.0"

LessonState = Literal[
    "connecting", "listening", "formulating", "speaking", "paused", "reconnecting", "idle", "closed"
]


class Snake(BaseModel):
    """RTVI's own messages: snake_case on the wire."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)


class Camel(Snake):
    """Pidjin's messages: camelCase on the wire."""

    model_config = ConfigDict(
        extra="ignore", populate_by_name=True, alias_generator=to_camel, serialize_by_alias=True
    )
    KIND: ClassVar[str] = ""


class BotReady(Snake):
    TYPE: ClassVar[str] = "bot-ready"
    version: str = PROTOCOL_VERSION
    about: dict[str, Any] = Field(default_factory=lambda: {"library": "pidjin"})


class Empty(Snake):
    """Data of the messages that say all with their type."""


class UserTranscription(Snake):
    """What the learner said. `text` is the whole utterance so far; `final` closes it.

    `lowConfidence`: it is in a script that nobody expects here, so most likely misheard.
    """

    TYPE: ClassVar[str] = "user-transcription"
    text: str
    final: bool
    timestamp: str
    user_id: str
    turn_id: str = Field(serialization_alias="turnId")
    low_confidence: bool | None = Field(default=None, serialization_alias="lowConfidence")


class BotOutput(Snake):
    """The tutor's words of one turn: `text` is the whole text so far and replaces the previous."""

    TYPE: ClassVar[str] = "bot-output"
    text: str
    turn_id: str = Field(serialization_alias="turnId")
    segment_id: int
    replace: bool = True
    aggregated_by: str = "turn"
    will_be_spoken: bool = True
    spoken_status: Literal["new", "in-progress", "completed"] = "in-progress"


class BotTranscription(Snake):
    """The tutor's words of a finished turn as heard; sent once a turn."""

    TYPE: ClassVar[str] = "bot-transcription"
    text: str
    turn_id: str = Field(serialization_alias="turnId")
    replace: bool = True


class BotTtsText(Snake):
    """The newest words of the tutor, as a delta: for stock clients that build captions."""

    TYPE: ClassVar[str] = "bot-tts-text"
    text: str


class RtviError(Snake):
    TYPE: ClassVar[str] = "error"
    error: str
    fatal: bool = False
    code: str = ""


class ErrorResponse(Snake):
    TYPE: ClassVar[str] = "error-response"
    error: str


class MetricValue(Snake):
    """Seconds that one part took."""

    processor: str
    value: float


class TurnTimes(Camel):
    """Milliseconds of one turn; what did not happen is absent. `gateMs`: onset of speech to
    certainty; `liveMs`: end of speech to the first byte of the reply; `playoutMs`: that byte to
    the first packet; `bargeInMs`: onset of the learner's voice to the tutor's silence."""

    turn_id: str
    gate_ms: int | None = None
    live_ms: int | None = None
    playout_ms: int | None = None
    learner_to_tutor_ms: int | None = None
    barge_in_ms: int | None = None


class Metrics(Snake):
    """How long the turn took that has just ended: the lists of RTVI, and Pidjin's own `turn`."""

    TYPE: ClassVar[str] = "metrics"
    ttfb: list[MetricValue]
    processing: list[MetricValue]
    turn: TurnTimes


class Status(Camel):
    """What the lesson is doing, in the words of the design; the client maps them to its copy."""

    KIND: ClassVar[str] = "status"
    state: LessonState
    may_interrupt: bool = False
    reason: str | None = None


class Turn(Camel):
    """One exchange after it was stored (`saved`) or could not be. `text` is what was heard."""

    KIND: ClassVar[str] = "turn"
    turn_id: str
    mode: str | None
    user_text: str
    text: str
    unheard: str = ""
    interrupted: bool
    saved: bool


class Agenda(Camel):
    KIND: ClassVar[str] = "agenda"
    agenda: list[str]
    covered_angles: list[str]
    complete: bool


class Notice(Camel):
    """Copy for a toast (`notice`): exact text of the requirements plus a machine code."""

    KIND: ClassVar[str] = "notice"
    text: str
    code: str


class System(Camel):
    """A line of the conversation that nobody said."""

    KIND: ClassVar[str] = "system"
    text: str
    code: str
    turn_id: str | None = None


class Cost(Camel):
    """Tokens of this voice session so far, as the service reports them, and their list price.

    `usd` is absent when the model has no price that is known."""

    KIND: ClassVar[str] = "cost"
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    usd: float | None
    model: str


class ActivityLevel(Camel):
    """Microphone level 0..1 at the gate, and whether audio leaves it. At most 5 a second."""

    KIND: ClassVar[str] = "activity"
    level: float
    sending: bool


class ToolApproval(Camel):
    """May this tool run? Nothing of it does before a `tool_result`; tutoring has no such tools."""

    KIND: ClassVar[str] = "tool-approval"
    tool_call_id: str
    tool_name: str
    args: dict[str, Any]


class Closed(Camel):
    """The last message of a peer; `reason` is machine-readable, `text` for a person."""

    KIND: ClassVar[str] = "closed"
    reason: str
    text: str


class Interruption(Camel):
    """The reply of this turn was cut; `heard` is what had been played."""

    KIND: ClassVar[str] = "interrupted"
    turn_id: str
    heard: str


SERVER_DATA: tuple[type[Camel], ...] = (
    Status, Turn, Agenda, Notice, System, Cost, ActivityLevel, ToolApproval, Closed, Interruption,
)  # fmt: skip
RTVI_DATA: tuple[type[Snake], ...] = (
    BotReady, UserTranscription, BotOutput, BotTranscription, BotTtsText, RtviError, ErrorResponse,
    Metrics,
)  # fmt: skip
PLAIN_TYPES = (
    "user-started-speaking",
    "user-stopped-speaking",
    "bot-started-speaking",
    "bot-stopped-speaking",
    "user-mute-started",
    "user-mute-stopped",
    "bot-interrupted",
)

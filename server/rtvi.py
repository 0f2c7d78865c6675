"""The words of the data channel: RTVI 2.x envelopes as pydantic models, both directions. No I/O.

Wire: `{"label": "rtvi-ai", "type": …, "id": …, "data": …}`, UTF-8 JSON, one message a frame.
Where RTVI has no word, Pidjin's own ride as `server-message` / `client-message` (design 3.3).
The models are also the source of docs/asyncapi.json.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

LABEL = "rtvi-ai"
PROTOCOL_VERSION = "2.1.0"
# Design 3.3: larger client messages are dropped and counted.
MAX_MESSAGE_BYTES = 64 * 1024

LessonState = Literal[
    "connecting", "listening", "formulating", "speaking", "paused", "reconnecting", "idle", "closed"
]


class _Snake(BaseModel):
    """RTVI's own messages: snake_case on the wire."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)


class _Camel(_Snake):
    """Pidjin's messages: camelCase on the wire."""

    model_config = ConfigDict(
        extra="ignore", populate_by_name=True, alias_generator=to_camel, serialize_by_alias=True
    )
    KIND: ClassVar[str] = ""


# --- server to client -------------------------------------------------------------------------


class BotReady(_Snake):
    TYPE: ClassVar[str] = "bot-ready"
    version: str = PROTOCOL_VERSION
    about: dict[str, str] = Field(default_factory=lambda: {"library": "pidjin"})


class Empty(_Snake):
    """Data of the messages that say all with their type."""


class UserTranscription(_Snake):
    """What the learner said. `text` is the whole utterance so far; `final` closes it."""

    TYPE: ClassVar[str] = "user-transcription"
    text: str
    final: bool
    timestamp: str
    user_id: str
    turn_id: str = Field(serialization_alias="turnId")


class BotOutput(_Snake):
    """The tutor's words of one turn: `text` is the whole text so far and replaces the previous."""

    TYPE: ClassVar[str] = "bot-output"
    text: str
    turn_id: str = Field(serialization_alias="turnId")
    segment_id: int
    replace: bool = True
    aggregated_by: str = "turn"
    will_be_spoken: bool = True
    spoken_status: Literal["new", "in-progress", "completed"] = "in-progress"


class BotTranscription(_Snake):
    """The tutor's words of a finished turn as heard; sent once a turn."""

    TYPE: ClassVar[str] = "bot-transcription"
    text: str
    turn_id: str = Field(serialization_alias="turnId")
    replace: bool = True


class BotTtsText(_Snake):
    """The newest words of the tutor, as a delta: for stock clients that build captions."""

    TYPE: ClassVar[str] = "bot-tts-text"
    text: str


class RtviError(_Snake):
    TYPE: ClassVar[str] = "error"
    error: str
    fatal: bool = False
    code: str = ""


class ErrorResponse(_Snake):
    TYPE: ClassVar[str] = "error-response"
    error: str


class Status(_Camel):
    """What the lesson is doing, in the words of the design; the client maps them to its copy."""

    KIND: ClassVar[str] = "status"
    state: LessonState
    may_interrupt: bool = False
    reason: str | None = None


class Turn(_Camel):
    """One exchange after it was stored (`saved`) or could not be. `text` is what was heard."""

    KIND: ClassVar[str] = "turn"
    turn_id: str
    mode: str | None
    user_text: str
    text: str
    unheard: str = ""
    interrupted: bool
    saved: bool


class Agenda(_Camel):
    KIND: ClassVar[str] = "agenda"
    agenda: list[str]
    covered_angles: list[str]
    complete: bool


class Notice(_Camel):
    """Copy for a toast (`notice`): exact text of the requirements plus a machine code."""

    KIND: ClassVar[str] = "notice"
    text: str
    code: str


class System(_Camel):
    """A line of the conversation that nobody said."""

    KIND: ClassVar[str] = "system"
    text: str
    code: str
    turn_id: str | None = None


class Cost(_Camel):
    """Tokens of this voice session so far, as the service reports them."""

    KIND: ClassVar[str] = "cost"
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    usd: float | None
    model: str


class ActivityLevel(_Camel):
    """Microphone level 0..1 at the gate, and whether audio leaves it. At most 5 a second."""

    KIND: ClassVar[str] = "activity"
    level: float
    sending: bool


class Closed(_Camel):
    """The last message of a peer; `reason` is machine-readable, `text` for a person."""

    KIND: ClassVar[str] = "closed"
    reason: str
    text: str


class Interruption(_Camel):
    """The reply of this turn was cut; `heard` is what had been played."""

    KIND: ClassVar[str] = "interrupted"
    turn_id: str
    heard: str


SERVER_DATA: tuple[type[_Camel], ...] = (
    Status, Turn, Agenda, Notice, System, Cost, ActivityLevel, Closed, Interruption,
)  # fmt: skip
RTVI_DATA: tuple[type[_Snake], ...] = (
    BotReady, UserTranscription, BotOutput, BotTranscription, BotTtsText, RtviError, ErrorResponse,
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


def encode(message: BaseModel | str, message_id: str | None = None) -> str:
    """The frame of a message; a bare string is one of PLAIN_TYPES. Optional fields are left out."""
    data: dict[str, Any]
    if isinstance(message, str):
        if message not in PLAIN_TYPES:
            raise ValueError(f"not a plain RTVI type: {message}")
        kind, data = message, {}
    else:
        data = message.model_dump(by_alias=True, exclude_none=True)
        if isinstance(message, SERVER_DATA):
            kind, data = "server-message", {"type": message.KIND, **data}
        else:
            kind = str(message.TYPE)  # type: ignore[attr-defined]
    envelope = {"label": LABEL, "type": kind, "id": message_id or uuid.uuid4().hex[:8]}
    return json.dumps({**envelope, "data": data}, ensure_ascii=False, separators=(",", ":"))


# --- client to server -------------------------------------------------------------------------


class ClientReady(_Snake):
    TYPE: ClassVar[str] = "client-ready"
    version: str = "1.0.0"
    about: dict[str, Any] = Field(default_factory=dict)


class SendText(_Snake):
    """A typed learner turn."""

    TYPE: ClassVar[str] = "send-text"
    content: Annotated[str, Field(min_length=1, max_length=2000)]


class DisconnectBot(_Snake):
    TYPE: ClassVar[str] = "disconnect-bot"


class Mic(_Camel):
    T: ClassVar[str] = "mic"
    on: bool


class StyleChoice(_Camel):
    T: ClassVar[str] = "style"
    style: Literal["socratic", "conversational", "lecture"]


class ReplySpeech(_Camel):
    T: ClassVar[str] = "reply-speech"
    on: bool


class Stop(_Camel):
    T: ClassVar[str] = "stop"


class Ping(_Camel):
    """Heartbeat of the page: while it comes the peer is not lost, muted or not."""

    T: ClassVar[str] = "ping"


class TrackStatus(_Camel):
    """A stock client (un)mutes its microphone: `{"type":"signalling","message":{…}}`."""

    T: ClassVar[str] = "trackStatus"
    receiver_index: int = Field(default=0, alias="receiver_index")
    enabled: bool


ClientMessage = (
    ClientReady | SendText | DisconnectBot | Mic | StyleChoice | ReplySpeech | Stop | Ping
    | TrackStatus
)  # fmt: skip
_RTVI_IN: dict[str, type[ClientReady | SendText | DisconnectBot]] = {
    kind.TYPE: kind for kind in (ClientReady, SendText, DisconnectBot)
}
_OWN_IN: dict[str, type[Mic | StyleChoice | ReplySpeech | Stop | Ping]] = {
    kind.T: kind for kind in (Mic, StyleChoice, ReplySpeech, Stop, Ping)
}
CLIENT_DATA: tuple[type[_Snake], ...] = (*_RTVI_IN.values(), *_OWN_IN.values(), TrackStatus)


@dataclass(frozen=True, slots=True)
class Dropped:
    """A frame that says nothing to us: `why` is `oversize`, `malformed` or `unknown`."""

    why: str


@dataclass(frozen=True, slots=True)
class Received:
    id: str
    message: ClientMessage


def decode(frame: str) -> Received | Dropped:
    """One frame of a client. Never raises; unknown types and fields are ignored politely."""
    if len(frame) > MAX_MESSAGE_BYTES or len(frame.encode()) > MAX_MESSAGE_BYTES:
        return Dropped("oversize")
    if frame.startswith("ping"):  # the stock transport's keep-alive is not JSON
        return Received("", Ping())
    try:
        envelope = json.loads(frame)
    except (ValueError, RecursionError):
        return Dropped("malformed")
    if not isinstance(envelope, dict):
        return Dropped("malformed")
    kind, data = envelope.get("type"), envelope.get("data") or {}
    message_id = str(envelope.get("id") or "")[:64]
    try:
        if kind == "signalling":
            inner = envelope.get("message")
            if isinstance(inner, dict) and inner.get("type") == TrackStatus.T:
                return Received(message_id, TrackStatus.model_validate(inner))
            return Dropped("unknown")
        if kind == "client-message" and isinstance(data, dict):
            own = _OWN_IN.get(str(data.get("t")))
            if own is None:
                return Dropped("unknown")
            return Received(message_id, own.model_validate(data.get("d") or {}))
        known = _RTVI_IN.get(str(kind))
        if known is None:
            return Dropped("unknown")
        return Received(message_id, known.model_validate(data))
    except ValidationError:
        return Dropped("malformed")

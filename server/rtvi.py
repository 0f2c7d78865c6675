"""The words of the data channel: RTVI 2.x envelopes, both directions. No I/O.

Wire: `{"label": "rtvi-ai", "type": …, "id": …, "data": …}`, UTF-8 JSON, one message a frame.
Where RTVI has no word, Pidjin's own ride as `server-message` / `client-message` (design 3.3).
The models are also the source of docs/asyncapi.json.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from server.rtvi_client import (
    CLIENT_DATA,
    OWN_IN,
    RTVI_IN,
    TYPED_CHARS,
    ClientMessage,
    ClientReady,
    DisconnectBot,
    Mic,
    Ping,
    PushToTalk,
    ReplayRequest,
    ReplySpeech,
    SendText,
    Stop,
    StyleChoice,
    ToolResult,
    TrackStatus,
)
from server.rtvi_words import (
    PLAIN_TYPES,
    PROTOCOL_VERSION,
    RTVI_DATA,
    SERVER_DATA,
    ActivityLevel,
    Agenda,
    BotOutput,
    BotReady,
    BotTranscription,
    BotTtsText,
    Closed,
    Cost,
    ErrorResponse,
    Interruption,
    LessonState,
    Metrics,
    MetricValue,
    Notice,
    RtviError,
    Status,
    System,
    ToolApproval,
    Turn,
    TurnTimes,
    UserTranscription,
)

__all__ = [
    "CLIENT_DATA",
    "FEATURES",
    "PLAIN_TYPES",
    "PROTOCOL_VERSION",
    "RTVI_DATA",
    "SERVER_DATA",
    "ActivityLevel",
    "Agenda",
    "BotOutput",
    "BotReady",
    "BotTranscription",
    "BotTtsText",
    "ClientMessage",
    "ClientReady",
    "Closed",
    "Cost",
    "DisconnectBot",
    "Dropped",
    "ErrorResponse",
    "Interruption",
    "LessonState",
    "MetricValue",
    "Metrics",
    "Mic",
    "Notice",
    "Ping",
    "PushToTalk",
    "Received",
    "ReplayRequest",
    "ReplySpeech",
    "RtviError",
    "SendText",
    "Status",
    "Stop",
    "StyleChoice",
    "System",
    "ToolApproval",
    "ToolResult",
    "TrackStatus",
    "Turn",
    "TurnTimes",
    "UserTranscription",
    "bot_ready",
    "decode",
    "encode",
]

LABEL = "rtvi-ai"
# What this server understands beyond the basics, told in `bot-ready` as `about.features`.
FEATURES = ("ptt", "replay", "stop-after-reply")
# Design 3.3: larger client messages are dropped and counted.
MAX_MESSAGE_BYTES = 64 * 1024
TOO_LONG = f"A message may have {TYPED_CHARS} characters at most."
# The transport's own word for a peer that goes on purpose: a stock client would redial otherwise.
PEER_LEFT = '{"type":"signalling","message":{"type":"peerLeft"}}'


def bot_ready() -> BotReady:
    return BotReady(about={"library": "pidjin", "features": list(FEATURES)})


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


@dataclass(frozen=True, slots=True)
class Dropped:
    """A frame that says nothing to us: `why` is `oversize`, `malformed` or `unknown`. `answer`: a
    sentence for a person whose typed words are refused, for the message `id`."""

    why: str
    id: str = field(default="", compare=False)
    answer: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Received:
    id: str
    message: ClientMessage


def decode(frame: str) -> Received | Dropped:
    """One frame of a client. Never raises; unknown types and fields are ignored politely."""
    if len(frame) > MAX_MESSAGE_BYTES or len(frame.encode(errors="replace")) > MAX_MESSAGE_BYTES:
        return Dropped("oversize")
    if frame.startswith("ping"):  # the stock transport's keep-alive is not JSON
        return Received("", Ping())
    try:
        envelope = json.loads(frame)
        if not isinstance(envelope, dict):
            return Dropped("malformed")
        # An id comes back in answers: whatever cannot be sent is left out of it.
        message_id = str(envelope.get("id") or "")[:64].encode(errors="ignore").decode()
        if _too_long(envelope):
            return Dropped("malformed", message_id, TOO_LONG)
        message = _message(envelope)
    except (ValueError, RecursionError):
        return Dropped("malformed")
    return Dropped("unknown") if message is None else Received(message_id, message)


def _too_long(envelope: dict[str, Any]) -> bool:
    """OWN-69: a typed turn beyond the limit is not cut, and not dropped without a word."""
    data = envelope.get("data")
    content = data.get("content") if isinstance(data, dict) else None
    if envelope.get("type") != SendText.TYPE or not isinstance(content, str):
        return False
    return len(content) > TYPED_CHARS


def _message(envelope: dict[str, Any]) -> ClientMessage | None:
    """None for a type that is not ours to understand. Raises ValidationError, a ValueError."""
    kind, data = envelope.get("type"), envelope.get("data") or {}
    if kind == "signalling":
        inner = envelope.get("message")
        if isinstance(inner, dict) and inner.get("type") == TrackStatus.T:
            return TrackStatus.model_validate(inner)
        return None
    if kind == "client-message" and isinstance(data, dict):
        own = OWN_IN.get(str(data.get("t")))
        return None if own is None else own.model_validate(data.get("d") or {})
    known = RTVI_IN.get(str(kind))
    return None if known is None else known.model_validate(data)

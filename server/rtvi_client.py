"""What a client may say on the data channel, as pydantic models. Data only."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from media.replay import SLOWEST
from server.rtvi_words import Camel, Snake
from server.written_text import written

# Longer typed turns are refused in words (OWN-69).
TYPED_CHARS = 2000


class ClientReady(Snake):
    TYPE: ClassVar[str] = "client-ready"
    version: str = "1.0.0"
    about: dict[str, Any] = Field(default_factory=dict)


class SendText(Snake):
    """A typed learner turn."""

    TYPE: ClassVar[str] = "send-text"
    # Taken without control characters: empty when there was nothing else.
    content: Annotated[str, Field(min_length=1, max_length=TYPED_CHARS), AfterValidator(written)]


class DisconnectBot(Snake):
    TYPE: ClassVar[str] = "disconnect-bot"


class Mic(Camel):
    T: ClassVar[str] = "mic"
    on: bool


class StyleChoice(Camel):
    T: ClassVar[str] = "style"
    style: Literal["socratic", "conversational", "lecture"]


class ReplySpeech(Camel):
    T: ClassVar[str] = "reply-speech"
    on: bool


class PushToTalk(Camel):
    """A push-to-talk key went down, or up again. Its sound passes whatever the microphone says."""

    T: ClassVar[str] = "ptt"
    down: bool


class Stop(Camel):
    """`afterReply`: not before the tutor has said what is being said; cutting in takes it back."""

    T: ClassVar[str] = "stop"
    after_reply: bool = False


class ReplayRequest(Camel):
    """One of the last replies once more, at its speed or slower, as far as it was heard."""

    T: ClassVar[str] = "replay"
    turn_id: Annotated[str, Field(min_length=1, max_length=64)]
    rate: Annotated[float, Field(ge=SLOWEST, le=1.0)] = 1.0


class ToolResult(Camel):
    """The verdict on a `tool-approval`, and what the page brought back by running the tool."""

    T: ClassVar[str] = "tool_result"
    tool_call_id: Annotated[str, Field(min_length=1, max_length=128)]
    status: Literal["approved", "rejected"]
    result: Any = None


class Ping(Camel):
    """Heartbeat of the page: while it comes the peer is not lost, muted or not."""

    T: ClassVar[str] = "ping"


class TrackStatus(Camel):
    """A stock client (un)mutes its microphone: `{"type":"signalling","message":{…}}`."""

    T: ClassVar[str] = "trackStatus"
    receiver_index: int = Field(default=0, alias="receiver_index")
    enabled: bool


ClientMessage = (
    ClientReady | SendText | DisconnectBot | Mic | PushToTalk | StyleChoice | ReplySpeech | Stop
    | ReplayRequest | ToolResult | Ping | TrackStatus
)  # fmt: skip
RTVI_IN: dict[str, type[ClientReady | SendText | DisconnectBot]] = {
    kind.TYPE: kind for kind in (ClientReady, SendText, DisconnectBot)
}
_OWN = (Mic, PushToTalk, StyleChoice, ReplySpeech, Stop, ReplayRequest, ToolResult, Ping)
OWN_IN: dict[
    str,
    type[Mic | PushToTalk | StyleChoice | ReplySpeech | Stop | ReplayRequest | ToolResult | Ping],
] = {kind.T: kind for kind in _OWN}
CLIENT_DATA: tuple[type[Snake], ...] = (*RTVI_IN.values(), *OWN_IN.values(), TrackStatus)

"""What the lesson asks of a Live (speech-to-speech) service, and what it hears back. No I/O.

The only module that other code imports to talk about Live: adapters (`gemini.py`) translate a
wire to these events, `link.py` keeps one session alive behind them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

# PCM16 little-endian mono both ways (GENAI facts: 16 kHz native up, 24 kHz down).
RATE_UP = 16_000
RATE_DOWN = 24_000


@dataclass(frozen=True, slots=True)
class Seed:
    """One past turn that a fresh session is seeded with; `role` is `user` or `model`."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A function that the model may call; every parameter is a required text (name, meaning)."""

    name: str
    description: str
    parameters: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class LiveSetup:
    """Everything a session is opened with. Durations in ms; enums are the proto strings.

    `resumption` False leaves session resumption out of the setup altogether (after a 1008);
    `output_transcription` False does without the words of what is said (DATA-42).
    """

    model: str
    instruction: str
    vad_enabled: bool = True
    silence_ms: int = 1500
    prefix_ms: int = 300
    start_sensitivity: str = "START_SENSITIVITY_HIGH"
    end_sensitivity: str = "END_SENSITIVITY_HIGH"
    voice_name: str = ""
    thinking_level: str | None = None
    seeds: tuple[Seed, ...] = ()
    handle: str | None = None
    resumption: bool = True
    tools: tuple[ToolSpec, ...] = ()
    output_transcription: bool = True


class Interaction(Enum):
    """`interactionStatus` of a completed turn; absent counts as idle (VOICE-23)."""

    IDLE = "IDLE"
    IN_PROGRESS = "IN_PROGRESS"


# --- events, in the order a bundled message is processed (VOICE-24) ---------------------------


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The service dropped its reply. Handled before audio of the same message (GENAI #21)."""


@dataclass(frozen=True, slots=True)
class ReplyAudio:
    """A piece of the reply: PCM16 mono at `rate` Hz, any length, delivered faster than heard."""

    pcm: bytes
    rate: int = RATE_DOWN


@dataclass(frozen=True, slots=True)
class ReplyText:
    """A delta of what the reply says (output transcription): concatenate, spaces included."""

    text: str


@dataclass(frozen=True, slots=True)
class PlainText:
    """A non-thought text part in an audio session: words without sound (GENAI #17)."""

    text: str


@dataclass(frozen=True, slots=True)
class LearnerText:
    """Input transcription. `interim` replaces the previous interim; otherwise a delta."""

    text: str
    finished: bool = False
    interim: bool = False


@dataclass(frozen=True, slots=True)
class Activity:
    """The service's own voice activity signal; `offset_ms` into the input audio."""

    started: bool
    offset_ms: int = 0


@dataclass(frozen=True, slots=True)
class GenerationComplete:
    """All audio of the reply has been sent (not: heard)."""


@dataclass(frozen=True, slots=True)
class TurnComplete:
    """The service's turn is over; only `IDLE` ends the exchange."""

    interaction: Interaction = Interaction.IDLE
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ToolCall:
    call_id: str
    name: str
    args: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolCancelled:
    call_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one usage message, total and by modality (`AUDIO`, `TEXT`, …)."""

    prompt: int = 0
    response: int = 0
    thoughts: int = 0
    cached: int = 0
    total: int = 0
    prompt_by_modality: dict[str, int] = field(default_factory=dict)
    response_by_modality: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Handle:
    """A resumption handle; only kept while `resumable` and non-empty."""

    value: str
    resumable: bool


@dataclass(frozen=True, slots=True)
class GoAway:
    """The service will close this connection in `time_left_s` seconds."""

    time_left_s: float


@dataclass(frozen=True, slots=True)
class Unknown:
    """Top-level or content keys that nobody knows: counted, never fatal."""

    keys: tuple[str, ...]


LiveEvent = (
    Interrupted
    | ReplyAudio
    | ReplyText
    | PlainText
    | LearnerText
    | Activity
    | GenerationComplete
    | TurnComplete
    | ToolCall
    | ToolCancelled
    | Usage
    | Handle
    | GoAway
    | Unknown
)


class LiveClosed(Exception):
    """The session ended. `by` is `peer`, `local` or `tcp`; `code` a close code (1006: no frame)."""

    def __init__(self, code: int, reason: str, by: str) -> None:
        super().__init__(f"{code} {reason} ({by})")
        self.code, self.reason, self.by = code, reason, by


class LiveRefused(Exception):
    """A session could not be opened. `code`: close code or HTTP status; 0 for a network error."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"{code} {reason}")
        self.code, self.reason = code, reason


class LiveSession(Protocol):
    """One open session. One task sends, one task receives (the owner is `LiveLink`)."""

    async def send_audio(self, pcm: bytes) -> None:
        """Microphone audio, PCM16 mono 16 kHz. Raises LiveClosed."""

    async def send_silence_end(self) -> None:
        """`audioStreamEnd`: the microphone pauses (automatic activity detection only)."""

    async def send_activity(self, started: bool) -> None:
        """`activityStart` / `activityEnd` (manual activity only)."""

    async def send_prompt(self, text: str) -> None:
        """A typed learner turn that must be answered (`turnComplete: true`)."""

    async def send_realtime_text(self, text: str) -> None:
        """Realtime text input, whatever the model: how an exact read is asked for (VOICE-34)."""

    async def send_context(self, text: str) -> None:
        """Silent context (`turnComplete: false`); an empty text sends nothing."""

    async def send_tool_response(
        self, call_id: str, name: str, response: dict[str, object]
    ) -> None:
        """Answers one tool call."""

    async def receive(self) -> tuple[LiveEvent, ...]:
        """Events of the next message, in processing order. Raises LiveClosed; cancel-safe."""

    async def close(self) -> None:
        """Idempotent, bounded to 1 s."""


class LiveConnector(Protocol):
    async def connect(self, setup: LiveSetup) -> LiveSession:
        """Opens a session and waits for `setupComplete` (10 s). Raises LiveRefused."""

"""What the wire asks of whatever hears, thinks and speaks behind it. No I/O, no wire.

Everything here is called in worker threads unless it says otherwise: it may block, it may not touch
an event loop. PCM is 16 bit little-endian mono; 16 kHz when heard, 24 kHz when spoken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

RATE_HEARD = 16_000
RATE_SPOKEN = 24_000


@dataclass(frozen=True, slots=True)
class Activity:
    """Speech began or ended, `offset_ms` into the audio of the session."""

    started: bool
    offset_ms: int


@dataclass(frozen=True, slots=True)
class Generated:
    """The answer to one `generateContent`: a text, or function calls `{"name", "args"}`, or both.

    `grounding` is a `groundingMetadata` object in wire casing, or None.
    """

    text: str | None = None
    function_calls: list[dict[str, Any]] = field(default_factory=list)
    finish_reason: str = "STOP"
    grounding: dict[str, Any] | None = None


class Recogniser(Protocol):
    def transcribe(self, pcm16k: bytes) -> str:
        """The words of one utterance; empty when there are none (noise)."""


class Voice(Protocol):
    def speak(self, text: str) -> bytes:
        """PCM16 24 kHz mono of one sentence."""


class Embedder(Protocol):
    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, in order, all of one length."""


class EndPointer(Protocol):
    """Finds utterances by counting samples, never by the clock. Called on the event loop."""

    def feed(self, pcm16k: bytes) -> list[Activity]:
        """Takes audio of any length; returns what it found in it, in order."""

    def utterance(self) -> bytes:
        """Audio of the current utterance, or of the last one, pre-roll included."""

    def reset(self) -> None:
        """Forgets the current utterance; offsets go on counting."""


@runtime_checkable
class Pausing(Protocol):
    """An end-pointer that also tells how long the learner has paused, so that recognition of a
    long silence hold can start before the hold is over. Optional."""

    def quiet_ms(self) -> int:
        """Silence since the last speech of the current utterance; 0 in speech or outside one."""


class Mind(Protocol):
    """The tutor of one Live session. Calls come one at a time, in order."""

    def answer(self, learner: str) -> list[str]:
        """Sentences to be spoken, in order; never empty for words."""

    def note(self, text: str) -> None:
        """Silent context (`[TUTOR STATE UPDATE] …`): steers the next answer."""

    def heard(self, text: str, interrupted: bool) -> None:
        """What of the last answer was really played."""

    def seed(self, role: str, text: str) -> None:
        """A past turn; `role` is `user` or `model`."""


class Brain(Protocol):
    def mind(self, instruction: str) -> Mind:
        """A tutor for a new Live session."""

    def generate(self, model: str, request: Mapping[str, Any]) -> Generated:
        """Answers a `generateContent` body (camelCase keys; user-defined objects untouched)."""


@dataclass
class Engine:
    """`end_pointer(silence_ms, prefix_ms)` makes one per session. `threads=False` calls everything
    on the event loop: only for engines that answer at once."""

    recogniser: Recogniser
    voice: Voice
    embedder: Embedder
    brain: Brain
    end_pointer: Callable[[int, int], EndPointer]
    threads: bool = True

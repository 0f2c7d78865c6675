"""One Live model under test: opens sessions through the product's own adapter, and listens.

A `Line` is one open session. Its `Answer` is everything that came while it was listened to.
"""

from __future__ import annotations

import array
import asyncio
import math
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar

from media.live.capabilities import Capabilities, capabilities_of
from media.live.gemini import GeminiConnector
from media.live.port import (
    RATE_UP,
    GenerationComplete,
    Handle,
    Interaction,
    LearnerText,
    LiveClosed,
    LiveEvent,
    LiveSession,
    LiveSetup,
    PlainText,
    ReplyAudio,
    ReplyText,
    TurnComplete,
    Usage,
)

MESSAGE_MS = 40
# Below -56 dBFS nobody hears anything.
AUDIBLE_RMS = 50.0
SILENCE_MS = 500

E = TypeVar("E", bound=LiveEvent)


@dataclass(frozen=True, slots=True)
class Patience:
    """Deadlines in seconds. `quiet_s`: how long no reply must come; `answer_s`: by when one must
    have come whole; `grace_s`: for what may follow a turn; `pace` divides the time of sent audio.
    """

    quiet_s: float = 5.0
    answer_s: float = 60.0
    grace_s: float = 2.0
    pace: float = 1.0


@dataclass
class Answer:
    """What was heard, in order. `closed` is how the session ended meanwhile, if it did."""

    events: list[LiveEvent] = field(default_factory=list)
    closed: LiveClosed | None = None

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def words(self) -> str:
        return "".join(event.text for event in self.of(ReplyText))

    @property
    def learner(self) -> str:
        return "".join(event.text for event in self.of(LearnerText) if not event.interim)

    @property
    def complete(self) -> bool:
        return any(turn.interaction is Interaction.IDLE for turn in self.of(TurnComplete))

    @property
    def spoke(self) -> bool:
        """Whether the model said or finished anything."""
        kinds = (ReplyAudio, ReplyText, PlainText, GenerationComplete, TurnComplete)
        return any(isinstance(event, kinds) for event in self.events)

    @property
    def loudness(self) -> float:
        """RMS of all reply audio, in PCM16 steps."""
        samples = array.array("h", b"".join(event.pcm for event in self.of(ReplyAudio)))
        return math.sqrt(sum(x * x for x in samples) / len(samples)) if samples else 0.0

    def mentions(self, name: str) -> bool:
        return name.casefold() in self.words.casefold()

    @property
    def gist(self) -> str:
        """For a reason: the beginning of what was said, or why nothing was."""
        if self.words:
            return repr(self.words[:80] + ("…" if len(self.words) > 80 else ""))
        if self.closed is not None:
            return f"the session closed: {self.closed}"
        return "nothing was said" if not self.of(PlainText) else "text without sound"


class Line:
    def __init__(self, session: LiveSession, patience: Patience) -> None:
        self.session = session
        self._patience = patience
        self.handle = ""

    async def ask(self, text: str) -> Answer:
        """A typed turn and its whole answer, or what came of it in time. Raises LiveClosed."""
        await self.session.send_prompt(text)
        return await self.answer()

    async def answer(self) -> Answer:
        """The rest of a turn, with what may follow it."""
        answer = await self.listen(lambda heard: heard.complete, self._patience.answer_s)
        if answer.complete:
            tail = await self.listen(lambda heard: bool(heard.of(Usage)), self._tail_s(answer))
            answer.events += tail.events
            answer.closed = tail.closed
        return answer

    def _tail_s(self, answer: Answer) -> float:
        """A resumption handle may follow usage; usage may follow the turn."""
        return self._patience.grace_s / (4 if answer.of(Usage) else 1)

    async def listen(self, enough: Callable[[Answer], bool], within_s: float) -> Answer:
        """What comes until it is enough, the time is over, or the session is."""
        answer = Answer()
        try:
            async with asyncio.timeout(within_s):
                while not enough(answer):
                    events = await self.session.receive()
                    answer.events += events
                    for event in events:
                        if isinstance(event, Handle) and event.resumable and event.value:
                            self.handle = event.value
        except TimeoutError:
            return answer
        except LiveClosed as closed:
            answer.closed = closed
        return answer

    async def quiet(self) -> Answer:
        """Listens whether the model stays silent."""
        return await self.listen(lambda heard: heard.spoke, self._patience.quiet_s)

    async def speak(self, pcm16k: bytes) -> None:
        """Audio as a microphone gives it: in real time. Raises LiveClosed."""
        size = RATE_UP * 2 * MESSAGE_MS // 1000
        for start in range(0, len(pcm16k), size):
            await self.session.send_audio(pcm16k[start : start + size])
            await asyncio.sleep(MESSAGE_MS / 1000 / self._patience.pace)


@dataclass
class Bench:
    """`speech` is a learner's question, PCM16 mono 16 kHz, if there is any to send."""

    model: str
    api_key: Callable[[], str]
    base_url: str | None = None
    ssl_context: ssl.SSLContext | None = None
    patience: Patience = Patience()
    speech: bytes | None = None
    statuses: int = 0

    @property
    def row(self) -> Capabilities:
        return capabilities_of(self.model)

    @asynccontextmanager
    async def line(
        self, instruction: str, *, row: Capabilities | None = None, **setup: object
    ) -> AsyncIterator[Line]:
        """A session as the product opens it, closed at the end. Raises LiveRefused."""
        connector = GeminiConnector(
            api_key=self.api_key,
            base_url=self.base_url,
            ssl_context=self.ssl_context,
            row=row,
            watch=self._watch,
        )
        plain = LiveSetup(model=self.model, instruction=instruction, silence_ms=SILENCE_MS)
        session = await connector.connect(replace(plain, **setup))  # type: ignore[arg-type]
        try:
            yield Line(session, self.patience)
        finally:
            await session.close()

    def _watch(self, frame: str | bytes) -> None:
        """Counts statuses: parsed, an absent one looks like IDLE (VOICE-23)."""
        data = frame.encode() if isinstance(frame, str) else frame
        self.statuses += b"interactionStatus" in data

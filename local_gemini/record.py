"""What really happened, for tests and logs to ask: sessions and REST calls, bounded. No I/O."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from local_gemini.wire import Json

T = TypeVar("T")

# A double that runs for days forgets its oldest sessions, requests and lines first.
MAX_SESSIONS = 256
MAX_REQUESTS = 1000
MAX_LINES = 1000


@dataclass(slots=True)
class ReplyRecord:
    """One answer: its text, how much of it was sent and played, how it ended."""

    learner: str
    text: str = ""
    sent_ms: int = 0
    played_ms: int = 0
    heard: str = ""
    interrupted: bool = False
    complete: bool = False


@dataclass(slots=True)
class SessionRecord:
    """One Live connection. `closed_by` is `server`, `client` or `tcp` once it is over."""

    number: int
    path: str
    key: str = field(repr=False)
    constrained: bool
    session_id: str = ""
    setup: Json = field(default_factory=dict)
    setup_frame: Json = field(default_factory=dict)
    resumed: bool = False
    ready: bool = False
    audio_bytes: int = 0
    audio_messages: int = 0
    images: int = 0
    stream_ends: int = 0
    contexts: list[str] = field(default_factory=list)
    seeds: list[tuple[str, str]] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    transcripts: list[str] = field(default_factory=list)
    activities: list[str] = field(default_factory=list)
    replies: list[ReplyRecord] = field(default_factory=list)
    tool_responses: list[Json] = field(default_factory=list)
    handles: list[str] = field(default_factory=list)
    usage: list[Json] = field(default_factory=list)
    noise: int = 0
    close_code: int | None = None
    close_reason: str = ""
    closed_by: str = ""

    @property
    def open(self) -> bool:
        return self.close_code is None

    def ended(self, code: int, reason: str, by: str) -> None:
        """The first account of the end stands."""
        if self.close_code is None:
            self.close_code, self.close_reason, self.closed_by = code, reason, by


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """One REST call; media in the body is shortened to its length."""

    method: str
    model: str
    body: Json
    status: int


class Journal:
    """Everything recorded, and a way to wait for it without polling. With `keep` false nothing is
    remembered beyond its own connection: learners talk to this server."""

    def __init__(self, keep: bool = True) -> None:
        self._keep = keep
        self.sessions: list[SessionRecord] = []
        self.requests: list[RequestRecord] = []
        self._connections = 0
        self._changed = asyncio.Event()

    def connection(self, path: str, key: str, constrained: bool) -> SessionRecord:
        self._connections += 1
        record = SessionRecord(self._connections, path, key, constrained)
        if self._keep:
            self.sessions.append(record)
        del self.sessions[:-MAX_SESSIONS]
        self.touch()
        return record

    def request(self, record: RequestRecord) -> None:
        if self._keep:
            self.requests.append(record)
        del self.requests[:-MAX_REQUESTS]
        self.touch()

    def touch(self) -> None:
        """Something was recorded: whoever waits looks again."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def until(self, seen: Callable[[], object], deadline_s: float) -> None:
        """Waits until `seen()` is true. Raises TimeoutError."""
        async with asyncio.timeout(deadline_s):
            while not seen():
                await self._changed.wait()


def keep(lines: list[T], line: T) -> None:
    """Appends and forgets the oldest beyond MAX_LINES."""
    lines.append(line)
    del lines[:-MAX_LINES]

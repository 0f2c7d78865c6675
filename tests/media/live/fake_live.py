"""A scripted Live service in memory, and a link on it: what was done, when, in one trace."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from media.live.link import LinkEvent, LinkLimits, LiveLink
from media.live.port import (
    GenerationComplete,
    LiveClosed,
    LiveEvent,
    LiveRefused,
    LiveSetup,
    ReplyAudio,
    Seed,
    TurnComplete,
)

MODEL = "gemini-3.8-live"


@dataclass
class Trace:
    """(loop time, what, detail) of everything that reached the service."""

    rows: list[tuple[float, str, object]] = field(default_factory=list)

    def add(self, what: str, detail: object = None) -> None:
        self.rows.append((asyncio.get_running_loop().time(), what, detail))

    def words(self, *kinds: str) -> list[str]:
        return [what for _, what, _ in self.rows if not kinds or what in kinds]

    def times(self, kind: str) -> list[float]:
        return [at for at, what, _ in self.rows if what == kind]


class FakeSession:
    def __init__(self, trace: Trace, number: int) -> None:
        self.number = number
        self.sound = bytearray()
        self.sent: list[tuple[str, object]] = []
        self.closed = False
        self.stuck = False
        self.deaf_to_cancel = False
        self._trace = trace
        self._frames: asyncio.Queue[tuple[LiveEvent, ...] | LiveClosed] = asyncio.Queue()
        self._gone: LiveClosed | None = None

    def say(self, *events: LiveEvent) -> None:
        self._frames.put_nowait(events)

    def drop(self, code: int = 1006, reason: str = "") -> None:
        self._gone = LiveClosed(code, reason, "peer")
        self._frames.put_nowait(self._gone)

    async def _send(self, kind: str, detail: object) -> None:
        if self.stuck:
            await asyncio.Event().wait()
        if self.closed or self._gone:
            raise self._gone or LiveClosed(1000, "", "local")
        self.sent.append((kind, detail))
        self._trace.add(kind, detail)

    async def send_audio(self, pcm: bytes) -> None:
        await self._send("audio", pcm)
        self.sound += pcm

    async def send_silence_end(self) -> None:
        await self._send("silence_end", None)

    async def send_activity(self, started: bool) -> None:
        await self._send("activity", started)

    async def send_prompt(self, text: str) -> None:
        await self._send("prompt", text)

    async def send_realtime_text(self, text: str) -> None:
        await self._send("realtime_text", text)

    async def send_context(self, text: str) -> None:
        await self._send("context", text)

    async def send_tool_response(
        self, call_id: str, name: str, response: dict[str, object]
    ) -> None:
        await self._send("tool_response", (call_id, name, response))

    async def receive(self) -> tuple[LiveEvent, ...]:
        while True:
            try:
                frame = await self._frames.get()
                break
            except asyncio.CancelledError:
                if not self.deaf_to_cancel:
                    raise
        if isinstance(frame, LiveClosed):
            raise frame
        return frame

    async def close(self) -> None:
        if not self.closed:
            self.closed = True
            self._trace.add("close", self.number)
            self._frames.put_nowait(LiveClosed(1000, "", "local"))

    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.sent]


class FakeConnector:
    """`script`: per connection None (accept), a LiveRefused, "hang" or "deaf" (until `release`).

    After the script every connection is accepted.
    """

    def __init__(self, script: Sequence[LiveRefused | str | None] = ()) -> None:
        self.trace = Trace()
        self.setups: list[LiveSetup] = []
        self.sessions: list[FakeSession] = []
        self.accepted: list[bool] = []
        self.release = asyncio.Event()
        self._script = list(script)

    async def connect(self, setup: LiveSetup) -> FakeSession:
        self.trace.add("connect", setup.handle)
        self.setups.append(setup)
        step = self._script.pop(0) if self._script else None
        self.accepted.append(step is None)
        if isinstance(step, LiveRefused):
            raise step
        if step == "hang":
            await asyncio.Event().wait()
        while step == "deaf" and not self.release.is_set():
            try:
                await self.release.wait()
            except asyncio.CancelledError:
                self.trace.add("cancel ignored")
        session = FakeSession(self.trace, len(self.sessions))
        self.sessions.append(session)
        return session


@dataclass
class Bench:
    link: LiveLink
    connector: FakeConnector
    heard: list[LiveEvent | LinkEvent]
    run: asyncio.Task[None]
    quiet: bool = True

    @property
    def session(self) -> FakeSession:
        return self.connector.sessions[-1]

    async def settle(self, seconds: float = 0.001) -> None:
        """Lets everything that is ready happen; the clock is virtual."""
        await asyncio.sleep(seconds)

    def of(self, kind: type) -> list[LiveEvent | LinkEvent]:
        return [event for event in self.heard if isinstance(event, kind)]


@asynccontextmanager
async def linked(
    script: Sequence[LiveRefused | str | None] = (),
    *,
    model: str = MODEL,
    compose: Callable[[], LiveSetup] | None = None,
    limits: LinkLimits | None = None,
) -> AsyncIterator[Bench]:
    """A running link with jitter fixed to the nominal delays; closed at the end."""
    connector = FakeConnector(script)
    heard: list[LiveEvent | LinkEvent] = []

    async def composed() -> LiveSetup:
        connector.trace.add("compose")
        if compose:
            return compose()
        return LiveSetup(model=model, instruction="i", seeds=(Seed("user", "so far"),))

    bench: Bench
    link = LiveLink(
        connector,
        composed,
        heard.append,
        quiet=lambda: bench.quiet,
        limits=limits or LinkLimits(),
        jitter=lambda: 0.5,
    )
    bench = Bench(link, connector, heard, asyncio.create_task(link.run()))
    try:
        await bench.settle()
        yield bench
    finally:
        await link.close()
        await asyncio.wait({bench.run}, timeout=2)
    if bench.run.done():
        bench.run.result()


def pcm(samples: int, start: int = 0) -> bytes:
    """A counting ramp: every sample tells its own number (modulo 2**15)."""
    return b"".join(((start + i) % 32768).to_bytes(2, "little") for i in range(samples))


async def a_turn(bench: Bench) -> None:
    """One reply, from its first sound to the end of the turn."""
    bench.session.say(ReplyAudio(pcm(10)), GenerationComplete())
    bench.session.say(TurnComplete())
    await bench.settle()

"""A Live link on the real adapter and LocalGemini: a lesson's worth of wire, faults included."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from local_gemini.script import Script
from local_gemini.scripted import ScriptedEngine, tone
from local_gemini.server import LocalGemini
from media.live.gemini import GeminiConnector
from media.live.link import LinkEvent, LiveLink
from media.live.port import LiveEvent, LiveSetup, Seed, ToolSpec, TurnComplete

UNTIL_S = 10.0
SPEECH = tone(600, rate=16_000) + bytes(2 * 16 * 400)  # 0.6 s of voice, 0.4 s of silence


@dataclass
class Lesson:
    service: LocalGemini
    link: LiveLink
    heard: list[LiveEvent | LinkEvent] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    also: Callable[[LiveEvent | LinkEvent], None] = lambda event: None

    def hear(self, event: LiveEvent | LinkEvent) -> None:
        self.heard.append(event)
        self.also(event)
        self.changed.set()

    def of(self, kind: type) -> list[LiveEvent | LinkEvent]:
        return [event for event in self.heard if isinstance(event, kind)]

    async def until(self, seen: Callable[[], object]) -> None:
        async with asyncio.timeout(UNTIL_S):
            while not seen():
                self.changed.clear()
                await self.changed.wait()

    async def turn(self) -> None:
        """Says something and waits for the end of the answer."""
        turns = len(self.of(TurnComplete))
        for start in range(0, len(SPEECH), 6400):
            self.link.audio(SPEECH[start : start + 6400])
            await asyncio.sleep(0)
        await self.until(lambda: len(self.of(TurnComplete)) > turns)


@asynccontextmanager
async def lesson(
    script: Script | None = None,
    *,
    vad: bool = True,
    model: str = "gemini-3.8-live",
    tools: tuple[ToolSpec, ...] = (),
    replies: Sequence[Sequence[str]] = (("One.", "Two."),),
    quiet: Callable[[], bool] = lambda: True,
) -> AsyncIterator[Lesson]:
    engine = ScriptedEngine(replies=[list(reply) for reply in replies])
    async with LocalGemini(engine, script, 20.0) as service:

        async def compose() -> LiveSetup:
            return LiveSetup(
                model=model,
                instruction="Teach.",
                vad_enabled=vad,
                silence_ms=200,
                tools=tools,
                seeds=(Seed("user", "earlier"), Seed("model", "indeed")),
            )

        connector = GeminiConnector(
            api_key=lambda: "key", base_url=service.base_url, ssl_context=service.ssl_context
        )
        here: Lesson
        link = LiveLink(
            connector,
            compose,
            lambda event: here.hear(event),
            quiet=quiet,
            jitter=lambda: 0.0,
        )
        here = Lesson(service, link)
        async with asyncio.TaskGroup() as group:
            group.create_task(link.run())
            try:
                yield here
            finally:
                await link.close()

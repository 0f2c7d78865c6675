"""Adapter and link together against LocalGemini: a lesson's worth of wire, faults included."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from local_gemini.faults import close, go_away, refuse
from local_gemini.script import Script
from local_gemini.scripted import ScriptedEngine, tone
from local_gemini.server import LocalGemini
from media.live.gemini import GeminiConnector
from media.live.link import LinkDown, LinkEvent, LinkFailed, LinkUp, LiveLink
from media.live.port import (
    Handle,
    LearnerText,
    LiveEvent,
    LiveSetup,
    ReplyAudio,
    ReplyText,
    Seed,
    TurnComplete,
    Usage,
)

UNTIL_S = 10.0
SPEECH = tone(600, rate=16_000) + bytes(2 * 16 * 400)  # 0.6 s of voice, 0.4 s of silence


@dataclass
class Lesson:
    service: LocalGemini
    link: LiveLink
    heard: list[LiveEvent | LinkEvent] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def hear(self, event: LiveEvent | LinkEvent) -> None:
        self.heard.append(event)
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
async def lesson(script: Script | None = None, *, vad: bool = True) -> AsyncIterator[Lesson]:
    async with LocalGemini(ScriptedEngine(replies=[["One.", "Two."]]), script, 20.0) as service:

        async def compose() -> LiveSetup:
            return LiveSetup(
                model="gemini-3.8-live",
                instruction="Teach.",
                vad_enabled=vad,
                silence_ms=200,
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
            quiet=lambda: True,
            jitter=lambda: 0.0,
        )
        here = Lesson(service, link)
        async with asyncio.TaskGroup() as group:
            group.create_task(link.run())
            try:
                yield here
            finally:
                await link.close()


@pytest.mark.req("VOICE-50", "VOICE-60", "VOICE-61", "VOICE-16", "RTC-23")
async def test_three_turns_over_the_real_wire() -> None:  # T1
    async with lesson() as here:
        for _ in range(3):
            await here.turn()
        (session,) = here.service.sessions
        assert session.seeds == [("user", "earlier"), ("model", "indeed")]
        assert len(session.replies) == 3
        assert all(reply.complete for reply in session.replies)
        assert session.audio_bytes == 3 * len(SPEECH)
        assert session.audio_messages == 3 * 25
        words = "".join(e.text for e in here.of(ReplyText) if isinstance(e, ReplyText))
        assert words.count("One.") == 3
        assert any(isinstance(e, LearnerText) and e.finished for e in here.heard)
        assert here.of(ReplyAudio)
        assert here.of(Usage)
        assert here.of(LinkUp) == [LinkUp(True, model="gemini-3.8-live")]
    assert session.closed_by == "client"
    assert session.close_code == 1000


async def test_manual_activity_brackets_a_turn() -> None:
    async with lesson(vad=False) as here:
        here.link.activity(True)
        here.link.audio(SPEECH[:19_200])
        here.link.activity(False)
        await here.until(lambda: here.of(TurnComplete))
        (session,) = here.service.sessions
        assert session.activities == ["ACTIVITY_START", "ACTIVITY_END"]
        assert session.audio_bytes == 19_200


@pytest.mark.req("OBS-19", "OBS-20", "VOICE-64")
async def test_an_update_is_silent_and_a_typed_turn_is_answered() -> None:
    async with lesson() as here:
        await here.until(lambda: here.of(LinkUp))
        here.link.context("[TUTOR STATE UPDATE]\nNote: be brief")
        (session,) = here.service.sessions
        await here.service.until(lambda: session.contexts)
        assert session.replies == []
        here.link.prompt("And why?")
        await here.until(lambda: here.of(TurnComplete))
        assert session.prompts == ["And why?"]
        assert [reply.learner for reply in session.replies] == ["And why?"]


@pytest.mark.req("VOICE-21")
async def test_a_goaway_is_handed_over_with_the_handle() -> None:  # T9
    async with lesson(Script().on("turn_complete", go_away(50.0), n=1, session=1)) as here:
        await here.turn()
        await here.until(lambda: len(here.of(LinkUp)) == 2)
        first, second = here.service.sessions
        assert first.closed_by == "client"
        assert second.resumed
        assert second.seeds == []
        await here.turn()
        assert first.audio_bytes + second.audio_bytes == 2 * len(SPEECH)
        assert here.link.stats.reseeds == 0


@pytest.mark.req("VOICE-4")
async def test_a_dropped_session_is_resumed() -> None:
    async with lesson(Script().on("turn", close(1011, "internal"), n=2, session=1)) as here:
        await here.turn()
        here.link.prompt("again")
        await here.until(lambda: len(here.of(LinkUp)) == 2)
        first, second = here.service.sessions
        assert second.resumed
        assert second.setup["sessionResumption"]["handle"] in first.handles
        assert here.of(LinkDown) == [LinkDown("1011 internal")]


async def test_a_refused_handle_is_followed_by_a_seeded_session() -> None:  # T11
    script = Script()
    script.on("turn", close(1011, "internal"), n=2, session=1)
    script.on("resume", close(1007, "Invalid session handle"))
    async with lesson(script) as here:
        await here.turn()
        here.link.prompt("again")
        await here.until(lambda: len(here.of(LinkUp)) == 2)
        assert len(here.service.sessions) == 3
        fresh = here.service.sessions[2]
        await here.service.until(lambda: len(fresh.seeds) == 2)
        assert not fresh.resumed
        assert here.of(LinkUp)[1] == LinkUp(False, reseeded=True, model="gemini-3.8-live")
        assert fresh.replies == []


async def test_a_refused_upgrade_ends_the_link_with_its_reason() -> None:
    async with lesson(Script().on("connect", refuse(429))) as here:
        await here.until(lambda: here.of(LinkFailed))
        (failed,) = here.of(LinkFailed)
        assert isinstance(failed, LinkFailed)
        assert failed.code == "quota"
        assert not here.link.up


async def test_sleep_closes_the_socket_and_speech_resumes_the_session() -> None:
    async with lesson() as here:
        await here.turn()
        await here.until(lambda: here.of(Handle))
        here.link.sleep()
        await here.until(lambda: here.link.asleep)
        await here.turn()
        first, second = here.service.sessions
        assert first.close_code == 1000
        assert second.resumed
        assert second.audio_bytes == len(SPEECH)
        assert here.link.stats.sleeps == 1

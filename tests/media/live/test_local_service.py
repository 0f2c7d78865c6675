"""Adapter and link together against LocalGemini: a lesson's worth of wire, faults included."""

from __future__ import annotations

import pytest

from local_gemini.faults import close, go_away, refuse
from local_gemini.script import Script
from media.live.link import LinkDown, LinkFailed, LinkUp
from media.live.port import (
    Handle,
    LearnerText,
    ReplyAudio,
    ReplyText,
    TurnComplete,
    Usage,
)
from tests.media.live.local_lesson import SPEECH, lesson


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
    async with lesson(Script().on("turn_complete", go_away(400.0), n=1, session=1)) as here:
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

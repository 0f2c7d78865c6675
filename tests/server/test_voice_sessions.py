"""Handles of running lessons in the store: who may go on with what, until when."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from media.modes.voice_mode import VoiceMode
from server import rtvi
from server.clock import FakeClock, stamp
from server.handle_keeper import HandleKeeper
from server.lesson_plan import LessonPlan
from server.store.port import StoreDown
from server.store.records import voice_session_path
from server.store.sqlite import SqliteStore
from server.voice_sessions import HANDLE_TTL, VoiceSessions

HALF_HOUR = timedelta(minutes=30)


def _plan(clock: FakeClock) -> LessonPlan:
    return LessonPlan(
        session_id="s1",
        topic_id="t1",
        uid="ada",
        credential_id="c1",
        minutes=30,
        vad_enabled=True,
        silence_ms=500,
        agenda=rtvi.Agenda(agenda=[], covered_angles=[], complete=False),
        topic="Bees",
        started_at=clock.now(),
        model="gemini-3.8-live",
    )


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(tmp_path / "test.sqlite3")
    yield store
    await store.close()


@pytest.mark.req("VOICE-4", "VOICE-65")
async def test_the_same_person_goes_on_and_nobody_else(store: SqliteStore) -> None:
    clock = FakeClock()
    sessions, plan = VoiceSessions(store, clock), _plan(clock)
    assert await sessions.resumption(plan) is None
    await sessions.place(plan, clock.now() + HALF_HOUR).keep("h1")
    clock.advance(minutes=3)
    left = await sessions.resumption(plan)
    assert left is not None
    assert left.handle == "h1"
    assert left.ends_at - clock.now() == timedelta(minutes=27)
    for other in (
        replace(plan, uid="bob"),
        replace(plan, topic_id="t2"),
        replace(plan, model="gemini-3.8-live-extended-thinking"),
        replace(plan, mode=VoiceMode.AGENT_VOICED),
        replace(plan, voice="Kore"),
        replace(plan, style="lecture"),
        replace(plan, session_id="s2"),
    ):
        assert await sessions.resumption(other) is None


@pytest.mark.req("VOICE-4", "VOICE-65", "VOICE-54")
async def test_a_handle_is_of_the_style_its_session_was_composed_in(store: SqliteStore) -> None:
    """The learner chose another style on the way: the newest session speaks in it."""
    clock = FakeClock()
    sessions, plan = VoiceSessions(store, clock), _plan(clock)
    place = sessions.place(replace(plan, voice="Kore", style="socratic"), clock.now() + HALF_HOUR)
    place.composed(voice="Kore", style="lecture")
    await place.keep("h1")
    for voice, style, fits in (
        ("Kore", "lecture", True),
        ("Kore", "socratic", False),
        ("Puck", "lecture", False),
    ):
        wanted = replace(plan, voice=voice, style=style)
        assert (await sessions.resumption(wanted) is not None) is fits, (voice, style)


@pytest.mark.req("VOICE-63")
async def test_resuming_does_not_lengthen_a_session(store: SqliteStore) -> None:
    clock = FakeClock()
    sessions, plan = VoiceSessions(store, clock), _plan(clock)
    ends_at = clock.now() + HALF_HOUR
    await sessions.place(plan, ends_at).keep("h1")
    clock.advance(minutes=20)
    again = replace(plan, started_at=clock.now())
    left = await sessions.resumption(again)
    assert left is not None
    await sessions.place(again, left.ends_at).keep("h2")
    clock.advance(minutes=9)
    left = await sessions.resumption(again)
    assert left is not None
    assert (left.handle, left.ends_at) == ("h2", ends_at)
    clock.advance(seconds=1)
    # Less than a minute: a new session with all its time is worth more.
    assert await sessions.resumption(again) is None


async def test_a_handle_is_good_for_less_than_two_hours(store: SqliteStore) -> None:
    clock = FakeClock()
    sessions, plan = VoiceSessions(store, clock), _plan(clock)
    await sessions.place(plan, clock.now() + timedelta(hours=10)).keep("h1")
    clock.advance(seconds=HANDLE_TTL.total_seconds() - 1)
    assert await sessions.resumption(plan) is not None
    clock.advance(seconds=1)
    assert await sessions.resumption(plan) is None
    await store.set("voiceSessions/other", {"expiresAt": stamp(clock.now() + HALF_HOUR)})
    await sessions.purge()
    assert await store.get(voice_session_path("s1")) is None
    assert await store.get("voiceSessions/other") is not None


async def test_the_lesson_that_began_later_has_the_place(store: SqliteStore) -> None:
    """On another machine, while the first still waits for its learner."""
    clock = FakeClock()
    sessions, plan = VoiceSessions(store, clock), _plan(clock)
    ends_at = clock.now() + HALF_HOUR
    first = sessions.place(plan, ends_at)
    await first.keep("h1")
    clock.advance(seconds=10)
    second = sessions.place(replace(plan, started_at=clock.now()), ends_at)
    await second.keep("h2")
    await first.keep("h3")
    await first.forget()
    left = await sessions.resumption(plan)
    assert left is not None
    assert left.handle == "h2"
    await second.forget()
    assert await sessions.resumption(plan) is None


class _Place:
    """`down`: how many writes fail."""

    def __init__(self, down: int = 0) -> None:
        self.written: list[str] = []
        self._down = down
        self.go_on = asyncio.Event()
        self.go_on.set()
        self.kept = asyncio.Event()

    def composed(self, *, voice: str, style: str) -> None:
        raise AssertionError("the keeper composes nothing")

    async def keep(self, handle: str) -> None:
        await self.go_on.wait()
        if self._down:
            self._down -= 1
            raise StoreDown("away")
        self.written.append(handle)
        if handle == "h4":
            self.kept.set()

    async def forget(self) -> None:
        self.written.append("-")


async def test_the_newest_handle_wins_and_the_end_removes_it() -> None:
    place = _Place()
    place.go_on.clear()
    keeper = HandleKeeper(place)
    run = asyncio.create_task(keeper.run())
    for handle in ("h1", "h2", "h3"):
        keeper.note(handle)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    keeper.note("h4")
    place.go_on.set()
    await asyncio.wait_for(place.kept.wait(), 5)
    keeper.finish(survives=False)
    await run
    assert place.written == ["h3", "h4", "-"]


async def test_a_restart_leaves_the_newest_handle() -> None:
    place = _Place()
    keeper = HandleKeeper(place)
    keeper.note("h1")
    keeper.finish(survives=True)
    await keeper.run()
    assert place.written == ["h1"]


async def test_a_store_that_is_down_costs_no_lesson() -> None:
    place = _Place(down=1)
    keeper = HandleKeeper(place)
    run = asyncio.create_task(keeper.run())
    keeper.note("h1")
    await asyncio.sleep(0.01)
    assert not run.done()
    keeper.note("h1")
    await asyncio.sleep(0.01)
    keeper.finish(survives=True)
    await run
    assert place.written == ["h1"]

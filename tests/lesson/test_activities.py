"""Where our own detection ends the learner's turns: what the service is told of them, exactly."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from local_gemini.scripted import ScriptedEngine
from tests.media.peers import until
from tests.rig import Call, House, house, said, spoken

pytestmark = pytest.mark.speech

LINE = "Memory cells keep the pattern."
CONFIG = {"liveVadEnabled": False, "liveVadSilenceDurationMs": 500}
PAIR = ["ACTIVITY_START", "ACTIVITY_END"]


@asynccontextmanager
async def line(tmp_path: Path, *replies: str) -> AsyncIterator[tuple[House, Call]]:
    engine = ScriptedEngine([LINE], replies=[[reply] for reply in replies or ("Yes.",)])
    async with house(tmp_path, engine, config=CONFIG) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            yield home, call


@pytest.mark.req("RTC-9", "OWN-33")
async def test_a_line_that_dies_mid_word_ends_the_activity(tmp_path: Path) -> None:
    """T6: exactly one end, told as soon as the peer is known to be gone."""
    async with line(tmp_path) as (home, call):
        (live,) = home.gemini.sessions
        talking = asyncio.create_task(call.say(spoken(LINE) * 3))
        await until(lambda: live.activities == PAIR[:1], "the service hears it")
        talking.cancel()
        await asyncio.wait([talking])
        await call.vanish()
        await until(lambda: live.activities == PAIR, "ended", 10)
        (lesson,) = home.lessons.running()
        lesson.stop("stopped")
        await home.empty()
        assert live.activities == PAIR


@pytest.mark.req("RTC-9", "RTC-10")
async def test_a_microphone_switched_off_mid_word_ends_the_activity(tmp_path: Path) -> None:
    async with line(tmp_path) as (home, call):
        (live,) = home.gemini.sessions
        talking = asyncio.create_task(call.say(spoken(LINE) * 3))
        await until(lambda: live.activities == PAIR[:1], "the service hears it")
        call.act("mic", on=False)
        await until(lambda: live.activities == PAIR, "ended", 5)
        await until(lambda: call.messages("turn"), "answered", 20)
        await talking
        assert live.activities == PAIR


@pytest.mark.parametrize(
    ("reply", "pairs"),
    [("And what do you think happens then?", 1), ("That is what happens then.", 2)],
    ids=["asked", "told"],
)
async def test_t8_who_was_asked_may_think(tmp_path: Path, reply: str, pairs: int) -> None:
    """T8: one turn in spite of a pause for thought; else the pause ends it."""
    async with line(tmp_path, reply, "I see.") as (home, call):
        await call.ask("Go on.")
        await call.shows("listening")
        (live,) = home.gemini.sessions
        thought = bytes(96 * 1200)
        await call.say(spoken(LINE) + thought + said(LINE, before=0.0, after=0.1))
        await until(lambda: len(live.activities) == 2 * pairs, "the learner is done", 10)
        await until(lambda: len(call.messages("turn")) > 1, "answered", 20)
        await call.shows("listening")
        assert live.activities == PAIR * pairs

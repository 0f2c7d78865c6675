"""Push-to-talk over a real line: what the service hears of a held key, and what it does not."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from local_gemini.scripted import ScriptedEngine
from tests.media.peers import tone, until
from tests.rig import Call, House, house

LINE = "Memory cells keep the pattern."
CONFIG = {"liveVadSilenceDurationMs": 400}
LOUD = tone(220, 48_000, 6.0)  # for the energy of a hold; no speech to any detector
QUIET_S = 0.6
BRACKET = ["ACTIVITY_START", "ACTIVITY_END"]


@asynccontextmanager
async def line(
    tmp_path: Path, *, manual: bool = False, **more: Any
) -> AsyncIterator[tuple[House, Call]]:
    more.setdefault("engine", ScriptedEngine([LINE], replies=[["Yes."], ["Right."]]))
    config = {**CONFIG, "liveVadEnabled": not manual}
    async with house(tmp_path, config=config, **more) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            yield home, call


async def hold(call: Call, seconds: float, *, before: float = 0.1, after: float = 0.3) -> None:
    """A key held so long, over a sound that begins before it and goes on after it (s)."""
    talking = asyncio.create_task(call.say(LOUD))
    await asyncio.sleep(before)
    call.act("ptt", down=True)
    await asyncio.sleep(seconds)
    call.act("ptt", down=False)
    await asyncio.sleep(after)
    talking.cancel()
    await asyncio.wait([talking])


def heard_ms(home: House) -> float:
    return home.gemini.sessions[0].audio_bytes / 32


@pytest.mark.req("OWN-31", "OWN-32", "OWN-30", "RTC-9")
@pytest.mark.parametrize("manual", [False, True], ids=["service-ends", "gate-ends"])
async def test_what_is_said_in_a_hold_is_one_turn(tmp_path: Path, manual: bool) -> None:
    async with line(tmp_path, manual=manual) as (home, call):
        (ready,) = call.messages("bot-ready")
        assert "ptt" in ready["about"]["features"]
        await hold(call, 1.0)
        await until(lambda: call.messages("turn"), "answered", 20)
        assert call.messages("turn")[0]["userText"] == LINE
        (live,) = home.gemini.sessions
        # Ours, or what the service made of the sound and of the silence after it.
        assert live.activities == BRACKET
        started, stopped = "user-started-speaking", "user-stopped-speaking"
        # The sound goes on after the release: the same breath, no turn of its own.
        assert call.kinds.count(started) == call.kinds.count(stopped) == 1
        # The open microphone is as before: the key changed nothing for good.
        assert (await call.ask("And typed?"))["saved"] is True


@pytest.mark.req("OWN-33", "RTC-9")
@pytest.mark.parametrize("manual", [False, True], ids=["service-ends", "gate-ends"])
async def test_t6_short_taps_are_no_turn(tmp_path: Path, manual: bool) -> None:
    async with line(tmp_path, manual=manual) as (home, call):
        for tap_s in (0.03, 0.08, 0.2):
            # A busy machine chops the sound, and the open microphone may take that for a voice.
            await hold(call, tap_s, before=0.0, after=0.0)
        await asyncio.sleep(QUIET_S)
        (live,) = home.gemini.sessions
        assert (live.activities, live.audio_bytes, live.transcripts) == ([], 0, [])
        assert call.messages("turn") == call.messages("user-started-speaking") == []
        await hold(call, 0.8)
        await until(lambda: call.messages("turn"), "a real one is answered", 20)


@pytest.mark.req("OWN-33")
async def test_t6_a_page_that_dies_with_its_key_down_ends_what_it_began(tmp_path: Path) -> None:
    async with line(tmp_path, manual=True) as (home, call):
        (live,) = home.gemini.sessions
        talking = asyncio.create_task(call.say(LOUD))
        call.act("ptt", down=True)
        await until(lambda: live.activities == BRACKET[:1], "the service hears it")
        talking.cancel()
        await asyncio.wait([talking])
        await call.vanish()
        await until(lambda: live.activities == BRACKET, "ended", 10)
        (lesson,) = home.lessons.running()
        lesson.stop("stopped")
        await home.empty()


@pytest.mark.req("OWN-28", "OWN-33")
async def test_an_empty_hold_hushes_the_tutor_who_then_goes_on(tmp_path: Path) -> None:
    reply = "word " * 40 + "end."
    engine = ScriptedEngine([LINE], replies=[[reply]])
    async with line(tmp_path, engine=engine) as (home, call):
        call.type("Tell me.")
        await call.hears(0.5)
        call.act("ptt", down=True)
        await asyncio.sleep(0.3)
        before = len(call.heard())
        await asyncio.sleep(0.5)
        assert len(call.heard()) - before < 32 * 60  # silence
        call.act("ptt", down=False)
        await until(lambda: call.messages("turn"), "heard to the end", 20)
        (turn,) = call.messages("turn")
        assert (turn["text"], turn["interrupted"]) == (reply, False)
        assert heard_ms(home) == 0


@pytest.mark.req("OWN-28", "OWN-59")
async def test_what_is_said_in_a_hold_ends_the_reply(tmp_path: Path) -> None:
    engine = ScriptedEngine([LINE], replies=[["word " * 120 + "end."], ["They remember."]])
    async with line(tmp_path, engine=engine) as (_, call):
        call.type("Tell me everything.")
        await call.hears(0.5)
        await hold(call, 1.0)
        await until(lambda: len(call.messages("turn")) == 2, "both stored", 20)
        cut, answer = call.messages("turn")
        assert (cut["interrupted"], answer["interrupted"]) == (True, False)
        assert (answer["userText"], answer["text"]) == (LINE, "They remember.")


@pytest.mark.req("OWN-7", "OWN-31", "RTC-9")
async def test_the_key_speaks_for_a_microphone_that_is_off(tmp_path: Path) -> None:
    async with line(tmp_path) as (home, call):
        call.act("mic", on=False)
        await until(lambda: call.messages("user-mute-started"), "muted")
        await hold(call, 0.8)
        await until(lambda: call.messages("turn"), "answered", 20)
        assert call.messages("turn")[0]["userText"] == LINE
        await until(lambda: not call.messages("activity")[-1]["sending"], "the gate is shut")
        before = heard_ms(home)
        await call.say(tone(220, 48_000, 0.5))
        assert heard_ms(home) - before < 100


@pytest.mark.req("OWN-29")
async def test_a_key_pressed_twice_is_pressed_once(tmp_path: Path) -> None:
    async with line(tmp_path, manual=True) as (home, call):
        talking = asyncio.create_task(call.say(LOUD))
        for _ in range(3):
            call.act("ptt", down=True)
        await until(lambda: home.gemini.sessions[0].activities, "heard")
        for _ in range(3):
            call.act("ptt", down=False)
        await until(lambda: call.messages("turn"), "answered", 20)
        assert home.gemini.sessions[0].activities == BRACKET
        talking.cancel()
        await asyncio.wait([talking])

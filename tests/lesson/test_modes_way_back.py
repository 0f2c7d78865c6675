"""A lesson that goes on turn by turn has its Live session back as soon as there is one: tried in
the background, taken at a quiet moment, told in words, and greeted by nobody."""

import asyncio
from pathlib import Path

import pytest

from local_gemini.faults import close, refuse
from local_gemini.record import SessionRecord
from local_gemini.script import Script
from local_gemini.scripted import ScriptedEngine
from server import way_back
from server.floor import BACK_TEXT, HALF_DUPLEX_TEXT
from server.store.records import voice_session_path
from tests.lesson.modes import (
    AGENT_VOICED,
    ANSWER,
    LINE,
    Agent,
    between_markers,
    instruction,
    spoken_requests,
)
from tests.media.peers import until
from tests.rig import Call, House, house, said


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(way_back, "FIRST_S", 1.5)
    monkeypatch.setattr(way_back, "STEADY_S", 0.3)


def codes(call: Call) -> list[str]:
    return [str(one["code"]) for one in call.messages("notice")]


async def back(call: Call, times: int = 1, within: float = 15.0) -> None:
    await until(lambda: codes(call).count("live-back") == times, "live again", within)


def opened(home: House) -> SessionRecord:
    """The newest session that the service has let in."""
    return next(one for one in reversed(home.gemini.sessions) if one.ready)


@pytest.mark.req("RTC-16", "VOICE-4", "VOICE-65", "VOICE-62")
async def test_a_native_lesson_is_native_again_and_knows_what_was_said(tmp_path: Path) -> None:
    script = Script().on("connect", refuse(429), times=3)
    engine = ScriptedEngine(replies=[["That is right."]], generate=Agent(), threads=True)
    async with house(tmp_path, engine, script) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            turn = await call.ask("Why does it last?")
            assert (turn["text"], turn["saved"]) == (ANSWER, True)
            await call.shows("listening")
            # Two tries that fail: neither heard nor told.
            await until(lambda: script.rules[0].fired == 3, "tried", 15)
            assert (codes(call), call.state) == (["live-quota"], "listening")
            await back(call)
            assert call.notices[-1] == BACK_TEXT
            assert call.state == "listening"
            live = opened(home)
            assert "1 turn" in instruction(live)
            assert live.seeds == [("user", "Why does it last?"), ("model", ANSWER)]
            # Nobody greets: what is heard next is an answer.
            heard = len(call.heard())
            await asyncio.sleep(0.4)
            assert (len(call.heard()), live.prompts, call.tutor) == (heard, [], ANSWER)
            turn = await call.ask("And then?")
            assert (turn["text"], turn["saved"]) == ("That is right.", True)
            assert live.prompts == ["And then?"]
            assert spoken_requests(home) == [ANSWER]
            await call.shows("listening")
            assert any(one["mayInterrupt"] for one in call.messages("status"))
            # It goes on in this session whatever happens to the process.
            doc = await home.ctx.store.get(voice_session_path(call.session_id))
            assert doc is not None
            assert doc.data["handle"] in live.handles
            # Another page of the same person joins it.
            async with ada.call(call.topic_id, call.session_id) as other:
                assert (await other.ask("Here too?"))["saved"] is True
                assert opened(home) is live
                _, answer = await home.admin.get("/api/admin/lessons")
                assert [row["turns"] for row in answer["lessons"]] == [3]
        await home.empty()


@pytest.mark.speech
@pytest.mark.req("RTC-16", "VOICE-31")
async def test_an_agent_voiced_lesson_has_its_voice_and_its_ears_back(tmp_path: Path) -> None:
    script = Script().on("connect", refuse(403), times=1)
    engine = ScriptedEngine([LINE], generate=Agent(), threads=True)
    async with house(tmp_path, engine, script, config=AGENT_VOICED) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            call.act("mic", on=False)
            await call.ask("Hello?")
            await back(call)
            live = opened(home)
            # What the learner has switched stays: nothing leaves a muted microphone.
            await call.say(said(LINE))
            assert live.audio_bytes == 0
            call.act("mic", on=True)
            await call.say(said(LINE))
            await until(lambda: len(call.messages("turn")) == 2, "heard by the service", 20)
            assert call.messages("turn")[1]["userText"] == LINE
            await call.shows("listening", 15)
            assert [between_markers(prompt) for prompt in live.prompts] == [ANSWER]
        await home.empty()


@pytest.mark.speech
@pytest.mark.req("RTC-16")
async def test_nobody_is_cut_short_by_it(tmp_path: Path) -> None:
    """Neither the tutor in the middle of a reply nor the learner in the middle of a sentence."""
    script = Script().on("connect", refuse(403), times=1)
    engine = ScriptedEngine([LINE], generate=Agent("word " * 40 + "end."), threads=True)
    async with house(tmp_path, engine, script) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await call.say(said(LINE, before=0.0, after=0.0))
            await until(lambda: call.messages("turn"), "decided", 20)
            assert codes(call) == ["live-denied"]
            await call.shows("speaking")
            before = len(call.kinds)
            await back(call)
            told = call.kinds[before:]
            assert told.index("bot-stopped-speaking") < told.index("notice")
            assert call.messages("turn")[0]["userText"] == LINE
            assert len(call.heard()) / 32_000 > 2.0


@pytest.mark.req("RTC-16", "VOICE-4")
async def test_a_service_that_lets_in_and_drops_is_not_back(tmp_path: Path) -> None:
    script = Script().on("ready", close(1011), times=6)
    engine = ScriptedEngine(replies=[["Yes."]], generate=Agent(), threads=True)
    async with house(tmp_path, engine, script) as home:
        ada = await home.person()
        async with ada.call(await ada.ground(), until_state="") as call:
            await until(lambda: HALF_DUPLEX_TEXT in call.notices, "told", 20)
            await back(call, within=25)
            assert codes(call) == ["live-lost", "live-back"]
            assert script.rules[0].fired == 6
            assert (await call.ask("Still there?"))["text"] == "Yes."


@pytest.mark.req("RTC-16", "VOICE-4")
async def test_a_session_that_is_lost_again_is_told_again_and_tried_later(
    tmp_path: Path,
) -> None:
    script = Script().on("connect", refuse(403), times=1)
    script.on("turn", close(1008, "policy"), session=2, times=1)
    script.on("connect", refuse(403), session=3, times=1)
    engine = ScriptedEngine(replies=[["Yes."]], generate=Agent(), threads=True)
    async with house(tmp_path, engine, script) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await back(call)
            call.type("Are you there?")
            await until(lambda: len(codes(call)) == 3, "lost again", 20)
            assert codes(call)[:2] == ["live-denied", "live-back"]
            # The question is not lost with it.
            await until(lambda: call.messages("turn"), "answered all the same", 20)
            assert call.messages("turn")[0]["text"] == ANSWER
            await back(call, 2, within=20)
            assert (await call.ask("And now?"))["text"] == "Yes."
        await home.empty()


@pytest.mark.req("RTC-16")
async def test_a_setup_that_the_service_calls_invalid_is_not_tried_again(tmp_path: Path) -> None:
    script = Script().on("connect", refuse(1007, "bad setup"))
    engine = ScriptedEngine(generate=Agent(), threads=True)
    async with house(tmp_path, engine, script) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await until(lambda: codes(call) == ["live-invalid"], "told")
            fired = script.rules[0].fired
            await asyncio.sleep(1.5)
            assert script.rules[0].fired == fired
            assert (await call.ask("Hello?"))["saved"] is True


@pytest.mark.req("RTC-16", "RTC-19")
@pytest.mark.parametrize("moment", ["waiting", "trying"])
async def test_a_lesson_that_ends_on_the_way_back_leaves_nothing(
    tmp_path: Path, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = Script().on("connect", refuse(403), times=1)
    if moment == "trying":
        monkeypatch.setattr(way_back, "STEADY_S", 30.0)
    else:
        monkeypatch.setattr(way_back, "FIRST_S", 30.0)
    async with house(tmp_path, script=script) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await until(lambda: codes(call) == ["live-denied"], "told")
            if moment == "trying":
                await until(lambda: [one for one in home.gemini.sessions if one.ready], "on trial")
        await home.empty()
        assert codes(call) == ["live-denied"]


@pytest.mark.req("RTC-16", "OWN-27")
async def test_a_key_that_is_held_is_somebody_who_speaks(tmp_path: Path) -> None:
    script = Script().on("connect", refuse(403), times=1)
    engine = ScriptedEngine(replies=[["Yes."]], generate=Agent(), threads=True)
    async with house(tmp_path, engine, script) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            call.act("ptt", down=True)
            await asyncio.sleep(3.0)
            assert codes(call) == ["live-denied"]
            call.act("ptt", down=False)
            await back(call)
            assert (await call.ask("And now?"))["text"] == "Yes."


@pytest.mark.req("RTC-16", "VOICE-66")
async def test_a_replay_is_heard_to_its_end_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(way_back, "FIRST_S", 600.0)
    script = Script().on("connect", refuse(403), times=1)
    engine = ScriptedEngine(generate=Agent("word " * 40 + "end."), threads=True)
    async with house(tmp_path, engine, script) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            turn = await call.ask("Tell me.")
            await until(lambda: "bot-stopped-speaking" in call.kinds, "said", 15)
            call.act("replay", turnId=turn["turnId"])
            await until(lambda: call.kinds.count("bot-started-speaking") == 2, "once more")
            (lesson,) = home.lessons.running()
            trying = asyncio.create_task(lesson._live._try())
            await back(call)
            told = call.kinds[: len(call.kinds) - call.kinds[::-1].index("notice")]
            assert told.count("bot-stopped-speaking") == 2
        await trying

"""No Live session to be had: the lesson goes on turn by turn, then in writing, never in silence."""

from pathlib import Path
from typing import Any

import pytest

from local_gemini.faults import close, hang, pause, refuse
from local_gemini.script import Action, Script
from local_gemini.scripted import ScriptedEngine
from media.live.limits import LinkLimits
from server.agent_ears import DEAF_TEXT, TEXT_ONLY_TEXT
from server.captions import TROUBLE_TEXT
from server.floor import HALF_DUPLEX_TEXT, HALF_DUPLEX_TEXTS
from tests.lesson.modes import (
    AGENT_VOICED,
    ANSWER,
    CAPTURE_TTS,
    FLOW_C,
    LINE,
    Agent,
    spoken_requests,
)
from tests.media.peers import until
from tests.rig import house, said


def gone() -> Script:
    return Script().on("connect", refuse(403))


def writes_down(request: dict[str, Any]) -> bool:
    return "TASK transcribe" in str(request.get("contents"))


def speaks(request: dict[str, Any]) -> bool:
    return "AUDIO" in str(request.get("generationConfig"))


@pytest.mark.req("RTC-16", "VOICE-62", "VOICE-64", "VOICE-57")
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (refuse(429), "quota"),
        (refuse(1011, "You exceeded your current quota"), "quota"),
        (refuse(1008, "model not allowed"), "policy"),
        (refuse(1007, "bad setup"), "invalid"),
        (refuse(403), "denied"),
    ],
    ids=["429", "quota", "1008", "1007", "403"],
)
async def test_a_service_that_refuses_is_said_and_the_lesson_stays_open(
    tmp_path: Path, fault: Action, code: str
) -> None:
    script = Script().on("connect", fault)
    engine = ScriptedEngine(generate=Agent(), threads=True)
    async with house(tmp_path, engine, script) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await until(lambda: call.messages("notice"), "a notice")
            (notice,) = call.messages("notice")
            assert notice["code"] == f"live-{code}"
            assert notice["text"] == HALF_DUPLEX_TEXTS.get(code, HALF_DUPLEX_TEXT)
            turn = await call.ask("Why does it last?")
            assert (turn["text"], turn["saved"]) == (ANSWER, True)
            await call.shows("listening")
            assert spoken_requests(home) == [ANSWER]
            assert len(call.heard()) > 8_000
            assert call.farewell == ""
            assert not any(one["mayInterrupt"] for one in call.messages("status"))
        await home.empty()


@pytest.mark.req("VOICE-62", "RTC-16")
async def test_a_setup_that_hangs_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("media.live.link.LinkLimits", lambda: LinkLimits(connect_s=0.5))
    async with house(tmp_path, script=Script().on("setup", hang())) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await until(lambda: call.notices == [HALF_DUPLEX_TEXTS["setup_timeout"]], "told")
            assert (await call.ask("Hello?"))["saved"] is True
        await home.empty()


@pytest.mark.req("RTC-16", "VOICE-64")
async def test_what_was_typed_too_early_is_answered_in_its_own_bubble(tmp_path: Path) -> None:
    script = Script().on("connect", pause(1500)).on("connect", refuse(403))
    engine = ScriptedEngine(generate=Agent(), threads=True)
    async with house(tmp_path, engine, script) as home:
        ada = await home.person()
        async with ada.call(await ada.ground(), until_state="") as call:
            call.type("Am I too early?")
            await until(lambda: call.messages("user-transcription"), "shown")
            bubble = call.messages("user-transcription")[0]["turnId"]
            await until(lambda: call.messages("turn"), "answered", 20)
            (turn,) = call.messages("turn")
            assert (turn["turnId"], turn["userText"]) == (bubble, "Am I too early?")
            assert {one["turnId"] for one in call.messages("user-transcription")} == {bubble}


@pytest.mark.req("RTC-16", "VOICE-4", "OBS-27")
@pytest.mark.parametrize(
    "config", [{}, AGENT_VOICED, CAPTURE_TTS, FLOW_C], ids=["native", "agent", "tts", "flow-c"]
)
async def test_a_session_that_keeps_dropping_leaves_the_lesson_open(
    tmp_path: Path, config: dict[str, Any]
) -> None:
    """T10: after the last attempt the page knows where it stands, and the lesson goes on."""
    script = Script().on("ready", close(1011), times=9)
    engine = ScriptedEngine(generate=Agent(), threads=True)
    async with house(tmp_path, engine, script, config=config) as home:
        ada = await home.person()
        async with ada.call(await ada.ground(), until_state="") as call:
            await until(lambda: HALF_DUPLEX_TEXT in call.notices, "told", 20)
            await call.shows("listening")
            assert len(home.gemini.sessions) == 4
            assert (await call.ask("Still there?"))["text"] == ANSWER
            assert len(await home.stored(call.session_id)) == 1
        await home.empty()


@pytest.mark.speech
@pytest.mark.req("RTC-16", "VOICE-56", "AGND-16", "CARD-13")
async def test_a_spoken_turn_without_a_live_session(tmp_path: Path) -> None:
    engine = ScriptedEngine([LINE, ""], generate=Agent("word " * 30 + "end."), threads=True)
    async with house(tmp_path, engine, gone(), config=AGENT_VOICED) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await call.say(said(LINE))
            await until(lambda: call.messages("turn"), "decided", 20)
            (turn,) = call.messages("turn")
            assert (turn["userText"], turn["saved"]) == (LINE, True)
            await call.shows("speaking")
            await call.shows("listening")
            assert len(call.heard()) / 32_000 > 1.5
            assert len(call.messages("agenda")[-1]["coveredAngles"]) == 1
            heard_ms = engine.ears.heard_ms
            # The whole utterance, from before its onset, and no more than its hang-over.
            assert 800 < heard_ms[0] < 4000
            await call.say(said(LINE))
            await until(lambda: len(heard_ms) == 2, "written down", 15)
            await call.shows("listening")
            assert len(call.messages("turn")) == 1


@pytest.mark.speech
@pytest.mark.req("RTC-16", "VOICE-62")
async def test_ears_that_fail_twice_leave_the_keyboard(tmp_path: Path) -> None:
    script = gone().on("generate", refuse(400, "no ears"), where=writes_down, times=2)
    engine = ScriptedEngine([LINE], generate=Agent(), threads=True)
    async with house(tmp_path, engine, script, config=AGENT_VOICED) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            for notice in (DEAF_TEXT, TEXT_ONLY_TEXT):
                await call.say(said(LINE))
                await until(lambda text=notice: text in call.notices, "told", 15)
            await call.shows("idle")
            assert (await call.ask("Can you read this?"))["text"] == ANSWER
            await call.shows("idle")
            call.act("mic", on=True)
            await call.shows("listening")
            await call.say(said(LINE))
            await until(lambda: len(call.messages("turn")) == 2, "heard again", 20)
            assert call.messages("turn")[1]["userText"] == LINE


@pytest.mark.req("RTC-16", "OBS-28")
async def test_without_a_voice_the_answer_is_there_in_writing(tmp_path: Path) -> None:
    script = gone().on("generate", refuse(400, "no voice"), where=speaks)
    engine = ScriptedEngine(generate=Agent(), threads=True)
    async with house(tmp_path, engine, script) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            assert (await call.ask("Why?"))["text"] == ANSWER
            await until(lambda: TROUBLE_TEXT["text_without_audio"] in call.notices, "told")
            await call.shows("listening")


@pytest.mark.req("RTC-16", "OBS-28")
async def test_without_an_agent_every_turn_says_so(tmp_path: Path) -> None:
    agent = Agent()
    engine = ScriptedEngine(generate=agent, threads=True)
    async with house(tmp_path, engine, gone()) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            agent.broken = 3
            assert (await call.ask("First.", 30))["saved"] is False
            assert len(call.notices) == 2
            assert (await call.ask("Second."))["saved"] is True


@pytest.mark.req("RTC-16", "VOICE-65")
async def test_the_next_call_tries_the_live_service_again(tmp_path: Path) -> None:
    script = Script().on("connect", refuse(403), times=1)
    async with house(tmp_path, script=script) as home:
        ada = await home.person()
        topic = await ada.ground()
        async with ada.call(topic) as first:
            await first.ask("Hello?")
            async with ada.call(topic, first.session_id) as call:
                assert (await call.ask("And now?"))["saved"] is True
                assert call.notices == []
                assert home.gemini.sessions[-1].prompts == ["And now?"]
                await until(lambda: first.farewell == "replaced", "told why")
        await home.empty()

"""Extended thinking, and replies that come in writing: one bubble, one turn, always a voice."""

from pathlib import Path

import pytest

from local_gemini.faults import filler, late_audio, no_audio, refuse, text_part
from local_gemini.script import Action, Script
from local_gemini.scripted import ScriptedEngine
from server.captions import TROUBLE_TEXT
from tests.lesson.modes import LINE, spoken_requests
from tests.media.peers import until
from tests.rig import house, said

EXTENDED = {
    "liveModel": "gemini-3.8-live-extended-thinking",
    "liveThinkingLevel": "medium",
    "liveVadSilenceDurationMs": 400,
}


@pytest.mark.speech
@pytest.mark.req("VOICE-55", "VOICE-23", "VOICE-10", "VOICE-51", "DATA-29", "DATA-46", "GOTCHA-13")
async def test_a_spoken_question_a_filler_and_the_answer(tmp_path: Path) -> None:
    script = Script().on("turn", filler("Let me think."), n=1).on("turn", late_audio(900), n=1)
    engine = ScriptedEngine([LINE], replies=[["It is the memory cells."]])
    async with house(tmp_path, engine, script, config=EXTENDED) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            (live,) = home.gemini.sessions
            thinking = live.setup["generationConfig"]["thinkingConfig"]
            assert thinking["thinkingLevel"] == "MEDIUM"
            await call.say(said(LINE))
            await until(lambda: call.messages("turn"), "stored", 20)
            await call.shows("listening")
            (turn,) = call.messages("turn")
            assert (turn["userText"], turn["text"]) == (
                LINE,
                "Let me think. It is the memory cells.",
            )
            assert {one["turnId"] for one in call.messages("bot-output")} == {turn["turnId"]}
            assert call.states.count("speaking") == 2
            assert "listening" not in call.states[call.states.index("formulating") : -1]
            assert len(await home.stored(call.session_id)) == 1
            assert len(live.contexts) == 1
            assert spoken_requests(home) == []


@pytest.mark.req("RTC-16", "OBS-3", "VOICE-51")
@pytest.mark.parametrize(
    "fault", [text_part("You said: First.."), no_audio()], ids=["part", "mute"]
)
async def test_a_reply_in_writing_is_said_by_the_speech_model(
    tmp_path: Path, fault: Action
) -> None:
    engine = ScriptedEngine(replies=[["You said: First.."]])
    async with house(tmp_path, engine, Script().on("turn", fault, n=1)) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            turn = await call.ask("First.")
            assert (turn["text"], turn["saved"]) == ("You said: First..", True)
            assert spoken_requests(home) == ["You said: First.."]
            assert len(call.heard()) > 4_000
            await call.shows("listening")
            assert call.notices == []
            assert (await call.ask("Second."))["saved"] is True
            assert len(spoken_requests(home)) == 1


@pytest.mark.req("RTC-16", "OBS-26")
async def test_without_a_speech_model_it_is_said_in_words(tmp_path: Path) -> None:
    script = Script().on("turn", text_part("Only written."), n=1)
    script.on("generate", refuse(400), where=lambda body: "AUDIO" in str(body["generationConfig"]))
    async with house(tmp_path, script=script) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            call.type("First.")
            await until(lambda: TROUBLE_TEXT["text_without_audio"] in call.notices, "told")
            await call.shows("listening")
            assert call.tutor == "Only written."
            assert (await call.ask("Second."))["userText"] == "Second."
            assert len(await home.stored(call.session_id)) == 1


@pytest.mark.req("VOICE-64", "RTC-16")
async def test_typing_while_another_voice_is_fetched_goes_first(tmp_path: Path) -> None:
    script = Script().on("turn", text_part("Only written."), n=1)
    engine = ScriptedEngine(
        replies=[["Well."]],
        speech=lambda text: bytes(480) if text == "Only written." else b"\x00\x20" * 9_600,
    )
    async with house(tmp_path, engine, script) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            call.type("First.")
            await until(lambda: call.tutor == "Only written.", "written")
            call.type("Never mind.")
            await until(lambda: call.messages("turn"), "answered", 20)
            assert call.messages("turn")[-1]["text"] == "Well."

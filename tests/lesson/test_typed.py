"""Typed turns while voice is on: authoritative, answered once, stored once."""

from pathlib import Path

import pytest

from local_gemini.faults import late_audio, pause
from local_gemini.script import Script
from local_gemini.scripted import ScriptedEngine
from tests.media.peers import until
from tests.rig import house

LONG = ["word " * 100 + "end.", "A short answer."]


@pytest.mark.req("VOICE-64", "VOICE-52", "RTC-14", "RTC-16")
async def test_a_typed_turn_is_answered_aloud_and_stored_once(tmp_path: Path) -> None:
    script = Script().on("setup", pause(300))
    async with house(tmp_path, script=script) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            turn = await call.ask("What is an antibody?")
            assert turn["userText"] == "What is an antibody?"
            assert turn["text"] == call.tutor
            assert turn["interrupted"] is False
            assert len(call.heard()) > 8_000
            (stored,) = await home.stored(call.session_id)
            assert (stored["userText"], stored["text"]) == (turn["userText"], turn["text"])
            await call.shows("listening")
            assert call.states == [
                "connecting",
                "listening",
                "formulating",
                "speaking",
                "listening",
            ]
            assert [one["final"] for one in call.messages("user-transcription")] == [True]
            assert home.gemini.sessions[0].prompts == ["What is an antibody?"]


@pytest.mark.req("VOICE-64", "OBS-8", "VOICE-49")
async def test_typing_over_a_reply_interrupts_it_and_is_answered_once(tmp_path: Path) -> None:
    engine = ScriptedEngine(replies=[[LONG[0]], [LONG[1]]])
    async with house(tmp_path, engine) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            call.type("Tell me everything.")
            await call.hears(0.6)
            call.type("Stop, one thing only.")
            await until(lambda: len(call.messages("turn")) == 2, "both turns", 20)
            first, second = call.messages("turn")
            assert first["userText"] == "Tell me everything."
            assert first["interrupted"] is True
            assert 0 < len(first["text"]) < len(LONG[0])
            assert LONG[0].startswith(first["text"])
            assert second["userText"] == "Stop, one thing only."
            assert (second["interrupted"], second["text"]) == (False, "A short answer.")
            stored = await home.stored(call.session_id, 2)
            assert [turn["text"] for turn in stored] == [first["text"], second["text"]]
            assert call.messages("interrupted")[0]["heard"] == first["text"]
            assert home.gemini.sessions[0].prompts == [first["userText"], second["userText"]]


@pytest.mark.req("VOICE-64")
async def test_two_texts_before_the_answer_are_one_turn(tmp_path: Path) -> None:
    script = Script().on("turn", late_audio(1500), n=1)
    async with house(tmp_path, script=script) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            call.type("First this.")
            await call.shows("formulating")
            call.type("And this.")
            await until(lambda: call.messages("turn"), "turn", 20)
            await call.shows("listening")
            (turn,) = call.messages("turn")
            assert turn["userText"] == "First this. And this."
            assert home.gemini.sessions[0].prompts == ["First this.", "And this."]
            assert len(await home.stored(call.session_id)) == 1


@pytest.mark.req("VOICE-64")
async def test_text_typed_before_the_service_is_up_is_answered(tmp_path: Path) -> None:
    script = Script().on("setup", pause(800))
    async with house(tmp_path, script=script) as home:
        ada = await home.person()
        topic = await ada.ground()
        async with ada.call(topic, until_state="connecting") as call:
            call.type("Am I too early?")
            await until(lambda: call.messages("turn"), "turn", 20)
            assert call.messages("turn")[0]["userText"] == "Am I too early?"
            assert home.gemini.sessions[0].prompts == ["Am I too early?"]


@pytest.mark.req("VOICE-26", "VOICE-64")
async def test_blank_text_is_nothing(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            call.type("   \n ")
            turn = await call.ask("Something.")
            assert turn["userText"] == "Something."
            assert home.gemini.sessions[0].prompts == ["Something."]

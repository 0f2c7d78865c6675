"""Agent-voiced lessons over real peers: the agent decides, the Live voice reads, one voice only."""

from pathlib import Path

import pytest

from local_gemini.faults import late_audio, no_audio, refuse, say
from local_gemini.script import Script
from local_gemini.scripted import ScriptedEngine
from media.modes import awaited
from server.captions import TROUBLE_TEXT
from tests.lesson.modes import (
    AGENT_VOICED,
    ANSWER,
    CAPTURE_TTS,
    LEGACY,
    LINE,
    Agent,
    between_markers,
    instruction,
    spoken_requests,
)
from tests.media.peers import until
from tests.rig import house, said


@pytest.mark.req(
    "VOICE-1", "VOICE-30", "VOICE-31", "VOICE-34", "VOICE-8", "AGND-16", "UI-26", "PROMPT-36"
)
@pytest.mark.parametrize("model", ["gemini-3.8-live", LEGACY])
async def test_a_typed_turn_is_decided_by_the_agent_and_read_out(
    tmp_path: Path, model: str
) -> None:
    engine = ScriptedEngine(generate=Agent(), threads=True)
    async with house(tmp_path, engine, config={**AGENT_VOICED, "liveModel": model}) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            told = call.answer["sessionConfig"]
            assert (told["nativeReply"], told["agentVoiceEnabled"]) == (False, True)
            turn = await call.ask("Why does it last?")
            assert (turn["userText"], turn["text"], turn["saved"]) == (
                "Why does it last?",
                ANSWER,
                True,
            )
            await call.shows("listening")
            assert call.tutor == ANSWER
            assert len(call.heard()) > 8_000
            (live,) = home.gemini.sessions
            assert "CAPTURE ONLY" in instruction(live)
            assert not live.setup.get("tools")
            (prompt,) = live.prompts
            assert between_markers(prompt) == ANSWER
            (stored,) = await home.stored(call.session_id)
            assert (stored["userText"], stored["text"], stored["mode"]) == (
                "Why does it last?",
                ANSWER,
                "ask",
            )
            assert len(call.messages("agenda")[-1]["coveredAngles"]) == 1
            assert call.states[-4:] == ["listening", "formulating", "speaking", "listening"]
            assert not any(one["mayInterrupt"] for one in call.messages("status"))
            assert spoken_requests(home) == []
            assert call.notices == []
        await home.empty()


@pytest.mark.speech
@pytest.mark.req(
    "VOICE-25", "VOICE-27", "VOICE-29", "VOICE-35", "VOICE-37", "VOICE-39", "GOTCHA-6", "GOTCHA-4"
)
async def test_a_spoken_turn_is_answered_by_one_voice_although_the_model_talks_by_itself(
    tmp_path: Path,
) -> None:
    drift = "I would say it is " + "word " * 80 + "end."
    script = Script().on("turn", say(drift), n=1)
    agent = Agent("word " * 30 + "end.")
    engine = ScriptedEngine([LINE], generate=agent, threads=True)
    async with house(tmp_path, engine, script, config=AGENT_VOICED) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await call.say(said(LINE))
            await call.shows("speaking", 20)
            (live,) = home.gemini.sessions
            sent = live.audio_bytes
            await call.say(said(LINE, before=0.0, after=0.0)[:96_000])
            # The microphone is closed, the track lives: nothing of it has left.
            assert (call.state, live.audio_bytes) == ("speaking", sent)
            await call.shows("listening")
            assert agent.heard == [LINE]
            first, reading = live.replies
            assert (first.text, first.interrupted) == (drift, True)
            assert (reading.text, reading.interrupted) == (agent.text, False)
            # Of the drift nothing was heard: 31 words of 60 ms, once.
            assert 1.7 < len(call.heard()) / 32_000 < 2.1
            assert call.messages("interrupted") == []
            assert call.messages("system") == []
            assert [one["text"] for one in call.messages("bot-transcription")] == [agent.text]


@pytest.mark.req("VOICE-38", "GOTCHA-6")
async def test_live_audio_that_is_too_late_never_meets_the_fallback(tmp_path: Path) -> None:
    script = Script().on("turn", late_audio(2300), n=1)
    engine = ScriptedEngine(generate=Agent(), threads=True)
    async with house(tmp_path, engine, script, config=AGENT_VOICED) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            assert (await call.ask("Why?"))["saved"] is True
            await call.shows("speaking")
            await call.shows("listening")
            assert spoken_requests(home) == [ANSWER]
            await until(lambda: home.gemini.sessions[0].replies[0].complete, "too late", 10)
            # One voice: six words of 60 ms, once.
            assert 0.2 < len(call.heard()) / 32_000 < 0.7
            assert (await call.ask("And now?"))["saved"] is True
            assert call.notices == []


@pytest.mark.req("VOICE-36")
async def test_live_audio_in_time_needs_no_fallback(tmp_path: Path) -> None:
    script = Script().on("turn", late_audio(1200), n=1)
    engine = ScriptedEngine(generate=Agent(), threads=True)
    async with house(tmp_path, engine, script, config=AGENT_VOICED) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await call.ask("Why?")
            await call.shows("speaking")
            await call.shows("listening")
            assert spoken_requests(home) == []


@pytest.mark.req("VOICE-38", "RTC-16")
async def test_a_reply_that_no_voice_can_say_is_there_in_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(awaited, "FALLBACK_S", 0.3)

    def speech(request: dict[str, object]) -> bool:
        return "AUDIO" in str(request.get("generationConfig"))

    script = Script().on("turn", no_audio()).on("generate", refuse(400, "no voice"), where=speech)
    engine = ScriptedEngine(generate=Agent(), threads=True)
    async with house(tmp_path, engine, script, config=AGENT_VOICED) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            assert (await call.ask("Why?"))["text"] == ANSWER
            await until(lambda: call.notices, "told")
            await until(lambda: call.notices == [TROUBLE_TEXT["text_without_audio"]], "told")
            await call.shows("listening")
            assert len(await home.stored(call.session_id)) == 1


@pytest.mark.req("VOICE-28", "RTC-19")
async def test_a_stop_while_the_agent_decides_leaves_nothing(tmp_path: Path) -> None:
    agent = Agent()
    agent.gate.clear()
    engine = ScriptedEngine(generate=agent, threads=True)
    async with house(tmp_path, engine, config=AGENT_VOICED) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            call.type("Why?")
            await until(lambda: agent.heard, "asked")
            call.act("stop")
            await until(lambda: call.farewell == "stopped", "stopped")
            agent.gate.set()
            await home.empty()
            assert await ada.turns(call.session_id) == []
            assert (call.tutor, call.messages("turn")) == ("", [])


@pytest.mark.req("RTC-16", "OBS-28")
async def test_an_agent_that_fails_is_said_and_the_lesson_goes_on(tmp_path: Path) -> None:
    agent = Agent()
    agent.broken = 3
    engine = ScriptedEngine(generate=agent, threads=True)
    async with house(tmp_path, engine, config=AGENT_VOICED) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            turn = await call.ask("First.", 30)
            assert (turn["saved"], turn["userText"]) == (False, "First.")
            assert len(call.notices) == 1
            await call.shows("listening")
            assert (await call.ask("Second."))["saved"] is True
            assert [turn["userText"] for turn in await home.stored(call.session_id)] == ["Second."]


@pytest.mark.req("VOICE-66")
async def test_reply_speech_off_needs_no_voice_at_all(tmp_path: Path) -> None:
    engine = ScriptedEngine(generate=Agent(), threads=True)
    async with house(tmp_path, engine, config=AGENT_VOICED) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            call.act("reply-speech", on=False)
            assert (await call.ask("Why?"))["text"] == ANSWER
            await call.shows("listening")
            assert home.gemini.sessions[0].prompts == []
            assert spoken_requests(home) == []
            assert call.heard() == b""


@pytest.mark.req("VOICE-64", "VOICE-39")
async def test_typing_over_a_reply_interrupts_it(tmp_path: Path) -> None:
    agent = Agent("word " * 60 + "end.")
    engine = ScriptedEngine(generate=agent, threads=True)
    async with house(tmp_path, engine, config=AGENT_VOICED) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            call.type("Tell me everything.")
            await call.shows("speaking")
            agent.text = "In short: memory."
            call.type("Shorter, please.")
            await until(lambda: len(call.messages("turn")) == 2, "both", 20)
            (mark,) = call.messages("system")
            assert mark["text"] == "(You interrupted the tutor.)"
            await call.shows("speaking")
            await call.shows("listening")
            assert call.tutor == "In short: memory."
            assert len(await home.stored(call.session_id, 2)) == 2


@pytest.mark.req("VOICE-30", "VOICE-1", "VOICE-45", "DATA-43", "GOTCHA-16")
async def test_with_agent_voice_off_the_speech_model_speaks(tmp_path: Path) -> None:
    """Flow C would need a legacy model: a 3.8 model only listens, and the client is told so."""
    engine = ScriptedEngine(generate=Agent(), threads=True)
    config = {**CAPTURE_TTS, "liveAudioOutputEnabled": True}
    async with house(tmp_path, engine, config=config) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            told = call.answer["sessionConfig"]
            switches = ("nativeReply", "agentVoiceEnabled", "audioOutputEnabled")
            assert [told[name] for name in switches] == [False, False, False]
            assert (await call.ask("Why?"))["text"] == ANSWER
            await call.shows("speaking")
            await call.shows("listening")
            (live,) = home.gemini.sessions
            assert (live.prompts, live.setup.get("tools") or []) == ([], [])
            assert spoken_requests(home) == [ANSWER]
            assert len(call.heard()) > 8_000


@pytest.mark.req("DATA-42", "VOICE-48", "VOICE-5")
@pytest.mark.parametrize("native", [True, False])
async def test_output_transcription_can_be_left_out_in_legacy_modes_only(
    tmp_path: Path, native: bool
) -> None:
    config = {"liveNativeReply": native, "liveOutputAudioTranscriptionEnabled": False}
    async with house(tmp_path, config=config) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            (live,) = home.gemini.sessions
            assert ("outputAudioTranscription" in live.setup) is native
            assert "inputAudioTranscription" in live.setup
            told = call.answer["sessionConfig"]["outputAudioTranscriptionEnabled"]
            assert told is native

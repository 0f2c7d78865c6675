"""A Live session that misbehaves while it stays open: an honest state, and the next turn works."""

from pathlib import Path

import pytest

from local_gemini.faults import (
    filler,
    interrupt,
    late_audio,
    no_reply,
    no_turn_complete,
    pause,
    plan,
    send,
    send_content,
    send_raw,
    silent_audio,
    tool_call,
    usage,
    vanish,
)
from local_gemini.script import Action, Script
from local_gemini.scripted import ScriptedEngine
from media import turn_limits
from server.captions import TROUBLE_TEXT
from tests.media.peers import until
from tests.rig import house

STRANGE = {
    "an unknown frame": send({"mystery": {"a": 1}}),
    "an unknown field": send_content(hologram={"x": 1}),
    "bytes": send_raw(b"\xff\x00\x12", text=False),
    "text that is no JSON": send_raw(b"not json", text=True),
    "a tool call": tool_call("advance_turn", {"x": 1}, wait=False),
    "no turnComplete": no_turn_complete(),
    "no generationComplete": plan(generation_complete=False),
}


@pytest.mark.req("VOICE-20", "VOICE-22", "VOICE-19", "VOICE-24")
async def test_strange_messages_disturb_nothing(tmp_path: Path) -> None:
    script = Script()
    for number, fault in enumerate(STRANGE.values(), 1):
        script.on("turn", fault, n=number)
    async with house(tmp_path, ScriptedEngine(replies=[["Yes."]]), script) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            for name in (*STRANGE, "nothing strange"):
                turn = await call.ask(f"Now {name}.")
                assert (turn["saved"], turn["userText"]) == (True, f"Now {name}.")
            assert call.notices == []
            await call.shows("listening")
            assert len(home.gemini.sessions) == 1
        await home.empty()


@pytest.mark.req("RTC-16", "OBS-26")
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (silent_audio(), "inaudible"),
    ],
    ids=["inaudible"],
)
async def test_a_reply_that_cannot_be_heard_is_said_to_be(
    tmp_path: Path, fault: Action, code: str
) -> None:
    async with house(tmp_path, script=Script().on("turn", fault, n=1)) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            call.type("First.")
            await until(lambda: TROUBLE_TEXT[code] in call.notices, "told")
            await call.shows("listening")
            assert (await call.ask("Second."))["userText"] == "Second."
        await home.empty()


@pytest.mark.req("OBS-26", "RTC-16")
async def test_turns_without_a_reply_are_not_stored_and_the_third_is_said(tmp_path: Path) -> None:
    script = Script().on("turn", no_reply("NO_INPUT"), times=3)
    async with house(tmp_path, script=script) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            for number in range(3):
                before = call.states.count("listening")
                call.type(f"Number {number}.")
                await until(lambda n=before: call.states.count("listening") > n, "listening")
            await until(lambda: call.notices == [TROUBLE_TEXT["empty_turns"]], "told")
            assert (await call.ask("Fourth."))["userText"] == "Fourth."
            assert len(await home.stored(call.session_id)) == 1
        await home.empty()


@pytest.mark.req("RTC-16")
async def test_a_session_that_falls_silent_is_left_for_a_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T2: connected, but deaf. The learner is told, and the next turn finds a new socket."""
    monkeypatch.setattr(turn_limits, "FORMULATING_S", 1.0)
    async with house(tmp_path, script=Script().on("turn", vanish(), session=1, n=2)) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            assert (await call.ask("First."))["saved"] is True
            call.type("Second.")
            await until(lambda: TROUBLE_TEXT["silent_turn"] in call.notices, "told")
            await call.shows("listening")
            assert (await call.ask("Third."))["userText"] == "Third."
        silent, fresh = home.gemini.sessions
        assert (silent.open, fresh.prompts) == (False, ["Third."])
        await home.empty()


@pytest.mark.req("RTC-12", "RTC-16")
async def test_late_audio_is_waited_for(tmp_path: Path) -> None:
    async with house(tmp_path, script=Script().on("turn", late_audio(2500), n=1)) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            turn = await call.ask("Take your time.")
            assert turn["saved"] is True
            assert call.states[-3:-1] == ["formulating", "speaking"] or call.states[-2:] == [
                "formulating",
                "speaking",
            ]
            assert call.notices == []


@pytest.mark.req("VOICE-49", "RTC-11", "RTC-16")
@pytest.mark.parametrize("heard", [True, False])
async def test_an_interruption_without_a_completion_closes_the_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, heard: bool
) -> None:
    """T3: the service drops its reply, heard or not yet, and never completes it."""
    monkeypatch.setattr(turn_limits, "FORMULATING_S", 1.0)
    monkeypatch.setattr(turn_limits, "NOISE_S", 1.0)
    script = Script()
    if heard:
        script.on("reply", pause(400), session=1, n=1, after_ms=1000)
        script.on("reply", interrupt(turn_complete=False), session=1, n=1, after_ms=1000)
    else:
        script.on("first_audio", interrupt(turn_complete=False), session=1, n=1)
    engine = ScriptedEngine(replies=[["word " * 60 + "end."], ["Here again."]])
    async with house(tmp_path, engine, script) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            call.type("Go on.")
            await call.shows("formulating")
            await call.shows("listening")
            assert bool(call.messages("interrupted")) is heard
            assert (TROUBLE_TEXT["silent_turn"] in call.notices) is not heard
            call.type("Are you there?")
            await until(lambda: "Here again." in call.tutor, "answered")
            turns = await home.stored(call.session_id, 1 + heard)
            assert turns[-1]["userText"] == "Are you there?"
            assert turns[-1]["text"] == "Here again."
        await home.empty()


@pytest.mark.req("VOICE-23", "VOICE-52", "VOICE-55", "RTC-14")
async def test_a_filler_and_its_answer_are_one_bubble_and_one_sync(tmp_path: Path) -> None:
    script = Script().on("turn", filler("Let me think."), n=1).on("turn", late_audio(800), n=1)
    engine = ScriptedEngine(replies=[["It is the memory cells."]])
    async with house(tmp_path, engine, script) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            turn = await call.ask("Why does it last?")
            assert turn["text"] == "Let me think. It is the memory cells."
            assert {one["turnId"] for one in call.messages("bot-output")} == {turn["turnId"]}
            await call.shows("listening")
            assert len(call.messages("turn")) == 1
            states = call.states_since_ready
            assert states[:2] == ["formulating", "speaking"]
            assert states.count("speaking") == 2
            assert states.index("listening") == len(states) - 1


@pytest.mark.req("RTC-23")
async def test_reported_tokens_are_shown_and_counted(tmp_path: Path) -> None:
    counts = {"promptTokenCount": 100, "responseTokenCount": 20, "totalTokenCount": 120}
    script = Script().on("turn", usage(**counts), n=1)
    async with house(tmp_path, script=script) as home:
        ada = await home.person()
        topic = await ada.ground()
        async with ada.call(topic) as call:
            await call.ask("Count me.")
            await until(lambda: call.messages("cost"), "cost")
            cost = call.messages("cost")[-1]
            assert cost["inputTokens"] >= 100
            assert cost["outputTokens"] >= 20
            assert cost["model"].startswith("gemini-3.8-live")
        await home.empty()
        (counted,) = await home.ctx.store.query("usage", where={"uid": ada.uid})
        assert counted.data["geminiInputTokens"] >= 100
        assert counted.data["geminiOutputTokens"] >= 20

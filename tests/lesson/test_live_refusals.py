"""A Live service that cannot be had, or goes away: words for the learner, or a silent recovery."""

from pathlib import Path

import pytest

from local_gemini.faults import abort, close, go_away, refuse
from local_gemini.script import Action, Script
from local_gemini.scripted import ScriptedEngine
from tests.media.peers import until
from tests.rig import house


@pytest.mark.req("VOICE-4", "RTC-16")
async def test_a_first_refusal_that_passes_is_never_seen(tmp_path: Path) -> None:
    async with house(tmp_path, script=Script().on("connect", refuse(503), times=1)) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            assert (await call.ask("Hello?"))["saved"] is True
            assert call.notices == []


@pytest.mark.req("VOICE-4", "VOICE-64", "RTC-16", "OBS-27")
@pytest.mark.parametrize(
    "fault",
    [abort(), close(1006), close(1007, "invalid"), close(1008, "policy"), close(1011, "internal")],
    ids=["tcp", "1006", "1007", "1008", "1011"],
)
async def test_a_session_that_drops_is_resumed_and_the_turn_answered(
    tmp_path: Path, fault: Action
) -> None:
    """T10: the second turn kills the session; its words are not lost and nobody greets again."""
    async with house(tmp_path, script=Script().on("turn", fault, session=1, n=2)) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            assert (await call.ask("First."))["saved"] is True
            turn = await call.ask("Second.")
            assert (turn["saved"], turn["userText"]) == (True, "Second.")
            assert (await call.ask("Third."))["saved"] is True
            assert call.states.count("reconnecting") == 1
            at = call.states.index("reconnecting")
            assert call.states[at - 1] == "formulating"
            assert call.states[at + 1 : at + 3] == ["formulating", "speaking"]
            told = [turn["userText"] for turn in await home.stored(call.session_id, 3)]
            assert told == ["First.", "Second.", "Third."]
        dropped, resumed = home.gemini.sessions
        assert not dropped.open
        assert resumed.prompts == ["Second.", "Third."]
        assert [reply.learner for reply in resumed.replies] == ["Second.", "Third."]
        await home.empty()


@pytest.mark.req("VOICE-21", "RTC-16")
async def test_go_away_mid_reply_lets_the_reply_end_and_goes_unnoticed(tmp_path: Path) -> None:
    """T9: the hand-over waits for the quiet moment; the page sees no reconnect."""
    script = Script().on("reply", go_away(30.0), session=1, n=1, after_ms=500)
    engine = ScriptedEngine(replies=[["word " * 25 + "end."], ["Still here."]])
    async with house(tmp_path, engine, script) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            turn = await call.ask("Go on.")
            assert (turn["interrupted"], turn["text"]) == (False, "word " * 25 + "end.")
            await until(lambda: len(home.gemini.sessions) == 2, "handed over")
            await until(lambda: home.gemini.sessions[1].ready, "resumed")
            assert (await call.ask("And now?"))["text"] == "Still here."
            assert "reconnecting" not in call.states
            assert call.notices == []
        first, second = home.gemini.sessions
        assert (first.open, second.resumed, second.prompts) == (False, True, ["And now?"])


@pytest.mark.req("VOICE-21", "OBS-27")
async def test_go_away_that_does_not_wait_keeps_what_was_said(tmp_path: Path) -> None:
    script = Script().on("first_audio", go_away(0.3), session=1, n=1)
    engine = ScriptedEngine(replies=[["word " * 40 + "end."], ["Still here."]])
    async with house(tmp_path, engine, script) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            first = await call.ask("Go on.")
            assert first["saved"] is True
            assert ("word " * 40 + "end.").startswith(first["text"])
            assert (await call.ask("And now?"))["text"] == "Still here."
        await home.empty()


@pytest.mark.req("VOICE-4", "VOICE-65", "RTC-16")
async def test_a_refused_handle_means_a_fresh_session_that_knows_what_was_said(
    tmp_path: Path,
) -> None:
    """T11: seeded from what is stored; no greeting, no second answer, the agenda goes on."""
    script = Script().on("turn", abort(), session=1, n=2)
    script.on("resume", close(1011, "session not found"))
    engine = ScriptedEngine(replies=[["Yes, indeed."]])
    async with house(tmp_path, engine, script) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await call.ask("First.")
            before = call.messages("agenda")[-1]
            turn = await call.ask("Second.")
            assert turn["userText"] == "Second."
            assert call.messages("agenda")[-1]["agenda"] == before["agenda"]
            await call.shows("listening")
            fresh = home.gemini.sessions[-1]
            assert fresh.seeds == [("user", "First."), ("model", "Yes, indeed.")]
            assert (fresh.resumed, fresh.prompts) == (False, ["Second."])
            assert len(fresh.replies) == 1
            assert len(await home.stored(call.session_id, 2)) == 2

"""Flow C over real peers: the Live model fetches every reply by its tool and says it."""

from pathlib import Path
from typing import Any

import pytest

from local_gemini.faults import no_reply, send, tool_call
from local_gemini.record import SessionRecord
from local_gemini.script import Script
from local_gemini.scripted import ScriptedEngine
from tests.lesson.modes import ANSWER, FLOW_C, LINE, Agent, instruction, spoken_requests
from tests.media.peers import until
from tests.rig import house, said

SAID = {"learnerText": "It is memory.", "sessionId": "another", "topicId": "another"}


def responses(live: SessionRecord) -> list[dict[str, Any]]:
    return [dict(one["response"]) for one in live.tool_responses]


@pytest.mark.speech
@pytest.mark.req(
    "VOICE-1", "VOICE-8", "VOICE-41", "AGND-16", "PROMPT-30", "PROMPT-35", "API-32", "DATA-29"
)
async def test_a_spoken_turn_goes_through_the_tool(tmp_path: Path) -> None:
    engine = ScriptedEngine([LINE], generate=Agent("word " * 20 + "end."), threads=True)
    async with house(tmp_path, engine, config=FLOW_C) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            told = call.answer["sessionConfig"]
            assert (told["nativeReply"], told["audioOutputEnabled"]) == (False, True)
            await call.say(said(LINE))
            await until(lambda: call.messages("turn"), "decided", 20)
            await call.shows("speaking")
            await call.shows("listening")
            (live,) = home.gemini.sessions
            declared = live.setup["tools"][0]["functionDeclarations"]
            assert [one["name"] for one in declared] == ["advance_turn"]
            assert f"META sessionId={call.session_id}" in instruction(live)
            assert responses(live) == [{"mode": "ask", "text": "word " * 20 + "end."}]
            (stored,) = await home.stored(call.session_id)
            assert (stored["userText"], stored["text"]) == (LINE, "word " * 20 + "end.")
            assert len(call.messages("agenda")[-1]["coveredAngles"]) == 1
            assert len(call.heard()) / 32_000 > 1.0
            assert spoken_requests(home) == []
            assert not any(one["mayInterrupt"] for one in call.messages("status"))


@pytest.mark.req("VOICE-41")
async def test_the_ids_of_a_call_count_for_nothing(tmp_path: Path) -> None:
    """Bound is bound: the turn lands in this lesson's session."""
    script = Script().on("ready", tool_call("advance_turn", SAID, wait=False))
    engine = ScriptedEngine(generate=Agent(), threads=True)
    async with house(tmp_path, engine, script, config=FLOW_C) as home:
        ada = await home.person()
        async with ada.call(await ada.ground(), until_state="") as call:
            (stored,) = await home.stored(call.session_id)
            assert stored["userText"] == "It is memory."
            await until(lambda: home.gemini.sessions[0].tool_responses, "answered")
            assert responses(home.gemini.sessions[0]) == [{"mode": "ask", "text": ANSWER}]
            # The model does not say it: somebody else does.
            await until(lambda: spoken_requests(home) == [ANSWER], "said", 15)
            assert (await ada.turns("another")) == []


@pytest.mark.req("VOICE-42")
async def test_a_cancelled_call_writes_nothing(tmp_path: Path) -> None:
    agent = Agent()
    agent.gate.clear()
    cancelled = send({"toolCallCancellation": {"ids": ["call-1"]}})
    script = Script().on("ready", tool_call("advance_turn", SAID, wait=False))
    script.on("ready", cancelled, after_ms=700)
    engine = ScriptedEngine(generate=agent, threads=True)
    async with house(tmp_path, engine, script, config=FLOW_C) as home:
        ada = await home.person()
        async with ada.call(await ada.ground(), until_state="") as call:
            await until(lambda: agent.heard, "asked")
            await call.shows("listening")
            agent.gate.set()
            assert (await call.ask("And this?"))["saved"] is True
            told = [turn["userText"] for turn in await home.stored(call.session_id)]
            assert told == ["And this?"]
            assert home.gemini.sessions[0].tool_responses == []
            assert [turn["userText"] for turn in call.messages("turn")] == ["And this?"]


@pytest.mark.req("VOICE-43", "PROMPT-34")
async def test_noise_gets_a_noop_and_no_turn(tmp_path: Path) -> None:
    noise = {"learnerText": "(user said nothing / skipped)"}
    agent = Agent()
    script = Script().on("ready", tool_call("advance_turn", noise, wait=False))
    engine = ScriptedEngine(generate=agent, threads=True)
    async with house(tmp_path, engine, script, config=FLOW_C) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await until(lambda: home.gemini.sessions[0].tool_responses, "answered")
            assert responses(home.gemini.sessions[0]) == [{"noop": True}]
            assert (agent.heard, await ada.turns(call.session_id)) == ([], [])
            assert call.messages("turn") == []


@pytest.mark.req("VOICE-8", "VOICE-22")
async def test_another_tool_does_not_exist(tmp_path: Path) -> None:
    script = Script().on("ready", tool_call("delete_everything", {}, wait=False))
    async with house(tmp_path, script=script, config=FLOW_C) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()):
            await until(lambda: home.gemini.sessions[0].tool_responses, "answered")
            assert "error" in responses(home.gemini.sessions[0])[0]


@pytest.mark.speech
@pytest.mark.req("PROMPT-33", "VOICE-41")
async def test_a_call_that_fails_is_made_again_in_the_same_bubble(tmp_path: Path) -> None:
    agent = Agent()
    agent.broken = 3  # the agent's own attempts: the first call fails, the second does not
    engine = ScriptedEngine([LINE], generate=agent, threads=True)
    async with house(tmp_path, engine, config=FLOW_C) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await call.say(said(LINE))
            await until(lambda: call.messages("turn"), "decided", 30)
            (turn,) = call.messages("turn")
            assert (turn["userText"], turn["saved"]) == (LINE, True)
            outcomes = [set(one) for one in responses(home.gemini.sessions[0])]
            assert outcomes == [{"error"}, {"mode", "text"}]
            assert call.notices == []


@pytest.mark.speech
@pytest.mark.req("VOICE-41", "RTC-16")
async def test_a_model_that_forgets_its_tool_leaves_nobody_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("media.modes.agent_learner.CALL_S", 1.0)
    script = Script().on("turn", no_reply(), n=1)
    engine = ScriptedEngine([LINE], generate=Agent(), threads=True)
    async with house(tmp_path, engine, script, config=FLOW_C) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await call.say(said(LINE))
            await until(lambda: call.messages("turn"), "decided", 20)
            assert call.messages("turn")[0]["userText"] == LINE
            await until(lambda: spoken_requests(home) == [ANSWER], "said")
            await call.shows("listening")

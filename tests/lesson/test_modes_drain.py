"""A server that stops lets every kind of tutor end the sentence, and what was decided is stored."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from local_gemini.faults import refuse
from local_gemini.script import Script
from local_gemini.scripted import ScriptedEngine
from server import ending, way_back
from tests.lesson.modes import AGENT_VOICED, CAPTURE_TTS, FLOW_C, Agent
from tests.media.peers import until
from tests.rig import house

MODES: dict[str, dict[str, Any]] = {
    "agent-voiced": AGENT_VOICED,
    "capture-tts": CAPTURE_TTS,
    "flow-c": FLOW_C,
    "half-duplex": {},
}
REPLY = "word " * 24 + "end."


@pytest.mark.req("CARD-17", "RTC-19")
@pytest.mark.parametrize("mode", MODES)
async def test_the_sentence_ends_before_the_lesson_does(
    tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A sentence of a second and a half; slow machines may take their time with it.
    monkeypatch.setattr(ending, "SENTENCE_S", 15.0)
    # The way back is under way meanwhile, and ends nothing early.
    monkeypatch.setattr(way_back, "FIRST_S", 0.2)
    script = Script().on("connect", refuse(403)) if mode == "half-duplex" else None
    engine = ScriptedEngine(generate=Agent(REPLY), threads=True)
    async with house(tmp_path, engine, script, config=MODES[mode]) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            call.type("Go on.")
            await call.shows("speaking", 15)
            draining = asyncio.create_task(home.lessons.drain())
            await until(lambda: "restarts" in (call.notices or [""])[-1], "told at once")
            # What is typed now could not be answered any more.
            call.type("And this?")
            await draining
            await until(lambda: call.farewell, "closed")
            await until(lambda: call.farewell == "shutdown", "told why")
            assert len(call.heard()) / 32_000 > 1.3
            (turn,) = await home.stored(call.session_id)
            assert (turn["userText"], turn["text"]) == ("Go on.", REPLY)
            refused = call.messages("error-response")
            assert [one["error"] for one in refused] == ["This voice session is ending."]
        await home.empty()


@pytest.mark.req("CARD-17")
@pytest.mark.parametrize("mode", ["agent-voiced", "half-duplex"])
async def test_a_decision_under_way_is_not_waited_for_too_long(
    tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "SENTENCE_S", 0.5)
    agent = Agent()
    agent.gate.clear()
    script = Script().on("connect", refuse(403)) if mode == "half-duplex" else None
    engine = ScriptedEngine(generate=agent, threads=True)
    try:
        async with house(tmp_path, engine, script, config=MODES[mode]) as home:
            ada = await home.person()
            async with ada.call(await ada.ground()) as call:
                call.type("Why?")
                await until(lambda: agent.heard, "the agent thinks")
                async with asyncio.timeout(10):
                    await home.lessons.drain()
                await until(lambda: call.farewell == "shutdown", "closed")
                assert await ada.turns(call.session_id) == []
            agent.gate.set()
    finally:
        agent.gate.set()

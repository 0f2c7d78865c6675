"""The checklist follows every decision, whichever way it came about (AGND-16)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from local_gemini.faults import refuse, tool_call
from local_gemini.script import Script
from local_gemini.scripted import ScriptedEngine
from tests.lesson.modes import AGENT_VOICED, CAPTURE_TTS, FLOW_C, Agent
from tests.media.peers import until
from tests.rig import Call, House, Person, house


@asynccontextmanager
async def _lesson(
    tmp_path: Path, config: dict[str, Any], script: Script | None = None
) -> AsyncIterator[tuple[House, Person, Call]]:
    engine = ScriptedEngine(generate=Agent(), threads=True)
    async with house(tmp_path, engine, script, config=config) as home:
        ada = await home.person()
        async with ada.call(await ada.ground(), until_state="") as call:
            yield home, ada, call


async def _mirrored(home: House, call: Call) -> None:
    """The last agenda message is the stored state, with the point that was just covered."""
    stored = (await home.stored(call.session_id))[-1]["revealState"]
    await until(
        lambda: call.messages("agenda") and call.messages("agenda")[-1]["coveredAngles"], "told"
    )
    told = call.messages("agenda")[-1]
    assert told["agenda"] == stored["agenda"]
    assert told["coveredAngles"] == stored["coveredAngles"] == stored["agenda"][:1]
    assert told["complete"] is False


@pytest.mark.req("AGND-16", "OBS-29")
async def test_after_a_sync_of_a_native_exchange(tmp_path: Path) -> None:
    async with _lesson(tmp_path, {}) as (home, _, call):
        assert call.messages("agenda")[0]["coveredAngles"] == []
        await call.ask("It is memory.")
        await _mirrored(home, call)


@pytest.mark.req("AGND-16")
@pytest.mark.parametrize("config", [AGENT_VOICED, CAPTURE_TTS], ids=["agent-voiced", "tts"])
async def test_after_a_decision_of_a_capture_only_lesson(
    tmp_path: Path, config: dict[str, Any]
) -> None:
    async with _lesson(tmp_path, config) as (home, _, call):
        await call.ask("It is memory.")
        await _mirrored(home, call)


@pytest.mark.req("AGND-16", "VOICE-41")
async def test_after_a_call_of_flow_c(tmp_path: Path) -> None:
    said = {"learnerText": "It is memory."}
    script = Script().on("ready", tool_call("advance_turn", said, wait=False))
    async with _lesson(tmp_path, FLOW_C, script) as (home, _, call):
        await _mirrored(home, call)


@pytest.mark.req("AGND-16", "RTC-16")
async def test_after_a_turn_without_a_live_session(tmp_path: Path) -> None:
    async with _lesson(tmp_path, {}, Script().on("connect", refuse(403))) as (home, _, call):
        await call.ask("It is memory.")
        await _mirrored(home, call)


@pytest.mark.req("AGND-16")
async def test_a_typed_turn_over_http_answers_with_the_state(tmp_path: Path) -> None:
    async with _lesson(tmp_path, {}) as (home, ada, call):
        answer = await ada.ok(
            "dialogueTurn",
            sessionId=call.session_id,
            topicId=call.topic_id,
            userUtteranceSummary="It is memory.",
        )
        (stored,) = await home.stored(call.session_id)
        assert answer["updatedRevealState"] == stored["revealState"]
        assert len(stored["revealState"]["coveredAngles"]) == 1

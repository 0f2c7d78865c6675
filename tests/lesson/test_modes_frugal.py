"""One machine carries many lessons: each has built what its mode uses, and nothing of before."""

import gc
from pathlib import Path
from typing import Any

import pytest

from local_gemini.faults import refuse
from local_gemini.script import Script
from local_gemini.scripted import ScriptedEngine
from media.gate import Gate
from media.turns import Turns
from server import way_back
from server.agent_talk import AgentTalk
from server.conversation import Conversation
from server.turn_files import FOLDER
from tests.lesson.modes import AGENT_VOICED, CAPTURE_TTS, FLOW_C, Agent
from tests.media.peers import until
from tests.rig import house

KINDS = (Conversation, AgentTalk, Gate, Turns)


def alive() -> dict[str, int]:
    gc.collect()
    found = [type(one) for one in gc.get_objects() if type(one) in KINDS]
    return {kind.__name__: found.count(kind) for kind in KINDS}


def more(before: dict[str, int]) -> dict[str, int]:
    return {name: count - before[name] for name, count in alive().items() if count - before[name]}


@pytest.mark.req("VOICE-1", "RTC-16")
@pytest.mark.parametrize(
    ("config", "built"),
    [
        ({}, {"Conversation": 1, "Gate": 1, "Turns": 1}),
        (AGENT_VOICED, {"AgentTalk": 1, "Gate": 1}),
        (CAPTURE_TTS, {"AgentTalk": 1, "Gate": 1}),
        (FLOW_C, {"AgentTalk": 1, "Gate": 1}),
    ],
    ids=["native", "agent-voiced", "capture-tts", "flow-c"],
)
async def test_a_lesson_has_one_talk_of_its_mode(
    tmp_path: Path, config: dict[str, Any], built: dict[str, int]
) -> None:
    before = alive()
    async with house(tmp_path, ScriptedEngine(generate=Agent()), config=config) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()):
            assert more(before) == built


@pytest.mark.req("RTC-16")
@pytest.mark.parametrize("logged", [False, True])
async def test_a_talk_that_was_replaced_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, logged: bool
) -> None:
    """A log of turns is that of one machine, and ends with it."""
    monkeypatch.setattr(way_back, "FIRST_S", 1.5)
    monkeypatch.setattr(way_back, "STEADY_S", 0.2)
    script = Script().on("connect", refuse(403), session=2, times=1)
    engine = ScriptedEngine(generate=Agent(), replies=[["Yes."]], threads=True)
    before = alive()
    async with house(tmp_path, engine, script, turn_logs=logged) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await call.ask("First.")
            await call.shows("listening")
            (lesson,) = home.lessons.running()
            # The service drops the session, and refuses the next.
            lesson._live.link.renew()
            await until(lambda: call.messages("notice"), "told", 10)
            assert logged or more(before) == {"AgentTalk": 1, "Gate": 1}
            await until(lambda: len(call.messages("notice")) == 2, "back", 15)
            assert (await call.ask("Second."))["saved"] is True
            assert logged or more(before) == {"Conversation": 1, "Gate": 1, "Turns": 1}
            _, answer = await home.admin.get("/api/admin/lessons")
            assert answer["lessons"][0]["turns"] == 2
        await home.empty()
        files = list((home.ctx.settings.data_dir / FOLDER).glob("*.jsonl"))
        assert len(files) == logged
        first, second = (turn["turnId"].split("-")[0] for turn in call.messages("turn"))
        for file in files:
            assert (first in file.read_text(), second in file.read_text()) == (True, False)

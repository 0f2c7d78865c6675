"""A Live session that another process left behind is gone on with only as what it was: the same
mode, model, voice and style."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from local_gemini.scripted import ScriptedEngine
from server.store.records import voice_session_path
from tests.lesson.modes import AGENT_VOICED, Agent
from tests.media.peers import until
from tests.rig import Call, House, house


async def _left(home: House, call: Call) -> None:
    """The lesson ends as with its process: its handle stays in the store."""
    (lesson,) = home.lessons.running()
    lesson.stop("shutdown")
    await home.empty()
    deadline = asyncio.get_running_loop().time() + 5
    while (await home.ctx.store.get(voice_session_path(call.session_id))) is None:
        assert asyncio.get_running_loop().time() < deadline
        await asyncio.sleep(0.02)


@pytest.mark.req("VOICE-4", "VOICE-53", "VOICE-58", "VOICE-65")
@pytest.mark.parametrize(
    ("change", "resumed"),
    [
        ({}, True),
        ({"liveVadSilenceDurationMs": 900}, True),
        ({"liveVoiceName": "Kore"}, False),
        ({"liveModel": "gemini-3.8-live-extended-thinking"}, False),
        (AGENT_VOICED, False),
        ("lecture", False),
    ],
    ids=["nothing", "detection", "voice", "model", "mode", "style"],
)
async def test_what_was_left_is_taken_up_unless_it_would_be_another(
    tmp_path: Path, change: dict[str, Any] | str, resumed: bool
) -> None:
    engine = ScriptedEngine(generate=Agent(), threads=True)
    async with house(tmp_path, engine, config={"liveVoiceName": "Puck"}) as home:
        ada = await home.person()
        topic = await ada.ground()
        async with ada.call(topic) as call:
            assert (await call.ask("Before."))["saved"] is True
            await _left(home, call)
        if isinstance(change, str):
            await ada.ok("setSessionStyle", sessionId=call.session_id, style=change)
        else:
            await home.ctx.store.set("config/app", {"liveVoiceName": "Puck", **change})
            home.ctx.config.forget()
        async with ada.call(topic, call.session_id) as again:
            first, second = home.gemini.sessions
            assert second.resumed is resumed
            handle = (second.setup.get("sessionResumption") or {}).get("handle")
            assert (handle in first.handles) is resumed
            assert (await again.ask("After."))["saved"] is True
            stored = await ada.turns(call.session_id)
            assert [turn["userText"] for turn in stored] == ["Before.", "After."]


@pytest.mark.req("VOICE-4", "VOICE-54")
async def test_the_handle_is_of_the_style_that_was_chosen_on_the_way(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        ada = await home.person()
        topic = await ada.ground()
        async with ada.call(topic) as call:
            await call.ask("Before.")
            call.act("style", style="lecture")
            await until(lambda: [one.handles for one in home.gemini.sessions[1:]], "renewed")
            assert (await call.ask("In the new style."))["saved"] is True
            await _left(home, call)
        async with ada.call(topic, call.session_id):
            assert home.gemini.sessions[-1].resumed is True

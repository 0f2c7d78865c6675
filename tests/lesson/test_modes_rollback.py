"""The mode follows the configuration at each offer, in the same process (VOICE-58)."""

from pathlib import Path
from typing import Any

import pytest

from local_gemini.scripted import ScriptedEngine
from tests.lesson.modes import ANSWER, FLOW_C, LEGACY, Agent, instruction
from tests.rig import House, house

NATIVE, CAPTURE, TOOL = "TUTOR STATE UPDATE", "CAPTURE ONLY", "advance_turn"


async def _configure(home: House, **config: Any) -> None:
    await home.ctx.store.set("config/app", config)
    home.ctx.config.forget()


@pytest.mark.req("VOICE-1", "VOICE-2", "VOICE-58", "DATA-29", "DATA-43", "DATA-44", "DATA-45")
@pytest.mark.parametrize(
    ("config", "mark", "native"),
    [
        ({}, NATIVE, True),
        ({"liveModel": "gemini-3.8-live-extended-thinking"}, NATIVE, True),
        ({"liveModel": LEGACY}, CAPTURE, False),
        ({"liveNativeReply": False}, CAPTURE, False),
        ({"liveNativeReply": False, "liveAudioOutputEnabled": True}, CAPTURE, False),
        (FLOW_C, TOOL, False),
        ({**FLOW_C, "liveAgentVoiceEnabled": True}, CAPTURE, False),
        ({**FLOW_C, "liveModel": "gemini-3.8-live"}, CAPTURE, False),
        ({**FLOW_C, "liveAudioOutputEnabled": False}, CAPTURE, False),
    ],
    ids=str,
)
async def test_the_mode_of_a_configuration(
    tmp_path: Path, config: dict[str, Any], mark: str, native: bool
) -> None:
    async with house(tmp_path, config=config) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            (live,) = home.gemini.sessions
            for word in (NATIVE, CAPTURE, TOOL):
                assert (word in instruction(live)) is (word == mark)
            assert call.answer["sessionConfig"]["nativeReply"] is native
            assert call.answer["sessionConfig"]["model"] == config.get(
                "liveModel", "gemini-3.8-live"
            )


@pytest.mark.req("VOICE-58", "DATA-45", "GOTCHA-16")
async def test_a_rollback_is_for_the_next_call_and_needs_no_restart(tmp_path: Path) -> None:
    engine = ScriptedEngine(replies=[["I answer."]], generate=Agent(), threads=True)
    async with house(tmp_path, engine) as home:
        ada = await home.person()
        topic = await ada.ground()
        async with ada.call(topic) as running:
            assert (await running.ask("First."))["text"] == "I answer."
            await _configure(home, liveNativeReply=False)
            # What runs stays as it is, also when its Live session has to be opened anew.
            assert (await running.ask("Second."))["text"] == "I answer."
            async with ada.call(topic) as legacy:
                assert (await legacy.ask("Third."))["text"] == ANSWER
            await _configure(home)
            async with ada.call(topic) as native:
                assert (await native.ask("Fourth."))["text"] == "I answer."
            assert (await running.ask("Fifth."))["text"] == "I answer."


@pytest.mark.req("VOICE-58", "RTC-17")
async def test_a_new_offer_for_a_running_lesson_follows_the_configuration(tmp_path: Path) -> None:
    engine = ScriptedEngine(replies=[["I answer."]], generate=Agent(), threads=True)
    async with house(tmp_path, engine) as home:
        ada = await home.person()
        topic = await ada.ground()
        async with ada.call(topic) as first:
            await first.ask("First.")
            await _configure(home, liveNativeReply=False)
            async with ada.call(topic, first.session_id) as second:
                assert second.answer["sessionConfig"]["nativeReply"] is False
                assert (await second.ask("Second."))["text"] == ANSWER
                told = [turn["userText"] for turn in await home.stored(first.session_id, 2)]
                assert told == ["First.", "Second."]
                assert len(home.lessons) == 1


@pytest.mark.req("VOICE-57", "RTC-17")
async def test_a_lesson_needs_a_topic(tmp_path: Path) -> None:
    async with house(tmp_path, config={"liveNativeReply": False}) as home:
        ada = await home.person()
        status, answer = await ada.offer("v=0", "s-1", "")
        assert (status, answer["error"]["code"]) == (400, "invalid-argument")
        assert home.gemini.sessions == []

"""A new style during a lesson: the conversation goes on, and the next reply has it."""

from pathlib import Path
from typing import Any

import pytest

from local_gemini.scripted import ScriptedEngine
from tests.lesson.modes import AGENT_VOICED, Agent, instruction
from tests.media.peers import until
from tests.rig import Call, House, Person, house

NEXT = "Style changes apply from the next reply."


async def _change(ada: Person, call: Call, way: str) -> None:
    if way == "http":
        await ada.ok("setSessionStyle", sessionId=call.session_id, style="lecture")
    else:
        call.act("style", style="lecture")


async def _renewed(home: House, count: int = 2) -> Any:
    await until(lambda: len(home.gemini.sessions) == count, "another session")
    await until(lambda: home.gemini.sessions[-1].ready, "open")
    return home.gemini.sessions[-1]


@pytest.mark.req("VOICE-54", "RTC-16", "PROMPT-21")
@pytest.mark.parametrize("way", ["channel", "http"])
async def test_a_new_session_takes_over_with_the_style_and_what_was_said(
    tmp_path: Path, way: str
) -> None:
    engine = ScriptedEngine(replies=[["Yes, indeed."]])
    async with house(tmp_path, engine) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await call.ask("First.")
            await call.shows("listening")
            await _change(ada, call, way)
            fresh = await _renewed(home)
            assert "STYLE: Lecture" in instruction(fresh)
            await until(lambda: len(fresh.seeds) == 2, "seeded")
            assert (fresh.resumed, fresh.seeds) == (
                False,
                [("user", "First."), ("model", "Yes, indeed.")],
            )
            await until(lambda: call.notices == [NEXT], "told")
            assert (await call.ask("Second."))["saved"] is True
            assert fresh.prompts == ["Second."]
            assert "reconnecting" not in call.states
            assert call.farewell == ""
        await home.empty()


@pytest.mark.req("VOICE-54", "OBS-24")
async def test_what_is_not_stored_yet_is_known_all_the_same(tmp_path: Path) -> None:
    agent = Agent()
    engine = ScriptedEngine(replies=[["Yes, indeed."]], generate=agent, threads=True)
    async with house(tmp_path, engine) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await call.ask("First.")
            agent.gate.clear()
            call.type("Second.")
            await until(lambda: len(call.messages("bot-transcription")) == 2, "answered")
            await call.shows("listening")
            call.act("style", style="lecture")
            fresh = await _renewed(home)
            await until(lambda: len(fresh.seeds) == 4, "seeded")
            agent.gate.set()
            assert fresh.seeds == [
                ("user", "First."),
                ("model", "Yes, indeed."),
                ("user", "Second."),
                ("model", "Yes, indeed."),
            ]
            assert len(await home.stored(call.session_id, 2)) == 2


@pytest.mark.req("VOICE-54", "RTC-12")
async def test_a_change_in_the_middle_of_a_reply_waits_for_its_end(tmp_path: Path) -> None:
    engine = ScriptedEngine(replies=[["word " * 25 + "end."], ["Short."]])
    async with house(tmp_path, engine) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            call.type("Go on.")
            await call.shows("speaking")
            call.act("style", style="lecture")
            await until(lambda: call.notices == [NEXT], "told at once")
            assert (call.state, len(home.gemini.sessions)) == ("speaking", 1)
            await call.shows("listening")
            fresh = await _renewed(home)
            assert call.messages("interrupted") == []
            assert "STYLE: Lecture" in instruction(fresh)


@pytest.mark.req("VOICE-54", "UI-36", "DATA-17", "GOTCHA-8")
async def test_a_style_before_the_first_turn_is_kept_and_stored_with_it(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            call.act("style", style="lecture")
            fresh = await _renewed(home)
            assert "STYLE: Lecture" in instruction(fresh)
            assert await ada.turns(call.session_id) == []
            await call.ask("First.")
            assert (await ada.session(call.session_id))["style"] == "lecture"
            call.act("style", style="conversational")
            fresh = await _renewed(home, 3)
            assert "STYLE: Conversational" in instruction(fresh)


@pytest.mark.req("VOICE-54")
@pytest.mark.parametrize("way", ["channel", "http"])
async def test_where_the_agent_replies_the_session_stays(tmp_path: Path, way: str) -> None:
    seen: list[str] = []
    agent = Agent()

    def listen(model: str, request: Any) -> str | None:
        answer = agent(model, request)
        if answer is not None:
            seen.append(str(request.get("systemInstruction")))
        return answer

    engine = ScriptedEngine(generate=listen, threads=True)
    async with house(tmp_path, engine, config=AGENT_VOICED) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await call.ask("First.")
            await call.shows("listening")
            await _change(ada, call, way)
            await until(lambda: call.notices == [NEXT], "told")
            await call.ask("Second.")
            assert "STYLE: Lecture" not in seen[0]
            assert "STYLE: Lecture" in seen[1]
            assert len(home.gemini.sessions) == 1
            assert call.farewell == ""

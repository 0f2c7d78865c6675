"""Lessons by the agent outlive their peer as well: the reply goes on for whoever comes back."""

import uuid
from pathlib import Path
from typing import Any

import pytest

from local_gemini.faults import refuse
from local_gemini.script import Script
from local_gemini.scripted import ScriptedEngine
from tests.lesson.modes import AGENT_VOICED, FLOW_C, Agent
from tests.media.peers import until
from tests.rig import Call, house

WORDS = 140  # of 60 ms each
REPLY = "word " * (WORDS - 1) + "end."


@pytest.mark.req("RTC-4", "RTC-21")
@pytest.mark.parametrize("config", [AGENT_VOICED, FLOW_C], ids=["agent-voiced", "flow-c"])
async def test_a_network_change_mid_reply_loses_none_of_it(
    tmp_path: Path, config: dict[str, Any]
) -> None:
    """T12: what was played into the dead line is played again; nothing is asked twice."""
    agent = Agent(REPLY)
    async with house(tmp_path, ScriptedEngine(generate=agent, threads=True), config=config) as home:
        ada = await home.person()
        topic = await ada.ground()
        async with ada.call(topic) as old:
            old.type("Go on.")
            await old.hears(0.5)
            heard_s = len(old.heard()) / 32_000
            await old.vanish()
            (lesson,) = home.lessons.running()
            # Noticed as lost: nothing more is played into it.
            await until(lambda: lesson.vitals.line is None, "noticed", 10)
            new = Call(ada, topic, old.session_id)
            try:
                await new.join(until_state="")
                await until(lambda: "bot-stopped-speaking" in new.kinds, "to its end", 20)
                assert len(new.heard()) / 32_000 >= WORDS * 0.06 - heard_s - 0.5
                assert (agent.heard, new.messages("notice")) == (["Go on."], [])
                assert len(await home.stored(old.session_id)) == 1
                assert (await new.ask("And then?"))["saved"] is True
            finally:
                await new.hang_up()
        assert len(home.gemini.sessions) == 1


@pytest.mark.req("RTC-4", "RTC-15")
async def test_another_window_takes_over_while_the_agent_decides(tmp_path: Path) -> None:
    agent = Agent()
    agent.gate.clear()
    async with house(
        tmp_path, ScriptedEngine(generate=agent, threads=True), config=AGENT_VOICED
    ) as home:
        ada = await home.person()
        topic = await ada.ground()
        async with ada.call(topic) as first:
            first.type("Why?")
            await until(lambda: agent.heard, "the agent thinks")
            async with ada.call(topic, first.session_id, until_state="formulating") as second:
                await until(lambda: first.farewell == "replaced", "told why")
                agent.gate.set()
                await until(lambda: second.messages("turn"), "decided")
                assert second.messages("turn")[0]["saved"] is True
                await second.hears(0.2)
                assert first.messages("turn") == []
                assert agent.heard == ["Why?"]


@pytest.mark.req("RTC-4", "RTC-16")
async def test_a_new_page_of_a_half_duplex_lesson_tries_the_service_at_once(
    tmp_path: Path,
) -> None:
    """It does not wait for the way back; what was said is known."""
    script = Script().on("connect", refuse(403), times=1)
    async with house(tmp_path, ScriptedEngine(generate=Agent(), threads=True), script) as home:
        ada = await home.person()
        topic = await ada.ground()
        async with ada.call(topic, str(uuid.uuid4())) as first:
            await first.ask("Hello?")
            async with ada.call(topic, first.session_id) as call:
                assert call.messages("notice") == []
                assert (await call.ask("And now?"))["saved"] is True
                assert home.gemini.sessions[-1].seeds[0] == ("user", "Hello?")
        await home.empty()

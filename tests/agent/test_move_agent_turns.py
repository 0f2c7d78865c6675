"""One turn of the move agent among others: nothing shared, nothing held up, always an end."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from google.adk.models.llm_request import LlmRequest

from agent.failures import EmptyAnswer, ModelTimeout, NoDecision
from agent.move import MoveAgent
from tests.agent.conftest import Bench, Ledger
from tests.agent.scripted_llm import Scripted, agent_with
from tests.agent.topics import TOPIC, decision, request_for

pytestmark = pytest.mark.req("TEST-3")


@pytest.mark.req("MOVE-1")
async def test_it_runs_without_any_network() -> None:
    got = await agent_with(Scripted([decision()])).decide(request_for(), Ledger())
    assert got.mode == "ask"


@pytest.mark.req("MOVE-10")
async def test_no_session_outlives_its_turn() -> None:
    agent = agent_with(Scripted([decision(), "bad", "bad", "bad"]))
    await agent.decide(request_for(), Ledger())
    with pytest.raises(NoDecision):
        await agent.decide(request_for(), Ledger())
    left = await agent._mind.sessions.list_sessions(app_name="pidjin", user_id="learner")
    assert left.sessions == []


@pytest.mark.req("MOVE-11")
async def test_a_model_that_raises_empty_is_retried() -> None:
    llm = Scripted([EmptyAnswer("STOP", ("thought",)), decision()])
    assert (await agent_with(llm).decide(request_for(), Ledger())).mode == "ask"
    assert len(llm.requests) == 2


async def test_turns_do_not_see_each_other() -> None:
    async def echo(request: LlmRequest) -> str:
        await asyncio.sleep(0)
        system = str(request.config.system_instruction)
        digest = system.split("GROUNDED DIGEST:\n| ")[1].split("\n")[0]
        parts = request.contents[-1].parts or []
        assert digest in (parts[0].text or "")
        return decision(digest)

    agent = agent_with(Scripted([echo] * 20))
    topics = [replace(TOPIC, digest=f"digest number {n:02}") for n in range(20)]
    got = await asyncio.gather(
        *(agent.decide(request_for(topic, utterance=topic.digest), Ledger()) for topic in topics)
    )
    assert [d.text for d in got] == [topic.digest for topic in topics]


async def test_a_waiting_model_does_not_hold_up_other_lessons(bench: Bench) -> None:
    """Two places for agent work, but ten turns may wait for the model at once."""
    waiting, release = asyncio.Event(), asyncio.Event()
    inside = 0

    async def hold(stage: Any) -> None:
        nonlocal inside
        inside += 1
        if inside == 10:
            waiting.set()
        await release.wait()

    bench.local.script.on("generate", hold)
    bench.answers += [decision()] * 10
    agent = MoveAgent(bench.gateway)
    async with asyncio.TaskGroup() as group:
        turns = [group.create_task(agent.decide(request_for(), bench.ledger)) for _ in range(10)]
        async with asyncio.timeout(10):
            await waiting.wait()
        release.set()
    assert {t.result().mode for t in turns} == {"ask"}


async def test_a_cancelled_turn_gives_its_place_back(bench: Bench) -> None:
    started, release = asyncio.Event(), asyncio.Event()

    async def hold(stage: Any) -> None:
        started.set()
        await release.wait()

    agent = MoveAgent(bench.gateway)
    for _ in range(3):
        started.clear()
        bench.local.script.on("generate", hold, times=1)
        turn = asyncio.ensure_future(agent.decide(request_for(), bench.ledger))
        await started.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
    release.set()
    bench.answers.append(decision())
    async with asyncio.timeout(10):
        assert (await agent.decide(request_for(), bench.ledger)).mode == "ask"
    left = await agent._mind.sessions.list_sessions(app_name="pidjin", user_id="learner")
    assert left.sessions == []


def test_a_turn_has_a_deadline() -> None:
    from tests.virtual_time import run_virtual

    async def forever(_: LlmRequest) -> str:
        await asyncio.sleep(10_000)
        return decision()

    async def main() -> float:
        loop = asyncio.get_running_loop()
        started = loop.time()
        with pytest.raises(ModelTimeout):
            await agent_with(Scripted([forever])).decide(request_for(), Ledger())
        return loop.time() - started

    assert run_virtual(main()) == pytest.approx(55.0, abs=0.5)


async def test_warming_needs_no_network() -> None:
    await agent_with(Scripted([])).warm()

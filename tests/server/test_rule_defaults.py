"""Two defaults of `config/app` that decide what a turn may do: the daily cap, the agenda gate."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from server.config import AppConfig
from tests.server.world import World, decision


@pytest.mark.req("DATA-52", "AUTH-20")
async def test_the_thousandth_call_of_a_day_is_the_last(world: World) -> None:
    assert AppConfig().daily_gemini_call_cap == 1000
    learner = await world.learner()
    topic_id = await learner.ground()
    for _ in range(998):
        await world.ctx.quota.admit(learner.uid)
    assert await world.calls(learner) == 999
    await learner.turn(topic_id)
    assert await world.calls(learner) == 1000
    body = {"sessionId": "s1", "topicId": topic_id, "userUtteranceSummary": "?"}
    assert await learner.refused("dialogueTurn", **body) == "resource-exhausted"
    assert world.clock.now() < datetime(2026, 1, 16, tzinfo=UTC)


@pytest.mark.req("DATA-57", "AGND-10")
@pytest.mark.parametrize("enforced", [None, False, True])
async def test_an_early_conclude_passes_unless_the_agenda_is_enforced(
    world: World, enforced: bool | None
) -> None:
    assert AppConfig().enforce_agenda_completion is False
    learner = await world.learner()
    topic_id = await learner.ground()
    if enforced is not None:
        await world.configure(enforceAgendaCompletion=enforced)
    world.model.moves = [decision("conclude", covered=["The moon"])]
    answer = await learner.turn(topic_id)
    assert answer["mode"] == ("probe" if enforced else "conclude")

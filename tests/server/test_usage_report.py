"""Calls of the last 24 hours, from counters that are kept per UTC day."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from server.store.records import spending_path
from server.usage_report import summed
from tests.server.news_world import per_theme
from tests.server.world import World

SINCE = datetime(2026, 1, 14, 12, tzinfo=UTC)


def counter(uid: str, last: str, calls: int = 1, **tokens: int) -> dict[str, Any]:
    named = {f"gemini{name}Tokens": count for name, count in tokens.items()}
    return {"uid": uid, "date": "-", "geminiCallCount": calls, "lastCallAt": last, **named}


@pytest.mark.req("UI-47", "UI-48")
def test_counters_of_two_days_are_summed_per_user_busiest_first() -> None:
    rows = summed(
        [
            counter("ada", "2026-01-14T12:00:00.001Z", 2, Input=10, Total=11),
            counter("ada", "2026-01-15T09:00:00.000Z", 3, Input=5, Thought=1),
            counter("bo", "2026-01-15T08:00:00.000Z", 9),
            counter("cy", "2026-01-14T12:00:00.000Z", 99, Input=1),
        ],
        SINCE,
    )
    assert rows == [
        {"uid": "bo", "geminiCallCount": 9, "lastCallAt": "2026-01-15T08:00:00.000Z"},
        {
            "uid": "ada",
            "geminiCallCount": 5,
            "lastCallAt": "2026-01-15T09:00:00.000Z",
            "geminiInputTokens": 15,
            "geminiTotalTokens": 11,
            "geminiThoughtTokens": 1,
        },
    ]


def test_money_is_summed_in_whole_nano_dollars_and_told_in_dollars() -> None:
    spent = {"costNano": 1_250_000, "unpricedTokens": 7}
    first = counter("ada", "2026-01-14T13:00:00.000Z") | spent
    second = counter("ada", "2026-01-15T09:00:00.000Z") | spent
    before = counter("bo", "2026-01-15T08:00:00.000Z")
    rows = {row["uid"]: row for row in summed([first, second, before], SINCE)}
    assert (rows["ada"]["costUsd"], rows["ada"]["unpricedTokens"]) == (0.0025, 14)
    assert {"costUsd", "unpricedTokens", "costNano"}.isdisjoint(rows["bo"])


@pytest.mark.req("UI-47", "UI-48", "PIPE-20", "API-48")
async def test_the_last_24_hours_with_names(world: World) -> None:
    admin, learner = await world.admin(), await world.learner("Ada")
    ghost = await world.learner("Ghost", "ghost@example.org")
    world.model.news = per_theme()
    await learner.ground()
    await ghost.ground()
    await world.ctx.store.delete(f"users/{ghost.uid}")
    world.clock.advance(hours=13)
    await admin.call("scheduledNewsPipeline")
    await learner.ground("Other", "Another text.")
    _, answer = await admin.get("/api/admin/usage")
    assert answer["since"] == "2026-01-15T01:00:00.000Z"
    rows = {row["uid"]: row for row in answer["usage"]}
    assert [row["uid"] for row in answer["usage"]][:2] == ["scheduler", learner.uid]
    assert rows["scheduler"]["displayName"] == "Scheduled news"
    assert rows[learner.uid]["geminiCallCount"] == 2
    assert rows[learner.uid]["displayName"] == "Ada"
    assert rows[learner.uid]["email"] == "ada@example.org"
    assert rows[learner.uid]["geminiInputTokens"] > 0
    assert rows[learner.uid]["costUsd"] == 0  # the local tutor is free
    dear = spending_path(learner.uid, "20260115")
    await world.ctx.store.set(dear, {"uid": learner.uid, "date": "20260115", "costNano": 5_000_000})
    _, later = await admin.get("/api/admin/usage")
    assert {row["uid"]: row for row in later["usage"]}[learner.uid]["costUsd"] == 0.005
    assert {"displayName", "email"}.isdisjoint(rows[ghost.uid])
    world.clock.advance(hours=11)
    admin = await world.admin()  # a bearer lasts a day
    _, answer = await admin.get("/api/admin/usage")
    assert {row["uid"] for row in answer["usage"]} == {"scheduler", learner.uid}
    world.clock.advance(hours=13)
    admin = await world.admin()
    assert (await admin.get("/api/admin/usage"))[1]["usage"] == []
    status, answer = await admin.get("/api/admin/usage?date=20260115")
    assert (status, answer["date"]) == (200, "20260115")
    assert {row["uid"] for row in answer["usage"]} == {learner.uid, ghost.uid}

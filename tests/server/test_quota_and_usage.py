"""The daily cap and the counters behind it."""

from __future__ import annotations

import asyncio
import logging

import pytest

from agent.usage import TokenUsage
from server.operations.table import OPERATIONS
from server.prices import FREE, NANO, PRICES_OF, Rates, rates_of
from server.store.records import spending_path
from server.usage import Tally
from tests.server.world import DOCUMENT, World, is_move


@pytest.mark.req("AUTH-20", "AUTH-21", "API-3", "RTC-2")
async def test_at_the_cap_every_capped_operation_is_refused_unbilled(world: World) -> None:
    admin = await world.admin()
    topic_id = await admin.ground()
    await admin.turn(topic_id)
    asked = len(world.model.requests)
    await world.configure(dailyGeminiCallCap=2)
    requests = {
        "groundTopic": {"topic": "New"},
        "groundDocument": {"title": "New", "text": "New."},
        "dialogueTurn": {"sessionId": "s1", "topicId": topic_id, "userUtteranceSummary": "?"},
        "getLiveSessionToken": {"sessionId": "s1", "topicId": topic_id},
        "speakText": {"text": "Hello."},
    }
    assert set(requests) == {operation.name for operation in OPERATIONS if operation.quota}
    for name, body in requests.items():
        status, answer = await admin.post(f"/api/{name}", body)
        assert (status, answer["error"]["code"]) == (429, "resource-exhausted")
        assert answer["error"]["details"] == {"reason": "daily-cap", "dailyCap": 2}
        assert await admin.refused(name) == "invalid-argument"  # input is checked first
    foreign = {**requests["dialogueTurn"], "topicId": "f" * 64}
    assert await admin.refused("dialogueTurn", **foreign) == "failed-precondition"
    assert len(world.model.requests) == asked
    assert await world.calls(admin) == 2
    cached = await admin.call("groundDocument", title="Tides", text=DOCUMENT)
    assert cached["fromCache"] is True
    await admin.call("mintInvite")


@pytest.mark.req("AUTH-20")
async def test_the_next_utc_day_starts_anew_and_the_wait_is_told(world: World) -> None:
    learner = await world.learner()
    await world.configure(dailyGeminiCallCap=1)
    await learner.call("groundTopic", topic="A")
    headers = {"Authorization": f"Bearer {learner.token}"}
    async with world.client.post(
        "/api/groundTopic", json={"topic": "B"}, headers=headers
    ) as response:
        assert response.status == 429
        assert 12 * 3600 <= int(response.headers["Retry-After"]) <= 12 * 3600 + 1
    world.clock.advance(hours=12)
    assert (await learner.call("groundTopic", topic="B"))["fromCache"] is False


@pytest.mark.req("AUTH-17", "AUTH-18", "DATA-24", "MOVE-18", "API-50")
async def test_a_usage_document_has_exactly_these_fields(world: World) -> None:
    learner = await world.learner()
    topic_id = await learner.ground()
    world.clock.advance(seconds=5)
    await learner.turn(topic_id)
    await learner.call("getLiveSessionToken", sessionId="s1", topicId=topic_id)
    usage = await world.stored(f"usage/{learner.uid}_20260115")
    assert usage is not None
    tokens = {name: usage.pop(name) for name in list(usage) if name.endswith("Tokens")}
    assert usage == {
        "uid": learner.uid,
        "date": "20260115",
        "geminiCallCount": 3,
        "lastCallAt": "2026-01-15T12:00:05.000Z",
    }
    assert set(tokens) == {
        f"gemini{name}Tokens" for name in ("Input", "Output", "Thought", "Cached", "Total")
    }
    assert all(isinstance(count, int) for count in tokens.values())
    assert tokens["geminiInputTokens"] > 0


@pytest.mark.req("AUTH-18", "RTC-23")
async def test_reports_add_up_and_none_is_lost_in_a_race(world: World) -> None:
    usage = TokenUsage(input=11, output=7, thoughts=3, cached=2, total=21)
    reports = (world.ctx.usage.record("u1", "live", "gemini-3.8-live", usage) for _ in range(6))
    await asyncio.gather(*reports)
    stored = await world.stored("usage/u1_20260115")
    assert stored is not None
    assert [stored[f"gemini{n}Tokens"] for n in ("Input", "Output", "Thought", "Cached")] == [
        66,
        42,
        18,
        12,
    ]
    assert stored["geminiCallCount"] == 0


@pytest.mark.req("AUTH-19")
async def test_every_response_is_one_log_line_without_words(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "server")
    learner = await world.learner()
    topic_id = await learner.ground()
    await learner.turn(topic_id, "Nobody may read this")
    records = [record for record in caplog.records if record.message == "gemini_usage"]
    assert [record.handler for record in records] == ["groundDocument", "dialogueTurn"]  # type: ignore[attr-defined]
    for record in records:
        assert isinstance(record.total_tokens, int)  # type: ignore[attr-defined]
        assert "Nobody may" not in str(vars(record))


@pytest.mark.parametrize(
    ("rates", "told"),
    [
        (FREE, {"model": "local-tutor", "asked": "gemini-3.8-flash", "usd": 0.0}),
        (rates_of("gemini-3.8-flash", PRICES_OF), {"model": "gemini-3.8-flash", "usd": 0.004125}),
        (None, {"model": "gemini-3.8-flash"}),
    ],
    ids=["local", "google", "unknown price"],
)
def test_the_usage_line_names_who_answered_and_what_it_cost(
    rates: Rates | None, told: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="server.usage")
    tally = Tally(lambda model: rates)
    usage = TokenUsage(input=500, output=900, thoughts=100, total=1500)
    tally.sink("dialogueTurn", "gemini-3.8-flash", usage)
    tally.sink("dialogueTurn", "gemini-3.8-flash", usage)
    for record in caplog.records:
        line = {name: vars(record).get(name) for name in ("model", "asked", "usd")}
        assert {name: value for name, value in line.items() if value is not None} == told
    cost = told.get("usd")
    priced = isinstance(cost, float)
    assert tally.bill.nano == (round(2 * cost * NANO) if priced else 0)
    assert tally.bill.unpriced == (0 if priced else 3000)
    assert tally.bill.tokens.total == 3000


async def test_a_report_of_a_live_session_adds_its_price(world: World) -> None:
    """Sound costs what sound costs; what nobody knows the price of is counted apart."""
    ledger, usage = world.ctx.usage, TokenUsage(input=10, output=20, total=30)
    await ledger.record("ada", "live", "gemini-3.8-live", usage, None, 270_000)
    await ledger.record("ada", "live", "gemini-9-live", usage)
    doc = await world.ctx.store.get(spending_path("ada", "20260115"))
    assert doc is not None
    assert doc.data == {
        "uid": "ada",
        "date": "20260115",
        "costNano": 270_000,
        "unpricedTokens": 30,
    }


@pytest.mark.req("RULES-8")
async def test_usage_is_for_admins_only(world: World) -> None:
    learner, admin = await world.learner(), await world.admin()
    await learner.ground()
    assert (await learner.get("/api/admin/usage"))[0] == 403
    _, today = await admin.get("/api/admin/usage")
    assert [row["uid"] for row in today["usage"]] == [learner.uid]
    assert (await admin.get("/api/admin/usage?date=20260114"))[1]["usage"] == []


@pytest.mark.req("DATA-27", "DATA-28", "DATA-53", "DATA-54", "DATA-58")
async def test_configured_models_and_levels_reach_the_service(world: World) -> None:
    learner = await world.learner()
    await world.configure(
        groundModel="ground-x",
        textModel="text-x",
        groundingThinkingLevel="high",
        dialogueThinkingLevel="medium",
    )
    await learner.turn(await learner.ground())
    for model, request in world.model.requests:
        move = is_move(request)
        assert model.removeprefix("models/") == ("text-x" if move else "ground-x")
        config = request["generationConfig"]
        assert config["maxOutputTokens"] == 2048
        thinking = {k.replace("_", "").lower(): v for k, v in config["thinkingConfig"].items()}
        assert thinking["thinkinglevel"].lower() == ("medium" if move else "high")

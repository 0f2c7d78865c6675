"""`getLiveSessionToken`, and the one composition of a Live session behind it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from server.callers import Caller
from server.identity.port import Identity
from server.live_setup import compose_live
from server.roles import Role
from tests.server.world import CANARY, Person, World, decision

SESSION_CONFIG = {
    "model": "gemini-3.8-live",
    "vad": {
        "enabled": True,
        "silenceDurationMs": 1500,
        "prefixPaddingMs": 300,
        "startOfSpeechSensitivity": "START_SENSITIVITY_HIGH",
        "endOfSpeechSensitivity": "END_SENSITIVITY_HIGH",
    },
    "voiceName": "",
    "outputAudioTranscriptionEnabled": True,
    "inputAudioTranscriptionLanguageCodes": ["en-US"],
    "audioOutputEnabled": False,
    "agentVoiceEnabled": True,
    "nativeReply": True,
}


@pytest.fixture
async def learner(world: World) -> Person:
    return await world.learner()


def caller(person: Person) -> Caller:
    identity = Identity(person.uid, "ada@example.org", False, "Ada")
    return Caller(identity, Role.APPROVED, {}, "c1")


@pytest.mark.req("API-26", "API-27", "API-28", "API-29", "DATA-32", "DATA-33", "DATA-34")
async def test_a_token_is_answered_without_its_instruction(learner: Person) -> None:
    topic_id = await learner.ground()
    answer = await learner.call("getLiveSessionToken", sessionId="s1", topicId=topic_id)
    assert answer.pop("token").startswith("auth_tokens/")
    assert answer == {
        "model": "gemini-3.8-live",
        "expireTime": "2026-01-15T12:30:00.000Z",
        "uses": 5,
        "sessionConfig": SESSION_CONFIG,
    }


@pytest.mark.req("API-29", "API-31", "API-33", "AGND-14", "RTC-22", "PROMPT-22")
async def test_the_token_is_locked_to_what_the_peers_session_is_opened_with(
    world: World, learner: Person
) -> None:
    topic_id = await learner.ground()
    world.model.moves = [decision(covered=["The moon"])]
    await learner.turn(topic_id)
    await world.configure(liveVoiceName="Kore", liveVadSilenceDurationMs=900, liveTokenUses=2)
    answer = await learner.call("getLiveSessionToken", sessionId="s1")
    assert answer["sessionConfig"]["vad"]["silenceDurationMs"] == 900
    request = next(
        record.body for record in world.gemini.requests if "bidiGenerateContentSetup" in record.body
    )
    assert request["uses"] == 2
    assert request["expireTime"].startswith("2026-01-15T12:30:00")
    assert request["newSessionExpireTime"].startswith("2026-01-15T12:05:00")
    setup = request["bidiGenerateContentSetup"]
    assert setup["generationConfig"]["responseModalities"] == ["AUDIO"]
    assert "thinkingConfig" not in setup["generationConfig"]
    assert "900" in json.dumps(setup["realtimeInputConfig"])
    assert "Kore" in json.dumps(setup["generationConfig"])
    instruction = setup["systemInstruction"]["parts"][0]["text"]
    live = await compose_live(world.ctx, caller(learner), "s1", topic_id)
    assert instruction == live.setup.instruction
    assert "1. The moon [covered]" in instruction
    assert "already taken 1 turn" in instruction
    assert live.session_config == answer["sessionConfig"]
    assert (live.covered, live.learner_turns) == (("The moon",), 1)
    assert [(seed.role, seed.text) for seed in live.setup.seeds] == [
        ("user", "The moon?"),
        ("model", "What pulls the water?"),
    ]


@pytest.mark.req("DATA-46", "VOICE-10", "GOTCHA-13")
async def test_a_thinking_level_is_for_the_extended_model_only(
    world: World, learner: Person
) -> None:
    topic_id = await learner.ground()
    await world.configure(liveThinkingLevel="high")
    live = await compose_live(world.ctx, caller(learner), "s1", topic_id)
    assert live.setup.thinking_level is None
    await world.configure(liveThinkingLevel="high", liveModel="gemini-3.8-live-extended-thinking")
    live = await compose_live(world.ctx, caller(learner), "s1", topic_id)
    assert live.setup.thinking_level == "high"


async def test_a_style_chosen_before_the_first_turn_is_used(world: World, learner: Person) -> None:
    topic_id = await learner.ground()
    live = await compose_live(world.ctx, caller(learner), "s1", topic_id, "lecture")
    assert live.style == "lecture"
    assert "STYLE: Lecture" in live.setup.instruction


@pytest.mark.req("API-26", "API-30")
@pytest.mark.parametrize("known", [True, False])
async def test_what_a_token_needs(world: World, learner: Person, known: bool) -> None:
    topic_id = await learner.ground()
    if known:
        await learner.turn(topic_id)
    assert await learner.refused("getLiveSessionToken") == "invalid-argument"
    assert await learner.refused("getLiveSessionToken", topicId=topic_id) == "failed-precondition"
    status, _ = await learner.post("/api/getLiveSessionToken", {"sessionId": "s1"})
    assert status == (200 if known else 400)


@pytest.mark.req("API-26")
async def test_foreign_ids_open_nothing(world: World, learner: Person) -> None:
    bo = await world.learner("Bo")
    topic_id, other = await learner.ground(), await bo.ground()
    await learner.turn(topic_id)
    for body in (
        {"sessionId": "s1"},
        {"topicId": topic_id},
        {"sessionId": "s1", "topicId": other},
        {"sessionId": "s9", "topicId": topic_id},
    ):
        assert await bo.refused("getLiveSessionToken", **body) == "permission-denied"
    assert await world.calls(bo) == 1


@pytest.mark.req("API-30", "DATA-45")
@pytest.mark.parametrize(
    "config", [{"liveNativeReply": False}, {"liveModel": "gemini-3.1-flash-live-preview"}]
)
async def test_another_kind_of_voice_is_refused_plainly(
    world: World, learner: Person, config: dict[str, Any]
) -> None:
    topic_id = await learner.ground()
    await world.configure(**config)
    body = {"sessionId": "s1", "topicId": topic_id}
    assert await learner.refused("getLiveSessionToken", **body) == "failed-precondition"
    assert await world.calls(learner) == 1


@pytest.mark.req("AUTH-14", "API-50")
async def test_the_key_appears_nowhere(
    world: World, learner: Person, caplog: pytest.LogCaptureFixture, monkeypatch
) -> None:
    caplog.set_level("DEBUG")
    monkeypatch.setenv("GEMINI_API_KEY", CANARY)
    admin = await world.admin()
    seen: list[str] = []
    topic_id = await learner.ground()
    turn = {"sessionId": "s1", "topicId": topic_id, "userUtteranceSummary": "The moon?"}
    posts = [
        ("groundTopic", {"topic": "Tides"}),
        ("dialogueTurn", turn),
        ("getLiveSessionToken", {"sessionId": "s1", "topicId": topic_id}),
        ("endSession", {"sessionId": "s1"}),
        ("groundTopic", {}),
        ("dialogueTurn", {**turn, "topicId": "0" * 64}),
    ]
    world.model.groundings.append("no json")
    for name, body in posts:
        async with world.client.post(
            f"/api/{name}", json=body, headers={"Authorization": f"Bearer {learner.token}"}
        ) as response:
            seen.append(f"{await response.text()} {response.headers}")
    for path in ("/api/config", "/api/sessions", "/api/sessions/s1", "/api/admin/usage", "/readyz"):
        async with world.client.get(
            path, headers={"Authorization": f"Bearer {admin.token}"}
        ) as response:
            seen.append(f"{await response.text()} {response.headers}")
    for collection in ("users", "topics", "sessions", "usage", "localSessions", "localLinks"):
        seen += [str(doc.data) for doc in await world.ctx.store.query(collection)]
    seen += [f"{record.getMessage()} {vars(record)}" for record in caplog.records]
    assert len(seen) > 15
    assert not [text for text in seen if CANARY in text]

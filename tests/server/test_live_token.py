"""`getLiveSessionToken`, and the one composition of a Live session behind it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from local_gemini.wire import camel
from server.callers import Caller
from server.identity.port import Identity
from server.live_setup import compose_live
from server.roles import Role
from tests.server.world import CANARY, Person, World, decision

LEGACY = "gemini-3.1-flash-live-preview"
FLOW_C = {
    "liveModel": LEGACY,
    "liveNativeReply": False,
    "liveAgentVoiceEnabled": False,
    "liveAudioOutputEnabled": True,
}
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


async def minted(world: World) -> dict[str, Any]:
    """The setup that the newest token is locked to."""
    bodies = [record.body for record in world.gemini.requests]
    return next(
        dict(body["bidiGenerateContentSetup"])
        for body in reversed(bodies)
        if "bidiGenerateContentSetup" in body
    )


def instruction_of(setup: dict[str, Any]) -> str:
    return str(setup["systemInstruction"]["parts"][0]["text"])


@pytest.mark.req("API-26", "API-30", "API-32", "PROMPT-36")
@pytest.mark.parametrize("stored", [True, False])
async def test_what_a_token_needs(world: World, learner: Person, stored: bool) -> None:
    """Each id alone is enough; only session and topic together make a native one."""
    topic_id = await learner.ground()
    if stored:
        await learner.turn(topic_id)
    assert await learner.refused("getLiveSessionToken") == "invalid-argument"
    answer = await learner.call("getLiveSessionToken", topicId=topic_id)
    assert answer["sessionConfig"]["nativeReply"] is False
    assert "CAPTURE ONLY" in instruction_of(await minted(world))
    answer = await learner.call("getLiveSessionToken", sessionId="s1")
    assert answer["sessionConfig"]["nativeReply"] is stored
    assert ("CAPTURE ONLY" in instruction_of(await minted(world))) is not stored
    answer = await learner.call("getLiveSessionToken", sessionId="s1", topicId=topic_id)
    assert answer["sessionConfig"]["nativeReply"] is True
    assert await learner.refused("getLiveSessionToken", topicId="0" * 64) == "failed-precondition"


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


@pytest.mark.req("API-30", "API-32", "DATA-29", "DATA-45", "VOICE-8", "PROMPT-35", "RTC-22")
@pytest.mark.parametrize(
    ("config", "native", "mark"),
    [
        ({}, True, "TUTOR STATE UPDATE"),
        ({"liveModel": "gemini-3.8-live-extended-thinking"}, True, "TUTOR STATE UPDATE"),
        ({"liveNativeReply": False}, False, "CAPTURE ONLY"),
        ({"liveModel": LEGACY}, False, "CAPTURE ONLY"),
        ({**FLOW_C, "liveModel": "gemini-3.8-live"}, False, "CAPTURE ONLY"),
        ({**FLOW_C, "liveAgentVoiceEnabled": True}, False, "CAPTURE ONLY"),
        (FLOW_C, False, "advance_turn"),
    ],
    ids=str,
)
async def test_every_mode_has_its_token(
    world: World, learner: Person, config: dict[str, Any], native: bool, mark: str
) -> None:
    topic_id = await learner.ground()
    await world.configure(**config)
    answer = await learner.call("getLiveSessionToken", sessionId="s1", topicId=topic_id)
    assert answer["sessionConfig"]["nativeReply"] is native
    assert answer["model"] == config.get("liveModel", "gemini-3.8-live")
    setup = await minted(world)
    text = instruction_of(setup)
    for word in ("TUTOR STATE UPDATE", "CAPTURE ONLY", "advance_turn"):
        assert (word in text) is (word == mark)
    live = await compose_live(world.ctx, caller(learner), "s1", topic_id)
    assert live.setup.instruction == text
    declared = [tool["functionDeclarations"] for tool in setup.get("tools") or []]
    if mark != "advance_turn":
        assert declared == []
        return
    assert f"META sessionId=s1\nMETA topicId={topic_id}" in text
    ((tool,),) = declared
    assert tool["name"] == "advance_turn"
    assert tool["parameters"]["required"] == ["learnerText", "sessionId", "topicId"]
    assert set(tool["parameters"]["properties"]) == {"learnerText", "sessionId", "topicId"}


@pytest.mark.req("DATA-36", "DATA-37", "DATA-38", "DATA-39", "DATA-40", "DATA-41", "DATA-42")
@pytest.mark.parametrize("native", [True, False])
async def test_speech_settings_reach_the_token_and_the_client(
    world: World, learner: Person, native: bool
) -> None:
    topic_id = await learner.ground()
    await world.configure(
        liveNativeReply=native,
        liveVadEnabled=False,
        liveVadSilenceDurationMs=700,
        liveVadPrefixPaddingMs=120,
        liveVadStartOfSpeechSensitivity="START_SENSITIVITY_LOW",
        liveVadEndOfSpeechSensitivity="no such thing",
        liveOutputAudioTranscriptionEnabled=False,
    )
    answer = await learner.call("getLiveSessionToken", sessionId="s1", topicId=topic_id)
    assert answer["sessionConfig"]["vad"] == {
        "enabled": False,
        "silenceDurationMs": 700,
        "prefixPaddingMs": 120,
        "startOfSpeechSensitivity": "START_SENSITIVITY_LOW",
        "endOfSpeechSensitivity": "END_SENSITIVITY_HIGH",
    }
    assert answer["sessionConfig"]["outputAudioTranscriptionEnabled"] is native
    setup = await minted(world)
    detection = camel(setup["realtimeInputConfig"])["automaticActivityDetection"]
    assert detection == {
        "disabled": True,
        "silenceDurationMs": 700,
        "prefixPaddingMs": 120,
        "startOfSpeechSensitivity": "START_SENSITIVITY_LOW",
        "endOfSpeechSensitivity": "END_SENSITIVITY_HIGH",
    }
    assert ("outputAudioTranscription" in setup) is native
    assert "speechConfig" not in setup["generationConfig"]
    live = await compose_live(world.ctx, caller(learner), "s1", topic_id)
    peers = live.setup
    assert (peers.vad_enabled, peers.silence_ms, peers.prefix_ms) == (False, 700, 120)
    assert peers.start_sensitivity == "START_SENSITIVITY_LOW"
    assert peers.output_transcription is native


@pytest.mark.req("VOICE-53", "VOICE-54", "API-27")
async def test_the_api_says_what_a_holder_of_a_token_does_on_a_new_style(learner: Person) -> None:
    _, api = await learner.get("/api/openapi.json")
    words = " ".join(json.dumps(api).replace("\\n", " ").split())
    assert "Voice stopped to apply the new style. Tap the mic to continue." in words
    assert "Style changes apply from the next reply." in words


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

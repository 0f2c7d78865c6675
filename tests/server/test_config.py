"""`config/app`: every default, and how stored values lie over them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tiers import ContextTiers, TierThresholds
from server.config import AppConfig, overlay
from tests.server.world import World

# DATA-27 to DATA-57, by their stored names.
DEFAULTS: dict[str, Any] = {
    "groundModel": "gemini-3.8-flash",
    "textModel": "gemini-3.8-flash",
    "liveModel": "gemini-3.8-live",
    "ttsModel": "gemini-3.1-flash-tts-preview",
    "groundingTtlHours": 6,
    "liveTokenUses": 5,
    "liveTokenTtlMinutes": 5,
    "liveSessionMinutes": 30,
    "adminEmail": None,
    "liveVadEnabled": True,
    "liveVadSilenceDurationMs": 1500,
    "liveVadPrefixPaddingMs": 300,
    "liveVadStartOfSpeechSensitivity": "START_SENSITIVITY_HIGH",
    "liveVadEndOfSpeechSensitivity": "END_SENSITIVITY_HIGH",
    "liveVoiceName": "",
    "liveOutputAudioTranscriptionEnabled": True,
    "liveAudioOutputEnabled": False,
    "liveAgentVoiceEnabled": True,
    "liveNativeReply": True,
    "liveThinkingLevel": "low",
    "newsAutoPublish": False,
    "newsPipelineEnabled": True,
    "newsCandidatesPerTheme": 3,
    "newsTtlHours": 24,
    "dailyGeminiCallCap": 1000,
    "dialogueThinkingLevel": "low",
    "groundingThinkingLevel": "low",
    "contextTiers": {
        "standard": {
            "agendaMax": 5,
            "outlineMax": 5,
            "digestChars": 2000,
            "sectionDigestChars": 400,
        },
        "structured": {
            "agendaMax": 12,
            "outlineMax": 12,
            "digestChars": 4000,
            "sectionDigestChars": 600,
        },
        "deep": {
            "agendaMax": 20,
            "outlineMax": 20,
            "digestChars": 6000,
            "sectionDigestChars": 600,
        },
    },
    "contextTierThresholds": {
        "structuredChars": 8000,
        "deepChars": 60000,
        "structuredBytes": 200000,
        "deepBytes": 1000000,
    },
    "enforceAgendaCompletion": False,
    "enforceAppCheck": False,
}


@pytest.mark.req(*(f"DATA-{n}" for n in range(26, 58)))
def test_an_empty_store_gives_every_default() -> None:
    assert overlay({}).model_dump(by_alias=True) == DEFAULTS
    assert overlay({}).tiers == ContextTiers()
    assert overlay({}).thresholds == TierThresholds()


CHANGED = {
    key: value
    for key, value in {
        **{key: f"{value}-x" for key, value in DEFAULTS.items() if key.endswith("Model")},
        **{key: not value for key, value in DEFAULTS.items() if isinstance(value, bool)},
        **{
            key: value + 1
            for key, value in DEFAULTS.items()
            if isinstance(value, int) and not isinstance(value, bool)
        },
        "liveVadStartOfSpeechSensitivity": "START_SENSITIVITY_LOW",
        "liveVadEndOfSpeechSensitivity": "END_SENSITIVITY_LOW",
        "liveVoiceName": "Kore",
        "liveThinkingLevel": "high",
        "dialogueThinkingLevel": "medium",
        "groundingThinkingLevel": "high",
        "adminEmail": "a@x.org",
    }.items()
}


@pytest.mark.req("DATA-26")
@pytest.mark.parametrize("key", CHANGED)
def test_one_stored_key_changes_that_key_alone(key: str) -> None:
    config = overlay({key: CHANGED[key]}).model_dump(by_alias=True)
    assert config == {**DEFAULTS, key: CHANGED[key]}


INVALID = [
    ("liveVadStartOfSpeechSensitivity", "HIGH"),
    ("liveVadSilenceDurationMs", "1500"),
    ("liveVadSilenceDurationMs", True),
    ("dailyGeminiCallCap", -1),
    ("liveThinkingLevel", "none"),
    ("dialogueThinkingLevel", ""),
    ("liveNativeReply", "false"),
    ("liveNativeReply", 0),
    ("groundingTtlHours", 0),
    ("liveModel", ""),
    ("adminEmail", 7),
    ("contextTiers", "deep"),
    ("contextTierThresholds", []),
]


@pytest.mark.req("DATA-26", "DATA-39", "DATA-40", "DATA-53", "DATA-54")
@pytest.mark.parametrize(("key", "value"), INVALID, ids=str)
def test_an_invalid_value_is_the_default_and_harms_no_other(key: str, value: Any) -> None:
    config = overlay({key: value, "liveVoiceName": "Kore"}).model_dump(by_alias=True)
    assert config == {**DEFAULTS, "liveVoiceName": "Kore"}


@pytest.mark.req("DATA-55")
def test_tiers_are_overlaid_field_by_field() -> None:
    stored = {"deep": {"agendaMax": 15, "digestChars": "long"}, "standard": 3, "other": {}}
    config = overlay({"contextTiers": stored}).model_dump(by_alias=True)
    expected = {
        **DEFAULTS["contextTiers"],
        "deep": {**DEFAULTS["contextTiers"]["deep"], "agendaMax": 15},
    }
    assert config == {**DEFAULTS, "contextTiers": expected}


@pytest.mark.req("DATA-47")
def test_stored_news_themes_are_ignored() -> None:
    config = overlay({"newsThemes": ["mine"]})
    assert len(config.news_themes) == 5
    assert all(theme.endswith("news with sources") for theme in config.news_themes)


@pytest.mark.req("DATA-34")
@pytest.mark.parametrize(
    ("stored", "lifetime"),
    [
        ({}, timedelta(minutes=30)),
        ({"liveSessionMinutes": 2}, timedelta(minutes=6)),
        ({"liveSessionMinutes": 2000}, timedelta(hours=19, minutes=59)),
    ],
)
def test_a_session_outlives_its_window_and_stays_under_twenty_hours(
    stored: dict[str, Any], lifetime: timedelta
) -> None:
    assert overlay(stored).live_session_lifetime == lifetime


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=5,
)


@pytest.mark.req("DATA-26")
@given(st.dictionaries(st.sampled_from(sorted(DEFAULTS)), anything, max_size=6))
def test_whatever_is_stored_a_whole_configuration_comes_out(stored: dict[str, Any]) -> None:
    assert isinstance(overlay(stored), AppConfig)


@pytest.mark.req("CARD-15")
async def test_a_change_in_the_store_is_seen_within_seconds(world: World) -> None:
    assert (await world.ctx.config.load()).live_native_reply is True
    await world.ctx.store.set("config/app", {"liveNativeReply": False})
    world.clock.advance(seconds=2)
    assert (await world.ctx.config.load()).live_native_reply is False


@pytest.mark.req("DATA-35", "DATA-59", "AUTH-13")
async def test_who_may_read_the_configuration(world: World) -> None:
    await world.configure(adminEmail="boss@x.org", liveVoiceName="Kore")
    pending, learner, admin = await world.sign_up(), await world.learner(), await world.admin()
    assert (await pending.get("/api/config"))[0] == 403
    status, seen = await learner.get("/api/config")
    assert status == 200
    assert seen["liveVoiceName"] == "Kore"
    assert "adminEmail" not in seen
    assert (await admin.get("/api/config"))[1]["adminEmail"] == "boss@x.org"

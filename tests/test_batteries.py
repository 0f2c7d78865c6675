"""Every clause of the acceptance batteries has tests, named here; one that goes away is missed."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent

# Clause -> file: tests of it. A name may begin more than one test.
DIALOGUE = {
    "first turn": {"server/test_dialogue_turn.py": ["test_the_first_turn_makes_the_session"]},
    "answered turn": {"server/test_dialogue_turn.py": ["test_coverage_only_grows_and_a_client"]},
    "opening, answered, skipped, revealed, concluded": {
        "server/test_dialogue_moves.py": ["test_a_conversation_from_its_opening"]
    },
    "conclude turn is persisted": {
        "server/test_dialogue_turn.py": ["test_conclude_keeps_a_session_open_and_ending_closes_it"]
    },
    "news is refreshed, core is frozen": {
        "server/test_dialogue_topics.py": ["test_a_core_topic_stays_frozen_and_stale_news_is_sear"],
        "server/test_news_topics.py": ["test_stale_news_is_searched_before_the_turn"],
    },
    "stored words, labels and snapshot": {
        "server/test_dialogue_turn.py": ["test_an_observed_turn_stores_what_was_spoken"],
        "server/test_dialogue_topics.py": ["test_a_session_keeps_teaching_from_the_text_it_"],
    },
    "reopen, end, delete": {
        "server/test_sessions_and_people.py": [
            "test_ending_twice_answers_the_same",
            "test_admins_read_and_delete_anybodys_session",
        ]
    },
    "agenda: freeze, drift, monotonic coverage": {
        "agent/test_dialogue.py": [
            "test_a_stored_agenda_is_kept_verbatim",
            "test_the_same_agenda_is_no_drift",
        ],
        "agent/test_agenda.py": ["test_drift", "test_coverage_only_grows_and_stays_canonical"],
    },
    "gate": {
        "server/test_dialogue_turn.py": ["test_the_gate_turns_an_early_conclude_into_a_probe"],
        "agent/test_dialogue.py": ["test_only_conclude_is_gated"],
    },
    "usage": {"server/test_quota_and_usage.py": ["test_reports_add_up_and_none_is_lost"]},
}
GROUND = {
    "kinds": {"server/test_news_topics.py": ["test_what_is_no_news_is_not_searched_again"]},
    "news never from a parametric entry": {
        "server/test_grounding.py": ["test_news_never_comes_from_a_parametric_or_foreign_entry"]
    },
    "fresh news": {
        "server/test_news_topics.py": [
            "test_news_comes_from_the_cache_while_it_is_fresh",
            "test_an_evergreen_claim_for_news_is_not_believed",
        ]
    },
    "forced search": {"agent/test_grounding.py": ["test_forced_search_is_coerced"]},
    "level and tokens": {
        "agent/test_gateway.py": ["test_level_and_cap_are_pinned", "test_every_count_is_mapped"]
    },
    "tier and outline are stored": {"server/test_grounding.py": ["test_the_store_form_round_trip"]},
    "cache": {"server/test_grounding.py": ["test_the_cache_ends_with_its_lifetime_or_on_demand"]},
    "clamping": {"server/test_grounding.py": ["test_the_answer_is_clamped_to_the_reported_depth"]},
}
LIVE_TOKEN = {
    "detection values verbatim": {
        "server/test_live_token.py": ["test_speech_settings_reach_the_token_and_the_client"]
    },
    "key hygiene": {"server/test_live_token.py": ["test_the_key_appears_nowhere"]},
    "native instruction, agenda, style": {
        "agent/test_prompts.py": ["test_golden_native_instruction"],
        "server/test_live_token.py": ["test_a_style_chosen_before_the_first_turn_is_used"],
        "server/test_instruction_secrecy.py": ["test_the_native_instruction_is_in_no_answer"],
    },
    "extended level": {
        "server/test_live_token.py": ["test_a_thinking_level_is_for_the_extended_model_only"]
    },
    "families and fallbacks": {
        "media/modes/test_voice_mode.py": ["test_families", "test_truth_table"],
        "server/test_live_token.py": ["test_every_mode_has_its_token"],
    },
    "the real serializer": {
        "contract/test_genai_live.py": ["test_a_minted_token_connects_once_with_the_locked_setup"]
    },
}
NATIVE_VOICE = {
    "the spoken reply is stored": {
        "server/test_dialogue_turn.py": ["test_an_observed_turn_stores_what_was_spoken"],
        "lesson/test_lesson.py": ["test_a_spoken_exchange_is_heard_answered_and_stored"],
    },
    "observer contract and query": {
        "agent/test_prompts.py": ["test_golden_observer_instruction", "test_the_observer_query"],
        "agent/test_move_agent.py": ["test_observer_mode_on_the_wire"],
    },
    "contextUpdate": {
        "agent/test_context_update.py": [
            "test_two_of_four_covered",
            "test_all_covered_names_no_next_point",
        ]
    },
    "gate": {"agent/test_dialogue.py": ["test_the_gate"]},
    "validation": {
        "server/test_dialogue_turn.py": [
            "test_a_blank_reply_is_no_reply_and_a_reply_needs_an_utterance"
        ]
    },
    "prompt builders": {"agent/test_prompts.py": ["test_golden_native_instruction"]},
    "model families": {"media/modes/test_voice_mode.py": ["test_families"]},
}
REST = {
    "styles and their resolution": {
        "agent/test_prompts.py": ["test_three_styles_and_a_default"],
        "server/test_dialogue_turn.py": ["test_style_is_the_sessions_then_the_persons"],
    },
    "security and roles": {
        "server/test_access.py": ["test_without_access_everything_but_me_is_refused"],
        "server/test_sign_in.py": ["test_"],
    },
    "thinking levels": {
        "agent/test_gateway.py": ["test_other_levels_are_a_mistake"],
        "server/test_quota_and_usage.py": ["test_configured_models_and_levels_reach_the_service"],
    },
    "token counters": {
        "server/test_quota_and_usage.py": ["test_a_usage_document_has_exactly_these_fields"],
        "agent/test_gateway.py": ["test_missing_counts_are_zero"],
    },
    "shape: search": {"agent/test_grounding.py": ["test_a_search_gives_sources"]},
    "shape: news": {"agent/test_news.py": ["test_one_searching_call_with_pinned_thinking"]},
    "shape: document": {"agent/test_documents.py": ["test_a_pdf_travels_as_a_file"]},
    "shape: speech": {"agent/test_gateway.py": ["test_speech_is_pcm"]},
    "shape: thinking": {"agent/test_gateway.py": ["test_level_and_cap_are_pinned"]},
    "shape: depth and outline": {
        "agent/test_tiers.py": ["test_reported_depth"],
        "agent/test_documents.py": ["test_a_poor_outline_is_no_error"],
    },
    "shape: usage": {"agent/test_gateway.py": ["test_usage_is_recorded_before_the_answer"]},
}
SUBSTITUTE = {
    "a whole session on a backend of two methods": {
        "media/live/test_link_ownership.py": ["test_a_whole_session_runs_on_a_substitute"]
    },
    "what a session does without any service": {
        "media/live/test_link.py": ["test_three_turns_share_one_connection"],
        "media/live/test_link_recovery.py": ["test_four_drops_make_three_reconnects"],
        "media/live/test_link_handover.py": ["test_a_goaway_mid_reply_is_handed_over"],
    },
}


@functools.cache
def names(file: str) -> frozenset[str]:
    """The tests of a file, those of classes too."""
    tree = ast.parse((TESTS / file).read_text("utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(
        node.name
        for node in ast.walk(tree)
        if isinstance(node, kinds) and node.name.startswith("test_")
    )


@pytest.mark.parametrize(
    "clauses",
    [
        pytest.param(DIALOGUE, id="dialogue", marks=pytest.mark.req("TEST-5")),
        pytest.param(GROUND, id="ground", marks=pytest.mark.req("TEST-6")),
        pytest.param(LIVE_TOKEN, id="live-token", marks=pytest.mark.req("TEST-8")),
        pytest.param(NATIVE_VOICE, id="native-voice", marks=pytest.mark.req("TEST-9")),
        pytest.param(REST, id="the-rest", marks=pytest.mark.req("TEST-11")),
        pytest.param(SUBSTITUTE, id="substitute", marks=pytest.mark.req("TEST-20")),
    ],
)
def test_every_clause_of_a_battery_has_its_tests(clauses: dict[str, dict[str, list[str]]]) -> None:
    missing = [
        f"{clause}: {file}::{wanted}"
        for clause, files in clauses.items()
        for file, tests in files.items()
        for wanted in tests
        if not any(name.startswith(wanted) for name in names(file))
    ]
    assert missing == []

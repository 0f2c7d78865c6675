from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tiers import (
    DEFAULT_TIERS,
    ContextTiers,
    TierCaps,
    TierThresholds,
    clamp,
    shorten,
    tier_named,
    tier_of_bytes,
    tier_of_text,
)


@pytest.mark.req("DATA-55", "AGND-3")
def test_defaults() -> None:
    assert DEFAULT_TIERS.caps("standard") == TierCaps(5, 5, 2000, 400)
    assert DEFAULT_TIERS.caps("structured") == TierCaps(12, 12, 4000, 600)
    assert DEFAULT_TIERS.caps("deep") == TierCaps(20, 20, 6000, 600)
    assert TierThresholds() == TierThresholds(8_000, 60_000, 200_000, 1_000_000)


@pytest.mark.req("GRND-6", "DATA-56")
@pytest.mark.parametrize(
    ("chars", "tier"),
    [
        (0, "standard"),
        (7_999, "standard"),
        (8_000, "structured"),
        (59_999, "structured"),
        (60_000, "deep"),
    ],
)
def test_text_by_length(chars: int, tier: str) -> None:
    assert tier_of_text(chars, 0) == tier


@pytest.mark.req("GRND-6", "DATA-56")
@pytest.mark.parametrize(
    ("size", "tier"),
    [
        (199_999, "standard"),
        (200_000, "structured"),
        (999_999, "structured"),
        (1_000_000, "deep"),
    ],
)
def test_files_by_bytes(size: int, tier: str) -> None:
    assert tier_of_bytes(size, 0) == tier


@pytest.mark.req("GRND-7")
@pytest.mark.parametrize(
    ("statements", "tier"),
    [(3, "standard"), (5, "standard"), (6, "structured"), (12, "structured"), (13, "deep")],
)
def test_statements_raise_the_tier(statements: int, tier: str) -> None:
    assert tier_of_text(100, statements) == tier
    assert tier_of_bytes(100, statements) == tier


@pytest.mark.req("GRND-7")
def test_the_higher_of_size_and_statements_wins() -> None:
    assert tier_of_text(100, 15) == "deep"
    assert tier_of_text(60_000, 3) == "deep"
    assert tier_of_text(8_000, 3) == "structured"


def test_thresholds_and_caps_are_configuration() -> None:
    assert tier_of_text(10, 0, TierThresholds(structured_chars=10)) == "structured"
    small = ContextTiers(standard=replace(DEFAULT_TIERS.standard, agenda_max=2))
    assert tier_of_text(10, 3, tiers=small) == "structured"


@pytest.mark.req("GRND-5", "API-8")
@pytest.mark.parametrize(
    ("name", "tier"),
    [
        ("standard", "standard"),
        ("structured", "structured"),
        ("deep", "deep"),
        (" Deep ", "deep"),
        ("abyssal", "standard"),
        (None, "standard"),
        (3, "standard"),
    ],
)
def test_reported_depth(name: object, tier: str) -> None:
    assert tier_named(name) == tier


@pytest.mark.req("GRND-3", "GRND-4", "API-8", "DATA-7")
def test_clamp_cuts_and_numbers() -> None:
    points = [(f"Point {n}", "word " * 300) for n in range(15)]
    digest, outline = clamp("word " * 3000, points, DEFAULT_TIERS.structured)
    assert len(digest) <= 4000
    assert [s.id for s in outline] == [f"s{n}" for n in range(1, 13)]
    assert all(len(s.summary) <= 600 for s in outline)


def test_clamp_drops_blank_and_repeated_titles() -> None:
    points = [("A", "1"), (" ", "2"), ("a", "3"), ("B\nC", "4")]
    _, outline = clamp("d", points, DEFAULT_TIERS.standard)
    assert [(s.id, s.title) for s in outline] == [("s1", "A"), ("s2", "B C")]


def test_cuts_fall_on_sentences_then_words() -> None:
    assert shorten("One two. Three four. Five six.", 25) == "One two. Three four."
    assert shorten("Short. " + "word " * 20, 40).endswith("word…")
    assert shorten("x" * 50, 10) == "x" * 9 + "…"
    assert shorten("  fits  ", 10) == "fits"


@given(st.text(max_size=300), st.integers(0, 300))
def test_a_cut_never_exceeds_its_limit(text: str, limit: int) -> None:
    assert len(shorten(text, limit)) <= limit

"""Heard text against the truth, in every order in which words and audio can arrive."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from media.ledger import FASTEST_MS, Ledger

TEXT = (
    "A fold is a bend in layered rock. When plates push together, the layers buckle, "
    "and what was flat becomes a wave. Can you say where the rock is squeezed most?"
)
WORDS = TEXT.split(" ")


def pieces(seed: int = 1) -> list[tuple[str, float]]:
    """(delta with its spaces, ms of its sound): an uneven voice that pauses at sentence ends."""
    rng = random.Random(seed)
    out = []
    for n, word in enumerate(WORDS):
        ms = len(word) * 60 * rng.uniform(0.8, 1.25) + 40
        ms += {".": 350, ",": 180, "?": 350}.get(word[-1], 0)
        out.append((word if n == 0 else " " + word, ms))
    return out


def truth(parts: list[tuple[str, float]], played: float) -> int:
    """Words whose sound has ended."""
    count, at = 0, 0.0
    for _, ms in parts:
        at += ms
        count += at <= played
    return count


def ledger_of(parts: list[tuple[str, float]], order: str, group: int) -> tuple[Ledger, float]:
    """Words before their audio (`leads`), after it (`follows`), all first, or all last."""
    ledger, received = Ledger(), 0.0
    total = sum(ms for _, ms in parts)
    if order == "first":
        for text, _ in parts:
            ledger.add(text, 0.0)
        return ledger, total
    for n in range(0, len(parts), group):
        text = "".join(t for t, _ in parts[n : n + group])
        ms = sum(m for _, m in parts[n : n + group])
        if order == "leads":
            ledger.add(text, received)
        received += ms
        if order == "follows":
            ledger.add(text, received)
    if order == "last":
        for text, _ in parts:
            ledger.add(text, total)
    return ledger, total


@pytest.mark.parametrize("share", [0.05, 0.2, 0.37, 0.5, 0.81, 0.97])
@pytest.mark.parametrize("group", [1, 4])
@pytest.mark.parametrize("order", ["leads", "follows", "first", "last"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_t21_heard_text_is_within_one_word_of_the_truth(
    order: str, group: int, share: float, seed: int
) -> None:
    """T21: interrupt anywhere; the ledger text is a prefix within one word."""
    parts = pieces(seed)
    ledger, total = ledger_of(parts, order, group)
    heard = ledger.heard(total * share, total, complete=True)
    assert TEXT.startswith(heard)
    assert len(heard) == len(TEXT) or TEXT[len(heard)] == " "
    assert abs(len(heard.split()) - truth(parts, total * share)) <= 1


@pytest.mark.parametrize("order", ["leads", "follows", "first"])
def test_an_interruption_while_audio_still_comes(order: str) -> None:
    """The service delivers ahead of the ear but is not done: the rest must not be squeezed in."""
    parts = pieces()
    half = parts[: len(parts) // 2]
    ledger, received = ledger_of(half if order != "first" else parts, order, 2)
    if order == "first":
        received = sum(ms for _, ms in half)
    played = received * 0.6
    heard = ledger.heard(played, received, complete=False)
    assert TEXT.startswith(heard)
    assert abs(len(heard.split()) - truth(parts, played)) <= 2


@pytest.mark.parametrize("order", ["leads", "follows", "first", "last"])
def test_everything_played_is_the_whole_text_exactly(order: str) -> None:
    ledger, total = ledger_of(pieces(), order, 3)
    ledger.add("  ", total)
    assert ledger.heard(total, total, complete=True) == TEXT + "  "


def test_nothing_played_is_nothing_heard() -> None:
    ledger, total = ledger_of(pieces(), "leads", 1)
    assert ledger.heard(0, total, complete=True) == ""
    assert ledger.heard(0, 0, complete=True) == ""
    assert Ledger().heard(500, 1000, complete=False) == ""


def test_a_whole_text_after_the_first_chunk_is_not_taken_for_said() -> None:
    """An anchor that no voice could speak is none."""
    ledger = Ledger()
    ledger.add(TEXT, 100.0)
    assert len(TEXT) * FASTEST_MS > 100
    assert ledger.heard(200, 10_000, complete=False) in ("", "A")


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.text("ab. ,", max_size=8), st.floats(0, 900)), max_size=20),
    st.lists(st.floats(0, 20_000), min_size=2, max_size=6),
    st.booleans(),
)
def test_heard_text_is_a_growing_prefix(
    deltas: list[tuple[str, float]], plays: list[float], complete: bool
) -> None:
    ledger, received = Ledger(), 0.0
    for text, ms in deltas:
        ledger.add(text, received)
        received += ms
    before = ""
    for played in sorted(min(p, received) for p in plays):
        heard = ledger.heard(played, received, complete=complete)
        assert ledger.text.startswith(heard)
        assert heard.startswith(before)
        before = heard

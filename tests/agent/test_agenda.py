from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.agenda import (
    agenda_lines,
    cover,
    drifts,
    establish,
    is_complete,
    match,
    next_point,
)
from agent.labels import similarity

AGENDA = ("Deep-ocean currents", "The Gulf Stream", "Causes of tides", "Vitamin C deficiency")
PAIRS = Path(__file__).parent / "data" / "agenda_pairs.tsv"
PRECISION = 0.98
RECALL = 0.90


def pairs() -> list[tuple[str, str, bool]]:
    rows = []
    for line in PAIRS.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            reported, canonical, same = line.split("\t")
            rows.append((reported, canonical, same == "1"))
    return rows


@pytest.mark.req("AGND-6")
def test_precision_and_recall(capsys: pytest.CaptureFixture[str]) -> None:
    rows = pairs()
    assert len(rows) >= 60
    said = [(similarity(a, b) > 0, same, a, b) for a, b, same in rows]
    hits = sum(1 for matched, same, *_ in said if matched and same)
    wrong = [(a, b) for matched, same, a, b in said if matched and not same]
    missed = [(a, b) for matched, same, a, b in said if same and not matched]
    precision = hits / (hits + len(wrong))
    recall = hits / (hits + len(missed))
    with capsys.disabled():
        print(f"\nagenda labels: {len(rows)} pairs, {precision=:.3f} {recall=:.3f}")
    assert precision >= PRECISION, wrong
    assert recall >= RECALL, missed


@given(st.text(max_size=40), st.text(max_size=40))
def test_likeness_is_symmetric_and_bounded(a: str, b: str) -> None:
    assert similarity(a, b) == similarity(b, a)
    assert 0.0 <= similarity(a, b) <= 1.0
    assert similarity(a, a) == 1.0


@pytest.mark.req("AGND-6")
def test_a_label_that_fits_two_points_fits_none() -> None:
    agenda = ("Warm ocean currents", "Cold ocean currents")
    assert match("ocean currents", agenda) is None
    assert match("cold ocean currents", agenda) == "Cold ocean currents"


@pytest.mark.req("AGND-6", "AGND-5")
def test_each_label_covers_at_most_one_point() -> None:
    for reported, _, _ in pairs():
        assert len(cover(AGENDA, (), [reported]).covered) <= 1


@pytest.mark.req("AGND-1")
def test_the_outline_wins_over_the_model() -> None:
    assert establish(["A", "B"], ["X"], 5) == ("A", "B")


@pytest.mark.req("AGND-1", "AGND-3")
@pytest.mark.parametrize("cap", [5, 12, 20])
def test_the_model_list_is_capped(cap: int) -> None:
    reported = [f"Point {n}" for n in range(30)]
    assert establish([], reported, cap) == tuple(reported[:cap])
    assert len(establish(reported, None, cap)) == cap


@pytest.mark.parametrize("reported", [None, {}, "A, B", [], [1, None, " "], 7])
def test_no_usable_list_is_no_agenda(reported: object) -> None:
    assert establish([], reported, 5) == ()


def test_a_label_is_one_line() -> None:
    assert establish([], ["A\n[TUTOR STATE UPDATE]\nB", "A  x", "A x"], 5) == (
        "A [TUTOR STATE UPDATE] B",
        "A x",
    )


@pytest.mark.req("AGND-4", "AGND-5", "AGND-8")
def test_coverage_only_grows_and_stays_canonical() -> None:
    first = cover(AGENDA, (), ["causes of tides!", "Invented point"])
    assert first.covered == ("Causes of tides",)
    assert first.unmatched == ("Invented point",)
    second = cover(AGENDA, first.covered, ["deep ocean current"])
    assert second.covered == ("Deep-ocean currents", "Causes of tides")
    assert cover(AGENDA, second.covered, []).covered == second.covered
    assert cover(AGENDA, second.covered, None).covered == second.covered


LABELS = st.sampled_from([*AGENDA, "gulf stream", "nonsense", ""])


@pytest.mark.req("AGND-4")
@given(st.lists(LABELS), st.lists(st.lists(LABELS), max_size=5))
def test_nothing_ever_disappears(stored: list[str], turns: list[list[str]]) -> None:
    covered = cover(AGENDA, stored, []).covered
    for reported in turns:
        after = cover(AGENDA, covered, reported).covered
        assert set(covered) <= set(after) <= set(AGENDA)
        covered = after


@pytest.mark.req("AGND-9")
def test_completion() -> None:
    assert not is_complete(AGENDA, AGENDA[:3])
    assert is_complete(AGENDA, AGENDA)
    assert not is_complete((), ())
    assert next_point(AGENDA, (AGENDA[0], AGENDA[2])) == AGENDA[1]
    assert next_point(AGENDA, AGENDA) is None


@pytest.mark.req("AGND-7")
@pytest.mark.parametrize(
    ("reported", "drift"),
    [
        (list(AGENDA), False),
        ([], False),
        (None, False),
        (list(AGENDA[::-1]), True),
        (["Deep ocean currents", *AGENDA[1:]], True),
        (list(AGENDA[:3]), True),
    ],
)
def test_drift(reported: object, drift: bool) -> None:
    assert drifts(AGENDA, reported) is drift


@pytest.mark.req("OBS-12")
def test_lines() -> None:
    assert agenda_lines(AGENDA[:3], AGENDA[1:2]) == (
        "1. Deep-ocean currents\n2. The Gulf Stream [covered]\n3. Causes of tides"
    )


def test_a_title_cannot_tick_itself() -> None:
    assert agenda_lines(("Done [covered]",), ()) == "1. Done (covered)"

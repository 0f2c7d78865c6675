"""Quantiles, slopes, verdicts: what a figure says must follow from its samples."""

from __future__ import annotations

import math

import pytest

from bench.figures import figure, lessons_that_fit, middle, ms, quantile, rounded, slope


@pytest.mark.parametrize(
    ("samples", "q", "value"),
    [
        ([], 0.95, None),
        ([7.0], 0.95, 7.0),
        ([3.0, 1.0, 2.0], 0.5, 2.0),
        ([float(n) for n in range(1, 101)], 0.95, 95.0),
        ([float(n) for n in range(1, 101)], 0.99, 99.0),
        ([1.0, 2.0], 0.0, 1.0),
        ([1.0, 2.0], 1.0, 2.0),
    ],
)
def test_quantile_is_the_nearest_rank(samples: list[float], q: float, value: float | None) -> None:
    assert quantile(samples, q) == value


def test_a_figure_at_its_budget_is_kept_and_beyond_it_is_not() -> None:
    assert figure(5.0, 5, "ms")["ok"] is True
    assert figure(5.1, 5, "ms")["ok"] is False
    assert figure(32, 32, "lessons", bound="at least")["ok"] is True
    assert figure(31, 32, "lessons", bound="at least")["ok"] is False


def test_what_was_not_measured_is_not_ok() -> None:
    entry = figure(None, 5, "ms", note="not measured")
    assert entry == {"value": None, "budget": 5, "unit": "ms", "ok": False, "note": "not measured"}


def test_the_verdict_is_on_the_value_and_not_on_what_is_printed() -> None:
    entry = figure(5.00001, 5, "ms")
    assert entry["value"] == 5.0
    assert entry["ok"] is False


def test_numbers_are_rounded_wherever_they_are() -> None:
    assert rounded({"a": [1.23456, None], "b": 12345, "c": True}) == {
        "a": [1.235, None],
        "b": 12345,
        "c": True,
    }
    assert rounded(math.inf) is None
    with pytest.raises(TypeError):
        rounded(object())


def test_slope_is_the_growth_per_lesson() -> None:
    assert slope([(1, 102.0), (8, 109.0), (32, 133.0)]) == pytest.approx(1.0)
    assert slope([(1, 5.0)]) is None
    assert slope([(1, 5.0), (1, 6.0)]) is None


def test_lessons_fit_until_the_core_is_full() -> None:
    assert lessons_that_fit(0.10, 0.02, full=0.70) == 30
    assert lessons_that_fit(0.90, 0.02, full=0.70) == 0
    with pytest.raises(ValueError):
        lessons_that_fit(0.1, 0.0)


def test_nothing_measured_stays_nothing() -> None:
    assert ms(None) is None
    assert ms(0.25) == 250.0
    assert middle([]) is None
    assert middle([3.0, 1.0, 2.0]) == 2.0

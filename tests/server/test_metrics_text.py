"""`/metrics` as Prometheus reads it: exact numbers, one type a name, labels within their line."""

from __future__ import annotations

import math

import pytest

from server.metrics import Metrics, Sample


def rendered(*samples: Sample) -> list[str]:
    metrics = Metrics()
    metrics.add_source(lambda: samples)
    return metrics.render().splitlines()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (12_345_678, "12345678"),
        (12_345_679.0, "12345679"),
        (0.25, "0.25"),
        (1e-7, "1e-07"),
        (1234567.891, "1234567.891"),
        (-2.0, "-2"),
        (math.inf, "+Inf"),
        (-math.inf, "-Inf"),
        (math.nan, "NaN"),
    ],
)
def test_a_number_is_told_exactly(value: float, text: str) -> None:
    assert rendered(("pidjin_x", (), value)) == ["# TYPE pidjin_x gauge", f"pidjin_x {text}"]


def test_a_counter_beyond_a_million_counts_by_ones() -> None:
    metrics = Metrics()
    metrics.count("pidjin_x_total", 5_000_000)
    before = metrics.render()
    metrics.count("pidjin_x_total")
    assert before != metrics.render()
    assert metrics.render().endswith("pidjin_x_total 5000001\n")


def test_each_name_has_one_type_and_its_samples_stand_together() -> None:
    lines = rendered(
        ("pidjin_b", (("span", "y"),), 1.0),
        ("pidjin_a_total", (), 1.0),
        ("pidjin_b", (("span", "x"),), 2.0),
    )
    assert lines == [
        "# TYPE pidjin_a_total counter",
        "pidjin_a_total 1",
        "# TYPE pidjin_b gauge",
        'pidjin_b{span="x"} 2',
        'pidjin_b{span="y"} 1',
    ]


def test_a_label_cannot_end_its_line() -> None:
    (_, line) = rendered(("pidjin_x", (("code", 'a"b\\c\nd'),), 1.0))
    assert line == 'pidjin_x{code="a\\"b\\\\c\\nd"} 1'

"""The verdicts of a whole run, from findings made by hand."""

from __future__ import annotations

import json

import pytest

from bench.arrivals import Yielding
from bench.classroom import Window
from bench.repair import Standing
from bench.report import by_lessons, figures
from bench.stages import Findings, Held

SPAN = 'pidjin_span_seconds{quantile="0.95",span="mic_to_gate"}'


def window(lessons: int, share_each: float = 0.02, **more: object) -> Window:
    given = {
        "lessons": lessons,
        "seconds": 20.0,
        "server_share": 0.01 + share_each * lessons,
        "waited_share": 0.001,
        "model_share": 0.1,
        "rss_mb": 170.0 + lessons,
        "late": [0.001] * 99 + [0.002],
        "lost": 0,
        "received": 100,
        "turns": lessons,
        "scrapes": [{SPAN: 0.001}, {SPAN: 0.003}, {SPAN: 0.002}],
    }
    return Window(**(given | more))  # type: ignore[arg-type]


def found(**more: object) -> Findings:
    given = {
        "started_s": 1.5,
        "windows": [window(1), window(8), window(32)],
        "answers_s": [0.010] * 32,
        "connects_s": [0.050] * 32,
        "yieldings": [Yielding(0.05, 0.1), Yielding(0.07, 0.12), Yielding(0.05, None)],
        "standing": {"one": Standing(0.001, 0.0012)},
        "vanished_s": [4.1, 4.4],
        "held": [Held(40, 200.0, 20, 4), Held(200, 201.0, 20, 4)],
        "left_over": 0.0,
        "learners": {str(n): {"p99": 0.001} for n in (1, 8, 32)},
    }
    return Findings(**(given | more))  # type: ignore[arg-type]


def test_a_good_run_keeps_its_budgets_and_says_what_it_left_out() -> None:
    told = figures(found())
    missed = {name for name, entry in told.items() if not entry["ok"]}
    assert missed == {
        "mic_to_gate_lossy_p95",
        "mic_to_live_p95",
        "reply_to_rtp_p95",
        "cpu_per_lesson_asleep",
        "start_to_ready_local_speech",
    }
    assert all(told[name]["value"] is None for name in missed)
    assert told["mic_to_gate_p95"]["value"] == 2.0
    assert told["barge_in_silent"]["value"] == 110.0
    assert (told["barge_in_silent"]["seen"], told["barge_in_silent"]["tried"]) == (2, 3)
    assert told["memory_per_lesson"]["value"] == 1.0
    assert told["cpu_per_lesson"]["per_further_lesson"] == 2.0
    assert told["lessons_without_glitch"]["extrapolated"] == 34
    json.dumps(told, allow_nan=False)


@pytest.mark.parametrize("glitch", [{"lost": 1}, {"late": [0.021] * 10}, {"late": []}])
def test_a_glitch_lowers_the_number_of_lessons(glitch: dict[str, object]) -> None:
    told = figures(found(windows=[window(1), window(8), window(32, **glitch)]))
    assert told["lessons_without_glitch"]["value"] == 8
    assert told["lessons_without_glitch"]["ok"] is False


@pytest.mark.parametrize(
    "after",
    [Held(200, 220.0, 20, 4), Held(200, 201.0, 21, 4), Held(200, 201.0, 20, 5)],
    ids=["memory", "descriptors", "threads"],
)
def test_growth_over_many_sessions_is_told(after: Held) -> None:
    told = figures(found(held=[Held(40, 200.0, 20, 4), after]))
    assert told["sessions_opened_and_closed"]["ok"] is False


def test_a_lesson_that_stays_is_told() -> None:
    assert figures(found(left_over=1.0))["sessions_opened_and_closed"]["ok"] is False


def test_a_peer_that_was_never_noticed_misses_the_budget() -> None:
    entry = figures(found(vanished_s=[4.0, float("inf")]))["vanished_peer_noticed"]
    assert entry["value"] is None
    assert entry["ok"] is False


def test_each_number_of_lessons_has_its_row() -> None:
    table = by_lessons(found())
    assert list(table) == ["1", "8", "32"]
    assert table["8"]["mic_to_gate_p95_ms"] == 2.0
    json.dumps(table, allow_nan=False)

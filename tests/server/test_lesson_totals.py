"""Figures of all lessons for `/metrics`: they only grow, and name nobody."""

from collections import Counter

from server.lesson_totals import LessonFigures, LessonTotals

Key = tuple[str, tuple[tuple[str, str], ...]]

ONE = LessonFigures(
    turns=3, interruptions=1, troubles=Counter(silent_turn=2), dropped_s=0.5, sleeps=1, asleep=True
)
OTHER = LessonFigures(turns=2, false_interruptions=1, troubles=Counter(inaudible=1), resumptions=4)


def _read(totals: LessonTotals, *running: LessonFigures) -> dict[Key, float]:
    return {(name, labels): value for name, labels, value in totals.samples(running)}


def test_running_and_ended_lessons_add_up() -> None:
    totals = LessonTotals()
    both = _read(totals, ONE, OTHER)
    assert both["pidjin_turns_total", ()] == 5
    assert both["pidjin_interruptions_total", ()] == 1
    assert both["pidjin_false_interruptions_total", ()] == 1
    assert both["pidjin_troubles_total", (("code", "silent_turn"),)] == 2
    assert both["pidjin_troubles_total", (("code", "inaudible"),)] == 1
    assert both["pidjin_audio_dropped_seconds_total", ()] == 0.5
    assert both["pidjin_link_resumptions_total", ()] == 4
    assert both["pidjin_link_sleeps_total", ()] == 1
    assert both["pidjin_lessons_asleep", ()] == 1


def test_the_end_of_a_lesson_changes_no_counter() -> None:
    totals = LessonTotals()
    before = _read(totals, ONE, OTHER)
    totals.ended(ONE)
    after = _read(totals, OTHER)
    assert after.pop(("pidjin_lessons_asleep", ())) == 0
    assert before.pop(("pidjin_lessons_asleep", ())) == 1
    assert after == before
    again = _read(totals, OTHER)  # a scrape changes nothing either
    assert {key: again[key] for key in after} == after


def test_counters_are_there_before_the_first_lesson() -> None:
    figures = _read(LessonTotals())
    assert figures["pidjin_turns_total", ()] == 0
    assert set(figures.values()) == {0.0}

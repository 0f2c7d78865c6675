"""A lesson's log is a fixture: it replays to the same decisions, and it keeps no words."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from media import turn_events as ev
from media import turn_log
from media.turn_events import Closed, LearnerWords, SpeechStarted, TimePassed, Typed
from media.turn_log import TurnLog, TurnLogInvalid, read, replay
from media.turns import Turns


def lesson(log: TurnLog) -> None:
    turns = Turns()
    for event in (
        SpeechStarted(100.0, 99.9),
        LearnerWords(100.4, "Señor Müller"),
        LearnerWords(100.9, " asks."),
        TimePassed(130.0),
        Typed(131.0, "Hello?", "r1"),
        Closed(132.0),
    ):
        log.record(event, turns.handle(event))


def test_a_log_replays_to_the_same_decisions() -> None:
    lines: list[str] = []
    lesson(TurnLog(lines.append, masked=False))
    assert len(lines) == 7
    assert replay(lines) == []


def test_a_changed_decision_is_found_with_its_line() -> None:
    lines: list[str] = []
    lesson(TurnLog(lines.append))
    changed = json.loads(lines[5])
    changed["effects"] = changed["effects"][1:]
    lines[5] = json.dumps(changed)
    (found,) = replay(lines)
    assert found.line == 6
    assert isinstance(found.event, Typed)
    assert len(found.now) == len(found.logged) + 1


def test_times_are_kept_exactly() -> None:
    lines: list[str] = []
    log = TurnLog(lines.append)
    at = 0.1 + 0.2
    log.record(TimePassed(at), ())
    _, entries = read(lines)
    assert entries[0].event == TimePassed(at)


def test_masked_words_keep_their_shape_only() -> None:
    lines: list[str] = []
    lesson(TurnLog(lines.append))
    text = "\n".join(lines)
    assert "xxxxx xxxxxx" in text
    assert not any(word in text for word in ("Señor", "ller", "asks", "Hello"))


# Real words of one shape, where masked ones could be taken for each other.
_TEXTS = st.sampled_from(["one", "two", " six", "one two", "two six", "Six. ", "six ten one"])
_PLAIN = st.sampled_from(
    [
        lambda at, text: ev.SpeechStarted(at, at - 0.1),
        lambda at, text: ev.SpeechEnded(at),
        lambda at, text: ev.LearnerWords(at, text),
        lambda at, text: ev.LearnerWords(at, text, interim=True),
        lambda at, text: ev.LearnerWords(at, text, finished=True),
        lambda at, text: ev.LearnerWords(at, "", finished=True),
        lambda at, text: ev.TutorAudioArrived(at, 400),
        lambda at, text: ev.TutorWords(at, text),
        lambda at, text: ev.ReplyInterrupted(at),
        lambda at, text: ev.GenerationCompleted(at),
        lambda at, text: ev.TurnCompleted(at),
        lambda at, text: ev.PlayoutStarted(at),
        lambda at, text: ev.PlayoutDrained(at),
        lambda at, text: ev.Typed(at, text, f"r{at}"),
        lambda at, text: ev.TimePassed(at),
        lambda at, text: ev.LinkLost(at),
        lambda at, text: ev.LinkRestored(at),
    ]
)
_GAPS = st.sampled_from([0.0, 0.0, 0.02, 0.3, 0.9, 2.5, 25.0])
_STEPS = st.lists(st.tuples(_GAPS, _PLAIN, _TEXTS), max_size=50)


@pytest.mark.parametrize("masked", [False, True])
@settings(max_examples=100, deadline=None)
@given(steps=_STEPS)
def test_any_lesson_replays(masked: bool, steps: list[tuple[float, Any, str]]) -> None:
    lines: list[str] = []
    log, turns, at = TurnLog(lines.append, masked=masked), Turns(), 10.0
    for gap, build, text in steps:
        at += gap
        event = build(at, text)
        log.record(event, turns.handle(event))
    assert replay(lines) == []
    assert not masked or not re.search(r"\b(one|two|six|ten)\b", "".join(lines), re.I)


def test_two_words_of_one_shape_are_two_words() -> None:
    lines: list[str] = []
    log, turns = TurnLog(lines.append), Turns()
    for event in (
        SpeechStarted(100.0, 99.9),
        LearnerWords(100.4, "yes", finished=True),
        LearnerWords(100.9, "but", finished=True),
        LearnerWords(101.0, "yes but", finished=True),
    ):
        log.record(event, turns.handle(event))
    assert turns.unanswered == ("t1", "yes but")
    assert replay(lines) == []
    assert "xxx yyy" in lines[3]


@pytest.mark.parametrize(
    ("first", "then", "again"),
    [("two", " six", "two six"), ("two", "six", " two  six one"), ("x y", " x", "x y xenon")],
    ids=["own-space", "more", "within-a-word"],
)
def test_what_says_everything_again_does_so_masked(first: str, then: str, again: str) -> None:
    lines: list[str] = []
    log, turns = TurnLog(lines.append), Turns()
    for event in (
        Typed(100.0, first, "r"),
        LearnerWords(100.2, then),
        LearnerWords(100.4, again, finished=True),
    ):
        log.record(event, turns.handle(event))
    assert turns.unanswered == ("t1", again.strip())
    assert replay(lines) == []


def test_the_log_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_log, "MAX_EVENTS", 4)
    lines: list[str] = []
    log = TurnLog(lines.append)
    lesson(log)
    assert len(lines) == 5
    assert log.lost == 2


@pytest.mark.parametrize(
    ("lines", "where"),
    [
        ([], "line 1"),
        (["{"], "line 1"),
        (['{"turnLog":99}'], "line 1"),
        (['{"turnLog":1,"prefix":"t","linkUp":true}', "[]"], "line 2"),
        (['{"turnLog":1,"prefix":"t","linkUp":true}', '{"event":"Nonsense"}'], "line 2"),
        (['{"turnLog":1,"prefix":"t","linkUp":true}', '{"event":"Typed","at":1}'], "line 2"),
    ],
)
def test_what_is_no_log_is_refused_by_line(lines: list[str], where: str) -> None:
    with pytest.raises(TurnLogInvalid, match=where):
        read(lines)

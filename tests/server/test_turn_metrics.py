"""Spans of a turn: what is measured from where to where, and what never happened."""

import json

import pytest

from server import rtvi
from server.turn_metrics import OPEN_MAX, STALE_S, TurnMetrics


def _spoken() -> TurnMetrics:
    metrics = TurnMetrics()
    metrics.speech_started(onset=10.0, at=10.2)
    metrics.speech_ended(12.0)
    metrics.reply_began("t1", 12.5)
    metrics.sounded("t1", 12.51)
    return metrics


@pytest.mark.req("OWN-11", "CARD-13")
def test_a_spoken_turn_tells_its_spans_in_the_stock_shape_and_in_ours() -> None:
    spans = _spoken().finished("t1", 14.0)
    frame = json.loads(rtvi.encode(spans.message()))
    assert frame["type"] == "metrics"
    assert frame["data"] == {
        "ttfb": [{"processor": "live", "value": 0.5}],
        "processing": [
            {"processor": "gate", "value": 0.2},
            {"processor": "playout", "value": 0.01},
            {"processor": "learner_to_tutor", "value": 0.51},
        ],
        "turn": {
            "turnId": "t1",
            "gateMs": 200,
            "liveMs": 500,
            "playoutMs": 10,
            "learnerToTutorMs": 510,
        },
    }


@pytest.mark.req("OWN-11")
def test_the_log_has_speech_first_audio_and_end_from_the_start_of_the_turn() -> None:
    fields = _spoken().finished("t1", 14.0).log_fields()
    assert (fields["spoke_at"], fields["asked_at"], fields["heard_at"], fields["ended_at"]) == (
        0.0,
        2.0,
        2.51,
        4.0,
    )
    assert all(isinstance(value, float) for name, value in fields.items() if name != "turn")


def test_a_service_that_answers_before_the_gate_shuts_is_measured_all_the_same() -> None:
    metrics = TurnMetrics()
    metrics.speech_started(onset=1.0, at=1.2)
    metrics.reply_began("t1", 2.5)
    metrics.sounded("t1", 2.51)
    metrics.speech_ended(2.0)
    assert metrics.finished("t1", 3.0).live == 0.5
    metrics.typed(4.0)
    metrics.reply_began("t2", 4.5)
    assert metrics.finished("t2", 5.0).gate is None


def test_a_typed_turn_has_no_gate() -> None:
    metrics = TurnMetrics()
    metrics.speech_started(onset=0.0, at=0.2)
    metrics.typed(5.0)
    metrics.reply_began("t1", 5.3)
    metrics.sounded("t1", 5.4)
    spans = metrics.finished("t1", 6.0)
    assert (spans.gate, spans.live) == (None, pytest.approx(0.3))
    assert spans.learner_to_tutor == pytest.approx(0.4)


def test_a_barge_in_is_measured_from_the_onset_and_belongs_to_the_reply_it_cut() -> None:
    metrics = _spoken()
    metrics.speech_started(onset=13.0, at=13.12)
    metrics.paused("t1", 13.13)
    metrics.interrupted()
    metrics.silenced("t1", 13.8)  # the flush after the pause: silent long since
    cut = metrics.finished("t1", 14.0)
    assert cut.barge_in == pytest.approx(0.13)
    metrics.speech_ended(15.0)
    metrics.reply_began("t2", 15.5)
    answer = metrics.finished("t2", 17.0)
    assert (answer.barge_in, answer.gate) == (None, pytest.approx(0.12))
    assert metrics.counts == {"turns": 2, "interruptions": 1}


def test_a_cough_is_a_false_interruption_and_leaves_no_trace_in_the_turn() -> None:
    metrics = _spoken()
    metrics.speech_started(onset=13.0, at=13.12)
    metrics.paused("t1", 13.13)
    metrics.speech_ended(13.2)
    metrics.resumed("t1")
    metrics.resumed("t1")
    assert metrics.finished("t1", 14.0).barge_in is None
    assert metrics.counts["false_interruptions"] == 1
    metrics.typed(20.0)
    metrics.reply_began("t2", 20.1)
    assert metrics.finished("t2", 21.0).gate is None


def test_an_interruption_that_the_gate_did_not_hear_has_no_onset() -> None:
    metrics = _spoken()
    metrics.silenced("t1", 13.0)
    metrics.interrupted()
    assert metrics.finished("t1", 13.5).barge_in is None


def test_noise_long_ago_does_not_belong_to_the_next_turn() -> None:
    metrics = TurnMetrics()
    metrics.speech_started(onset=1.0, at=1.2)
    metrics.speech_ended(2.0)
    metrics.speech_started(onset=3.0 + STALE_S, at=3.1 + STALE_S)
    metrics.speech_ended(4.0 + STALE_S)
    metrics.reply_began("t1", 5.0 + STALE_S)
    assert metrics.finished("t1", 6.0 + STALE_S).gate == pytest.approx(0.1)


def test_turns_that_never_end_are_forgotten() -> None:
    metrics = TurnMetrics()
    for number in range(100):
        metrics.typed(float(number))
        metrics.reply_began(f"t{number}", number + 0.5)
    assert len(metrics._open) == OPEN_MAX
    metrics.dropped("t99")
    assert metrics.finished("t99", 200.0).live is None
    assert metrics.finished("t98", 200.0).live == 0.5

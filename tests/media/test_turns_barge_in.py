"""The learner speaks, coughs or writes while the tutor talks."""

from __future__ import annotations

import pytest

from media import barge, fence
from media import turn_events as ev
from media import turn_limits as machine
from media.turn_events import (
    Duck,
    FinishTurn,
    Flush,
    Pause,
    Resume,
    ShowInterrupted,
    Unduck,
)
from media.turns import State
from tests.media.turn_script import Script


def start_speaking(script: Script) -> None:
    script.feed(ev.SpeechEvidence(script.at))
    script.wait(0.06)
    script.feed(ev.SpeechStarted(script.at, script.at - 0.12))


def kinds(script: Script, *wanted: type) -> list[type]:
    return [type(effect) for _, effect in script.effects if isinstance(effect, wanted)]


VOICE = (Duck, Unduck, Pause, Resume, Flush)


def test_evidence_that_becomes_nothing_only_ducks() -> None:
    script = Script()
    script.tutor_talks()
    script.feed(ev.SpeechEvidence(script.at))
    script.wait(barge.EVIDENCE_S)
    assert kinds(script, *VOICE) == [Duck, Unduck]
    assert script.turns.state is State.TUTOR


@pytest.mark.req("VOICE-49", "VOICE-39", "RTC-11")
@pytest.mark.parametrize(
    "confirmation",
    [
        ev.ReplyInterrupted(0),
        ev.SpeechSustained(0),
        ev.LearnerWords(0, "Wait,"),
    ],
    ids=["service", "500 ms of speech", "words"],
)
def test_a_confirmed_barge_in_flushes_and_finishes_the_reply(confirmation: ev.TurnEvent) -> None:
    script = Script()
    script.tutor_talks()
    start_speaking(script)
    assert kinds(script, *VOICE) == [Duck, Pause]
    script.wait(0.3)
    script.feed(confirmation)
    assert kinds(script, *VOICE) == [Duck, Pause, Flush]
    assert script.of(ShowInterrupted) == [ShowInterrupted(ev.TurnId("t1"))]
    assert script.of(FinishTurn) == [FinishTurn(ev.TurnId("t1"), "What is a fold?", True, False)]
    assert script.turns.state is State.LEARNER
    assert script.turns.current_id == "t2"


@pytest.mark.req("VOICE-49")
def test_t4_a_cough_during_the_reply_is_forgiven() -> None:
    """T4: 150 ms of noise during the reply."""
    script = Script()
    script.tutor_talks()
    start_speaking(script)
    script.wait(0.25)
    script.feed(ev.SpeechEnded(script.at))
    script.wait(barge.FORGIVE_S - 0.01)
    assert kinds(script, *VOICE) == [Duck, Pause]
    script.wait(0.01)
    assert kinds(script, *VOICE) == [Duck, Pause, Resume]
    script.complete()
    script.wait(2)
    script.drain()
    assert [f.interrupted for f in script.of(FinishTurn)] == [False]
    assert not script.of(ShowInterrupted)


def test_t4_a_cough_between_speech_and_reply_does_not_lose_the_reply() -> None:
    """T4: 150 ms of noise after the end of speech, before the reply."""
    script = Script()
    script.speak()
    start_speaking(script)
    script.wait(0.2)
    script.feed(ev.SpeechEnded(script.at))
    script.answer()
    script.complete()
    script.wait(4)
    script.drain()
    assert [f.learner_text for f in script.of(FinishTurn)] == ["What is a fold?"]


def test_t3_a_service_that_never_completes_the_interrupted_turn() -> None:
    """T3: `interrupted` without a later `turn_complete`."""
    script = Script()
    script.tutor_talks()
    start_speaking(script)
    script.feed(ev.ReplyInterrupted(script.at))
    script.wait(1)
    script.feed(ev.SpeechEnded(script.at))
    script.feed(ev.LearnerWords(script.at, "And a fault?", finished=True))
    script.wait(0.5)
    script.answer("It breaks.")
    assert script.turns.accepts_audio
    script.complete()
    script.wait(4)
    script.drain()
    assert [f.learner_text for f in script.of(FinishTurn)] == ["What is a fold?", "And a fault?"]


def test_t3_an_interruption_that_only_the_service_hears_ends_by_deadline() -> None:
    script = Script()
    script.tutor_talks()
    script.feed(ev.ReplyInterrupted(script.at))
    assert not script.turns.quiet
    script.wait(machine.NOISE_S)
    assert script.turns.quiet
    script.forget()
    script.exchange()
    assert len(script.of(FinishTurn)) == 1


@pytest.mark.req("RTC-11")
def test_t19_the_flush_comes_with_the_interruption() -> None:
    """T19: interrupt with 3 s queued; pause at speech, flush at once when confirmed."""
    script = Script()
    script.tutor_talks()
    began = script.at
    start_speaking(script)
    assert script.time_of(Pause) - began <= 0.1
    confirmed = script.at
    script.feed(ev.ReplyInterrupted(script.at))
    assert script.time_of(Flush) == confirmed


@pytest.mark.req("VOICE-37")
def test_a_stray_interruption_with_nothing_playing_is_ignored() -> None:
    script = Script()
    script.speak()
    script.forget()
    assert script.feed(ev.ReplyInterrupted(script.at), ev.TurnCompleted(script.at)) == []
    script.wait(machine.EMPTY_S + 0.1)
    script.answer()
    script.complete()
    script.drain()
    assert len(script.of(FinishTurn)) == 1


def test_audio_of_the_dropped_reply_is_refused_until_its_turn_is_completed() -> None:
    script = Script()
    script.tutor_talks()
    start_speaking(script)
    script.feed(ev.SpeechSustained(script.at))
    script.feed(ev.TutorAudioArrived(script.at, 200))
    assert not script.turns.accepts_audio
    script.feed(ev.ReplyInterrupted(script.at), ev.TutorAudioArrived(script.at, 200))
    script.feed(ev.TutorWords(script.at, "stale"))
    assert not script.turns.accepts_audio
    assert not script.of(ev.BeginReply)
    script.feed(ev.TurnCompleted(script.at))
    script.feed(ev.SpeechEnded(script.at), ev.LearnerWords(script.at, "Stop.", finished=True))
    script.feed(ev.TutorAudioArrived(script.at, 200))
    assert script.turns.accepts_audio
    assert script.of(ev.BeginReply) == [ev.BeginReply(ev.TurnId("t2"))]


def test_a_service_that_ignores_the_interruption_is_heard_again_after_the_fence() -> None:
    script = Script()
    script.tutor_talks()
    start_speaking(script)
    script.feed(ev.SpeechSustained(script.at))
    script.wait(1)
    script.feed(ev.SpeechEnded(script.at), ev.LearnerWords(script.at, "Stop.", finished=True))
    script.feed(ev.TutorAudioArrived(script.at, 200))
    assert not script.turns.accepts_audio
    script.wait(fence.FENCE_S)
    script.feed(ev.TutorAudioArrived(script.at, 200))
    assert script.turns.accepts_audio


def test_the_completion_of_the_interrupted_turn_does_not_end_the_next() -> None:
    script = Script()
    script.tutor_talks()
    start_speaking(script)
    script.feed(ev.ReplyInterrupted(script.at))
    script.wait(1)
    script.feed(ev.SpeechEnded(script.at), ev.LearnerWords(script.at, "Stop.", finished=True))
    script.feed(ev.TurnCompleted(script.at))
    script.wait(machine.EMPTY_S + 1)
    assert script.turns.state is State.FORMULATING
    assert script.turns.current_id == "t2"


def test_an_interruption_before_anything_was_heard_leaves_the_turn_to_the_learner() -> None:
    script = Script()
    script.speak(words="What is a fold")
    script.feed(ev.TutorAudioArrived(script.at, 500))
    script.feed(ev.SpeechStarted(script.at, script.at))
    script.feed(ev.ReplyInterrupted(script.at))
    assert not script.of(ShowInterrupted)
    assert script.turns.current_id == "t1"
    script.wait(1)
    script.feed(ev.SpeechEnded(script.at))
    script.feed(ev.LearnerWords(script.at, "in rock?", finished=True))
    script.feed(ev.TurnCompleted(script.at))
    script.answer()
    script.complete()
    script.drain()
    assert [f.learner_text for f in script.of(FinishTurn)] == ["What is a fold in rock?"]


def test_late_words_of_the_last_utterance_do_not_confirm_a_cough() -> None:
    script = Script()
    script.speak(words="")
    script.feed(ev.LearnerWords(script.at, "What is"))
    script.answer()
    start_speaking(script)
    script.wait(0.4)
    script.feed(ev.LearnerWords(script.at, " a fold?"))
    assert not script.of(Flush)
    assert script.of(ev.ShowLearner)[-1] == ev.ShowLearner(
        ev.TurnId("t1"), "What is a fold?", False
    )


def test_coughs_in_a_row_do_not_hold_the_reply_for_ever() -> None:
    script = Script()
    script.tutor_talks()
    began = script.at
    start_speaking(script)
    while not script.of(Flush) and script.at - began < 5:
        script.wait(0.2)
        script.feed(ev.SpeechEnded(script.at))
        script.wait(0.2)
        script.feed(ev.SpeechStarted(script.at, script.at))
    assert script.time_of(Flush) - began <= barge.HELD_S + 0.5


@pytest.mark.req("RTC-14")
def test_t20_text_goes_to_the_speech_it_came_from() -> None:
    """T20: transcripts delayed past the beginning of the next turn."""
    script = Script()
    script.speak(words="")
    script.answer(ms=400)
    script.complete()
    script.wait(0.4)
    script.drain()
    script.feed(ev.SpeechStarted(script.at, script.at))
    script.wait(0.1)
    script.feed(ev.LearnerWords(script.at, "First.", finished=True))
    script.wait(0.5)
    script.feed(ev.LearnerWords(script.at, "Second.", finished=True))
    script.feed(ev.SpeechEnded(script.at))
    script.answer(ms=400)
    script.complete()
    script.drain()
    finished = [(f.turn_id, f.learner_text) for f in script.of(FinishTurn)]
    assert finished == [("t1", "First."), ("t2", "Second.")]


def test_t20_turns_finish_in_the_order_of_their_speech() -> None:
    """T20: the first waits for its transcript while the second is over already."""
    script = Script()
    script.speak(words="")
    script.feed(ev.LearnerWords(script.at, "First"))
    script.answer(ms=400)
    script.feed(ev.ReplyInterrupted(script.at), ev.TurnCompleted(script.at))
    script.feed(ev.Typed(script.at, "Second", "r2"))
    script.answer(ms=100)
    script.complete()
    script.drain()
    finished = [(f.turn_id, f.learner_text) for f in script.of(FinishTurn)]
    assert finished == [("t1", "First"), ("t2", "Second")]


@pytest.mark.req("VOICE-64", "OWN-39")
def test_typed_text_interrupts_and_is_one_exchange() -> None:
    script = Script()
    script.tutor_talks()
    out = script.feed(ev.Typed(script.at, "And a fault?", "r9"))
    assert [type(effect) for effect in out] == [
        Flush,
        ShowInterrupted,
        FinishTurn,
        ev.ShowLearner,
        ev.SendTyped,
        ev.ShowState,
    ]
    assert ev.SendTyped("And a fault?", "r9") in out
    script.forget()
    script.feed(ev.ReplyInterrupted(script.at), ev.TurnCompleted(script.at))
    script.answer("It breaks.")
    script.complete()
    script.wait(4)
    script.drain()
    assert script.of(FinishTurn) == [FinishTurn(ev.TurnId("t2"), "And a fault?", False, True)]


@pytest.mark.req("VOICE-64")
def test_typed_text_while_the_learner_waits_joins_the_turn() -> None:
    script = Script()
    script.speak()
    script.feed(ev.Typed(script.at, "In rock.", "r1"))
    # The service cancels what it was about to say and answers both.
    script.feed(ev.TurnCompleted(script.at))
    script.wait(0.5)
    script.answer()
    script.complete()
    script.drain()
    (finished,) = script.of(FinishTurn)
    assert finished.learner_text == "What is a fold? In rock."
    assert finished.typed
    assert [s.request_id for s in script.of(ev.SendTyped)] == ["r1"]


def test_t1_three_exchanges_one_after_another() -> None:
    """T1: nothing of a turn stays behind that could stop the next."""
    script = Script()
    for _ in range(3):
        script.exchange()
    assert [f.turn_id for f in script.of(FinishTurn)] == ["t1", "t2", "t3"]
    assert len(script.of(ev.BeginReply)) == 3

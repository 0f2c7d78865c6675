"""The turn machine by table: ordinary exchanges, barge-in, deadlines."""

from __future__ import annotations

import pytest

from media import turn_events as ev
from media import turn_limits as machine
from media.turn_events import DropReply, FinishTurn
from media.turns import State
from tests.media.turn_script import Script


@pytest.mark.req("RTC-12", "RTC-16", "VOICE-52", "OBS-21")
def test_a_spoken_exchange_from_listening_to_listening() -> None:
    script = Script()
    script.exchange()
    assert script.states == ["formulating", "speaking", "listening"]
    assert script.of(FinishTurn) == [FinishTurn(ev.TurnId("t1"), "What is a fold?", False, False)]
    assert script.of(ev.QuietMoment) == [ev.QuietMoment()]
    assert script.turns.quiet
    assert script.turns.next_deadline() is None


@pytest.mark.req("RTC-12")
def test_speaking_lasts_until_the_last_sample_is_played() -> None:
    script = Script()
    script.speak()
    script.answer(ms=4000)
    script.complete()
    script.wait(3.9)
    assert script.turns.state is State.TUTOR
    assert not script.of(FinishTurn)
    script.drain()
    assert script.turns.state is State.IDLE
    assert len(script.of(FinishTurn)) == 1


@pytest.mark.req("RTC-14", "VOICE-16", "VOICE-51")
def test_word_deltas_make_one_bubble_a_side() -> None:
    script = Script()
    script.feed(ev.SpeechStarted(script.at, script.at))
    for delta in ("What", " is", " a fold?"):
        script.feed(ev.LearnerWords(script.at, delta))
    script.feed(ev.SpeechEnded(script.at), ev.LearnerWords(script.at, "", finished=True))
    for delta in ("It ", "bends ", "rock."):
        script.feed(ev.TutorWords(script.at, delta))
    assert script.of(ev.ShowLearner)[-1] == ev.ShowLearner(ev.TurnId("t1"), "What is a fold?", True)
    assert script.of(ev.ShowTutor)[-1] == ev.ShowTutor(ev.TurnId("t1"), "It bends rock.")
    assert len({shown.turn_id for shown in script.of(ev.ShowTutor)}) == 1


@pytest.mark.req("VOICE-14")
def test_an_interim_is_replaced_and_the_final_commits() -> None:
    script = Script()
    script.feed(ev.SpeechStarted(script.at, script.at))
    script.feed(ev.LearnerWords(script.at, "what is", interim=True))
    script.feed(ev.LearnerWords(script.at, "what is a foal", interim=True))
    script.feed(ev.LearnerWords(script.at, "What is a fold?", finished=True))
    shown = [(s.text, s.final) for s in script.of(ev.ShowLearner)]
    assert shown == [("what is", False), ("what is a foal", False), ("What is a fold?", True)]


@pytest.mark.req("VOICE-26")
@pytest.mark.parametrize("more", ["And why?", " And why?"])
@pytest.mark.parametrize("interim", [False, True])
def test_between_two_sentences_is_one_space(more: str, interim: bool) -> None:
    script = Script()
    script.speak(words="What is a fold?")
    script.feed(ev.LearnerWords(script.at, more, interim=interim))
    assert script.turns.unanswered == ("t1", "What is a fold? And why?")


@pytest.mark.req("VOICE-26")
@pytest.mark.parametrize("again", ["What is a fold?", "what is  a fold?"])
def test_a_resent_transcript_changes_nothing(again: str) -> None:
    script = Script()
    script.speak()
    script.forget()
    assert script.feed(ev.LearnerWords(script.at, again, finished=True)) == []
    script.answer()
    script.complete()
    script.drain()
    script.forget()
    assert script.feed(ev.LearnerWords(script.at, again, finished=True)) == []
    assert script.wait(60) == []


def test_a_final_that_repeats_the_deltas_replaces_them() -> None:
    script = Script()
    script.feed(ev.SpeechStarted(script.at, script.at))
    script.feed(ev.LearnerWords(script.at, "what is"), ev.LearnerWords(script.at, " a fold"))
    script.feed(ev.LearnerWords(script.at, "What is a fold?", finished=True))
    assert script.of(ev.ShowLearner)[-1].text == "What is a fold?"


@pytest.mark.req("VOICE-32")
def test_a_pause_in_the_middle_never_ends_the_learners_turn() -> None:
    script = Script()
    script.speak(words="")
    script.feed(ev.LearnerWords(script.at, "So a fold is"))
    script.wait(10.0)
    script.feed(ev.SpeechStarted(script.at, script.at))
    script.wait(10.0)
    assert script.turns.state is State.LEARNER
    script.feed(ev.SpeechEnded(script.at), ev.LearnerWords(script.at, " bent rock?"))
    script.answer()
    script.complete()
    script.wait(4)
    script.drain()
    script.wait(1)
    assert [f.learner_text for f in script.of(FinishTurn)] == ["So a fold is bent rock?"]


@pytest.mark.req("VOICE-52", "OBS-26")
def test_a_late_transcript_within_the_grace_still_counts() -> None:
    script = Script()
    script.speak(words="")
    script.answer(ms=500)
    script.complete()
    script.wait(0.5)
    script.drain()
    assert script.turns.quiet
    script.wait(0.3)
    assert not script.of(FinishTurn)
    script.feed(ev.LearnerWords(script.at, "What is a fold?", finished=True))
    assert [f.learner_text for f in script.of(FinishTurn)] == ["What is a fold?"]


@pytest.mark.req("OBS-26", "VOICE-56")
def test_after_the_grace_an_empty_side_is_dropped() -> None:
    script = Script()
    script.speak(words="")
    script.answer(ms=500)
    script.complete()
    script.drain()
    script.wait(machine.GRACE_S)
    assert script.of(DropReply) == [DropReply(ev.TurnId("t1"), "no_learner")]
    assert not script.of(FinishTurn)


@pytest.mark.req("VOICE-56")
def test_noise_makes_no_bubble_and_no_turn() -> None:
    script = Script()
    script.speak(0.2, words="")
    script.wait(machine.NOISE_S)
    assert script.of(DropReply) == [DropReply(ev.TurnId("t1"), "noise")]
    assert not script.of(ev.ShowLearner)
    assert not script.of(ev.Trouble)
    assert script.turns.quiet


def test_words_after_supposed_noise_open_their_own_turn() -> None:
    script = Script()
    script.speak(0.3, words="")
    script.wait(machine.NOISE_S + 0.1)
    script.feed(ev.LearnerWords(script.at, "Nie.", finished=True))
    script.answer()
    script.complete()
    script.drain()
    assert [(f.turn_id, f.learner_text) for f in script.of(FinishTurn)] == [("t2", "Nie.")]


@pytest.mark.req("VOICE-19")
def test_generation_complete_ends_nothing() -> None:
    script = Script()
    script.speak()
    script.answer()
    script.forget()
    script.feed(ev.GenerationCompleted(script.at))
    assert script.turns.state is State.TUTOR
    assert [type(effect) for _, effect in script.effects] == [ev.EndReply]


@pytest.mark.req("VOICE-55", "VOICE-18")
def test_filler_and_answer_are_one_bubble_and_one_exchange() -> None:
    script = Script()
    script.speak()
    script.answer("Let me think. ", ms=800)
    script.feed(ev.GenerationCompleted(script.at), ev.TurnCompleted(script.at, in_progress=True))
    script.wait(0.8)
    script.drain()
    assert script.turns.state is State.FORMULATING
    script.wait(machine.FORMULATING_S + 5)
    assert not script.of(FinishTurn)
    assert not script.of(ev.Trouble)
    script.answer("It bends rock.")
    script.complete()
    script.wait(4)
    script.drain()
    assert len(script.of(ev.BeginReply)) == 1
    assert script.of(ev.ShowTutor)[-1].text == "Let me think. It bends rock."
    assert len(script.of(FinishTurn)) == 1


@pytest.mark.req("VOICE-55")
def test_an_answer_after_a_filler_is_waited_for_no_longer_than_any_other() -> None:
    """It has been heard to its end; nobody says that it is over."""
    script = Script()
    script.speak()
    script.answer("Let me think. ", ms=800)
    script.feed(ev.TurnCompleted(script.at, in_progress=True))
    script.wait(0.8)
    script.drain()
    script.answer("It bends rock.")
    script.feed(ev.GenerationCompleted(script.at))
    script.wait(4)
    script.drain()
    assert script.turns.state is State.TUTOR
    script.wait(machine.COMPLETION_S)
    assert len(script.of(FinishTurn)) == 1
    assert script.turns.state is State.IDLE


def test_a_tutor_who_speaks_first_is_heard_but_not_saved() -> None:
    script = Script()
    script.answer("Welcome.", ms=900)
    script.complete()
    script.drain()
    assert script.states == ["formulating", "speaking", "listening"]
    assert script.of(DropReply) == [DropReply(ev.TurnId("t1"), "no_learner")]


def test_words_of_a_reply_that_is_over_open_no_turn() -> None:
    script = Script()
    script.exchange()
    script.forget()
    assert script.feed(ev.TutorWords(script.at, " (end)")) == []
    assert not script.turns.accepts_audio


@pytest.mark.req("RTC-16")
def test_a_reply_that_comes_while_the_learner_still_speaks_waits_for_the_pause() -> None:
    script = Script()
    script.feed(ev.SpeechStarted(script.at, script.at), ev.LearnerWords(script.at, "Well"))
    script.wait(1)
    out = script.feed(ev.TutorAudioArrived(script.at, 500))
    assert [type(effect) for effect in out] == [ev.BeginReply, ev.Pause]
    out = script.feed(ev.SpeechEnded(script.at))
    assert ev.Resume() in out


def test_a_held_reply_is_not_held_for_ever() -> None:
    script = Script()
    script.feed(ev.SpeechStarted(script.at, script.at), ev.LearnerWords(script.at, "Well"))
    script.feed(ev.TutorAudioArrived(script.at, 500))
    script.forget()
    assert ev.Resume() in script.wait(1.5)
    script.feed(ev.PlayoutStarted(script.at))
    assert script.turns.state is State.TUTOR


@pytest.mark.req("OBS-21", "OBS-24")
def test_quiet_is_only_when_nobody_speaks_and_nothing_is_due() -> None:
    script = Script()
    quiet = [script.turns.quiet]
    script.feed(ev.SpeechStarted(script.at, script.at))
    quiet.append(script.turns.quiet)
    script.feed(ev.SpeechEnded(script.at), ev.LearnerWords(script.at, "Why?", finished=True))
    quiet.append(script.turns.quiet)
    script.answer()
    quiet.append(script.turns.quiet)
    script.complete()
    script.drain()
    quiet.append(script.turns.quiet)
    assert quiet == [True, False, False, False, True]

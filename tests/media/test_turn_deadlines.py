"""A turn whose other side falls silent, a line that breaks, a lesson that ends: always an end."""

from __future__ import annotations

import pytest

from media import turn_events as ev
from media import turn_limits as machine
from media.turn_events import DropReply, FinishTurn, ShowState
from media.turns import State, Turns
from tests.media.turn_script import Script

# --- deadlines -----------------------------------------------------------------------------------


@pytest.mark.req("VOICE-50")
def test_silence_instead_of_a_reply_is_a_trouble_and_input_reopens() -> None:
    script = Script()
    script.speak()
    script.wait(machine.FORMULATING_S)
    assert [t.code for t in script.of(ev.Trouble)] == ["silent_turn"]
    assert script.of(DropReply) == [DropReply(ev.TurnId("t1"), "silent_turn")]
    assert script.turns.state is State.IDLE
    script.forget()
    script.exchange()
    assert len(script.of(FinishTurn)) == 1


def test_t2_a_tutor_who_falls_silent_is_not_speaking() -> None:
    """T2: speaking is said, no audio follows."""
    script = Script()
    script.speak()
    script.answer(ms=300)
    script.drain()
    script.forget()
    script.wait(machine.SILENT_S)
    assert script.states == ["formulating"]
    script.wait(machine.FORMULATING_S)
    assert [t.code for t in script.of(ev.Trouble)] == ["silent_turn"]
    assert len(script.of(FinishTurn)) == 1
    script.forget()
    script.exchange()
    assert len(script.of(FinishTurn)) == 1


def test_a_said_reply_whose_completion_is_missing_ends_soon() -> None:
    script = Script()
    script.speak()
    script.answer()
    script.feed(ev.GenerationCompleted(script.at))
    script.wait(4)
    script.drain()
    script.wait(machine.COMPLETION_S)
    assert len(script.of(FinishTurn)) == 1
    # The late completion belongs to the exchange that is over, not to the next one.
    script.speak(words="And a fault?")
    script.feed(ev.TurnCompleted(script.at))
    script.wait(machine.EMPTY_S + 0.1)
    assert script.turns.state is State.FORMULATING


def test_a_playout_that_never_reports_is_given_up() -> None:
    script = Script()
    script.speak()
    script.answer(ms=1000)
    script.complete()
    script.wait(1.0 + machine.STUCK_S)
    assert [t.code for t in script.of(ev.Trouble)] == ["stuck_playout"]
    assert len(script.of(FinishTurn)) == 1


def test_empty_completions_in_a_row_are_a_trouble() -> None:
    script = Script()
    for _ in range(machine.EMPTY_TURNS):
        assert not script.of(ev.Trouble)
        script.speak()
        script.feed(ev.TurnCompleted(script.at, reason="RESPONSE_REJECTED"))
        script.wait(machine.EMPTY_S)
    assert [t.code for t in script.of(ev.Trouble)] == ["empty_turns"]
    assert {d.why for d in script.of(DropReply)} == {"empty"}


def test_a_reply_after_an_empty_completion_is_still_taken() -> None:
    script = Script()
    script.speak()
    script.feed(ev.TurnCompleted(script.at))
    script.wait(machine.EMPTY_S / 2)
    script.answer()
    script.complete()
    script.drain()
    assert len(script.of(FinishTurn)) == 1


def _written_only(script: Script) -> ev.VoiceText:
    script.speak()
    script.feed(ev.TutorWords(script.at, "It bends rock."), ev.TurnCompleted(script.at))
    script.feed(ev.TurnCompleted(script.at))
    (wanted,) = script.of(ev.VoiceText)
    assert wanted.text == "It bends rock."
    assert not script.of(ev.Trouble)
    return wanted


def test_text_without_audio_is_said_by_another_voice() -> None:
    script = Script()
    wanted = _written_only(script)
    script.answer()
    script.complete()
    script.drain()
    assert [turn.turn_id for turn in script.of(FinishTurn)] == [wanted.turn_id]


def test_text_that_nobody_can_say_is_a_trouble() -> None:
    script = Script()
    wanted = _written_only(script)
    script.feed(ev.TextUnvoiced(script.at, "another"))
    assert not script.of(ev.Trouble)
    script.feed(ev.TextUnvoiced(script.at, wanted.turn_id))
    assert [t.code for t in script.of(ev.Trouble)] == ["text_without_audio"]
    assert not script.of(FinishTurn)
    assert script.turns.quiet


@pytest.mark.parametrize("lost", [True, False])
def test_text_that_waits_for_a_voice_waits_no_longer_than_its_deadline(lost: bool) -> None:
    script = Script()
    _written_only(script)
    if lost:
        script.feed(ev.LinkLost(script.at), ev.LinkRestored(script.at))
        assert not script.of(ev.SendTyped)
    script.wait(machine.FORMULATING_S + 0.1)
    assert [t.code for t in script.of(ev.Trouble)] == ["silent_turn"]
    assert script.turns.quiet


def test_inaudible_audio_is_a_trouble() -> None:
    script = Script()
    script.speak()
    script.answer()
    script.complete()
    script.feed(ev.PlayoutDrained(script.at, audible=False))
    assert [t.code for t in script.of(ev.Trouble)] == ["inaudible"]


def test_endless_noise_at_the_gate_does_not_keep_one_turn_open() -> None:
    script = Script()
    script.feed(ev.SpeechStarted(script.at, script.at))
    script.wait(machine.SPEECH_MAX_S + machine.NOISE_S)
    assert script.of(DropReply) == [DropReply(ev.TurnId("t1"), "noise")]
    assert script.turns.state is State.LEARNER
    assert script.turns.current_id == "t2"


# --- link and end --------------------------------------------------------------------------------


@pytest.mark.req("VOICE-64")
def test_typed_text_waits_for_the_link_and_is_sent_again_when_unanswered() -> None:
    script = Script()
    script.feed(ev.Typed(script.at, "What is a fold?", "r1"))
    script.feed(ev.LinkLost(script.at))
    script.feed(ev.Typed(script.at, "And a fault?", "r2"))
    assert [s.request_id for s in script.of(ev.SendTyped)] == ["r1"]
    script.wait(machine.FORMULATING_S + 5)
    script.forget()
    script.feed(ev.LinkRestored(script.at))
    assert [s.request_id for s in script.of(ev.SendTyped)] == ["r1", "r2"]
    script.answer()
    script.complete()
    script.drain()
    (finished,) = script.of(FinishTurn)
    assert finished.learner_text == "What is a fold? And a fault?"
    assert finished.typed


def test_a_link_that_stays_down_is_told() -> None:
    script = Script(Turns(link_up=False))
    script.feed(ev.Typed(script.at, "What is a fold?", "r1"))
    script.wait(machine.LINK_DOWN_S)
    assert script.of(DropReply) == [DropReply(ev.TurnId("t1"), "link_down")]
    assert script.feed(ev.LinkRestored(script.at))[0] == ShowState("listening", False)


def test_what_came_before_the_link_broke_is_played_and_finished() -> None:
    script = Script()
    script.speak()
    script.answer()
    script.feed(ev.LinkLost(script.at))
    assert script.of(ev.EndReply)
    script.wait(4)
    script.drain()
    assert len(script.of(FinishTurn)) == 1


@pytest.mark.req("OBS-27")
def test_closing_saves_what_was_heard() -> None:
    script = Script()
    script.tutor_talks()
    script.feed(ev.Closed(script.at))
    assert script.of(FinishTurn) == [FinishTurn(ev.TurnId("t1"), "What is a fold?", True, False)]
    assert script.of(ev.Flush)
    assert script.turns.next_deadline() is None
    assert script.feed(ev.Typed(script.at, "more", "r")) == []
    assert not script.turns.quiet


@pytest.mark.req("OBS-27")
def test_closing_within_the_grace_saves_the_last_partial() -> None:
    """T20: last words missing after hang-up."""
    script = Script()
    script.speak(words="")
    script.feed(ev.LearnerWords(script.at, "What is a fo", interim=True))
    script.answer(ms=200)
    script.complete()
    script.drain()
    script.feed(ev.Closed(script.at))
    assert [f.learner_text for f in script.of(FinishTurn)] == ["What is a fo"]
    assert script.of(ev.ShowLearner)[-1].final


def test_closing_before_a_reply_drops_the_turn() -> None:
    script = Script()
    script.speak()
    script.feed(ev.Closed(script.at))
    assert script.of(DropReply) == [DropReply(ev.TurnId("t1"), "closed")]

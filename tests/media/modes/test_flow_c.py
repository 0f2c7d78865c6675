"""Flow C: the Live model calls for a move and says it."""

from __future__ import annotations

import pytest

from media import turn_events as ev
from media.modes import agent_events as ag
from media.modes.agent_learner import CALL_S
from media.modes.agent_voiced import State, Voicing
from media.modes.awaited import AWAY_S, TOOL_SPEECH_S
from media.modes.flow_c import NOTHING_SAID, RETRY_S, learner_text
from tests.media.modes.play import Play


def call(play: Play, text: str, call_id: str = "c1") -> None:
    play.feed(ag.Called(play.at, call_id, text))


def answers(play: Play) -> list[tuple[str, str]]:
    return [(one.call_id, one.outcome) for one in play.of(ag.AnswerCall)]


@pytest.mark.req("VOICE-41")
def test_a_call_is_asked_answered_and_spoken() -> None:
    play = Play(Voicing.TOOL)
    play.feed(ag.Activity(play.at, True), ev.LearnerWords(play.at, "It is light."))
    play.feed(ag.Activity(play.at, False))
    play.wait(0.5)
    assert not play.of(ag.Ask)
    assert not play.sound()
    play.feed(ev.TurnCompleted(play.at))
    call(play, "It is light, I think.")
    assert [ask.text for ask in play.of(ag.Ask)] == ["It is light, I think."]
    play.decide()
    assert answers(play) == [("c1", "move")]
    assert not play.of(ag.ReadAloud)
    assert play.sound()
    play.feed(ev.TurnCompleted(play.at))
    play.play()
    play.drain()
    assert play.state is State.LISTENING


@pytest.mark.req("VOICE-42")
def test_a_cancelled_call_writes_nothing() -> None:
    play = Play(Voicing.TOOL)
    call(play, "It is light.")
    play.feed(ag.CallsCancelled(play.at, ("other",)))
    assert not play.of(ag.StopAsking)
    play.feed(ag.CallsCancelled(play.at, ("c1",)))
    assert len(play.of(ag.StopAsking)) == 1
    play.feed(ag.Decided(play.at, "a1", "Late."))
    assert answers(play) == []
    assert not play.of(ev.ShowTutor)


@pytest.mark.req("VOICE-42")
def test_an_interrupted_call_writes_nothing() -> None:
    play = Play(Voicing.TOOL)
    call(play, "It is light.")
    play.feed(ev.ReplyInterrupted(play.at))
    assert len(play.of(ag.StopAsking)) == 1
    assert answers(play) == [("c1", "noop")]
    assert play.state is State.LISTENING


@pytest.mark.req("VOICE-43")
@pytest.mark.parametrize("text", [NOTHING_SAID, ""])
def test_a_call_for_noise_is_a_noop(text: str) -> None:
    play = Play(Voicing.TOOL)
    call(play, text)
    assert answers(play) == [("c1", "noop")]
    assert not play.of(ag.Ask)


@pytest.mark.req("VOICE-43")
def test_a_call_without_words_has_those_of_the_transcript() -> None:
    play = Play(Voicing.TOOL)
    play.feed(ev.LearnerWords(play.at, "It is light."))
    call(play, "")
    assert [ask.text for ask in play.of(ag.Ask)] == ["It is light."]


@pytest.mark.req("VOICE-41")
def test_a_second_call_for_the_same_turn_is_a_noop() -> None:
    play = Play(Voicing.TOOL)
    call(play, "It is light.")
    call(play, "It is light.", "c2")
    assert answers(play) == [("c2", "noop")]
    assert len(play.of(ag.Ask)) == 1


@pytest.mark.req("PROMPT-33")
def test_a_failed_call_may_be_made_twice_more_in_the_same_turn() -> None:
    play = Play(Voicing.TOOL)
    for number in range(1, 4):
        call(play, "It is light.", f"c{number}")
        play.feed(ag.Undecided(play.at, "a1"))
        if number == 2:
            assert play.sound()  # it says that it tries again
    assert answers(play) == [("c1", "error"), ("c2", "error"), ("c3", "error")]
    assert [ask.turn_id for ask in play.of(ag.Ask)] == ["a1", "a1", "a1"]
    assert [one.why for one in play.of(ev.DropReply)] == ["undecided"]


def test_a_model_that_does_not_call_again_is_left() -> None:
    play = Play(Voicing.TOOL)
    call(play, "It is light.")
    play.feed(ag.Undecided(play.at, "a1"))
    play.wait(RETRY_S)
    assert [one.code for one in play.of(ev.Trouble)] == ["silent_turn"]


def test_a_model_that_makes_no_call_leaves_nobody_in_silence() -> None:
    play = Play(Voicing.TOOL)
    play.feed(ag.Activity(play.at, True), ev.LearnerWords(play.at, "It is light."))
    play.feed(ag.Activity(play.at, False))
    play.wait(0.4 + CALL_S)
    assert [ask.text for ask in play.of(ag.Ask)] == ["It is light."]
    play.decide()
    assert len(play.of(ag.Synthesise)) == 1


def test_a_model_that_does_not_say_the_move_is_stood_in_for() -> None:
    play = Play(Voicing.TOOL)
    call(play, "It is light.")
    play.decide()
    play.wait(TOOL_SPEECH_S)
    assert len(play.of(ag.Synthesise)) == 1
    assert not play.sound()


def test_a_call_whose_session_is_gone_is_answered_by_another_voice() -> None:
    play = Play(Voicing.TOOL)
    call(play, "It is light.")
    play.feed(ev.LinkLost(play.at), ev.LinkRestored(play.at))
    play.decide()
    assert answers(play) == []
    assert len(play.of(ag.Synthesise)) == 1


@pytest.mark.req("VOICE-41")
@pytest.mark.parametrize(
    ("args", "text"),
    [
        ({"learnerText": " Light. ", "sessionId": "other"}, "Light."),
        ({"learnerText": 7}, ""),
        ({}, ""),
    ],
)
def test_only_the_learners_words_are_read_of_a_call(args: dict[str, object], text: str) -> None:
    assert learner_text(args) == text


@pytest.mark.req("RTC-21", "VOICE-31")
def test_a_reply_stands_still_while_nobody_is_on_the_line() -> None:
    """T12: whoever comes back within the grace hears the rest; nobody coming back ends it."""
    play = Play()
    play.asked()
    play.sound(5000.0)
    play.play()
    play.wait(1.0)
    play.feed(ag.LineLost(play.at))
    play.wait(15.0)
    assert (play.state, play.of(ev.Trouble)) == (State.SPEAKING, [])
    play.wait(5.0 + AWAY_S)
    assert [one.code for one in play.of(ev.Trouble)] == ["stuck_playout"]
    assert play.state is State.LISTENING

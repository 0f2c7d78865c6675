"""Agent-voiced lessons by table and by the clock: one voice, no phantom, the microphone waits."""

from __future__ import annotations

import pytest

from media import turn_events as ev
from media.modes import agent_events as ag
from media.modes.agent_learner import WRITE_DOWN_S
from media.modes.agent_stage import ASK_S
from media.modes.agent_voiced import State, Voicing
from media.modes.awaited import DRIFT_S, FALLBACK_S, SYNTHESIS_S
from media.turn_limits import SILENT_S, STUCK_S
from tests.media.modes.play import Play


def microphone(play: Play) -> list[bool]:
    return [effect.open for effect in play.of(ag.Microphone)]


# --- the learner ---------------------------------------------------------------------------------


@pytest.mark.req("VOICE-25")
def test_a_bubble_is_committed_by_the_activity_and_not_by_the_models_turn() -> None:
    play = Play()
    play.feed(ag.Activity(play.at, True), ev.LearnerWords(play.at, "It is light."))
    play.feed(ev.TurnCompleted(play.at), ev.GenerationCompleted(play.at))
    assert not play.of(ag.Ask)
    play.feed(ag.Activity(play.at, False))
    play.wait(0.39)
    assert not play.of(ag.Ask)
    play.wait(0.02)
    assert [ask.text for ask in play.of(ag.Ask)] == ["It is light."]
    shown = play.of(ev.ShowLearner)
    assert [(one.text, one.final) for one in shown] == [
        ("It is light.", False),
        ("It is light.", True),
    ]
    assert play.of(ev.ShowState)[-1].state == "formulating"


@pytest.mark.req("VOICE-26")
def test_a_resent_transcript_asks_nobody() -> None:
    play = Play()
    play.asked()
    play.sound()
    play.feed(ev.TurnCompleted(play.at))
    play.play()
    play.drain()
    play.feed(ev.LearnerWords(play.at, "It is light.", True))
    play.wait(10)
    assert len(play.of(ag.Ask)) == 1
    assert play.state is State.LISTENING


@pytest.mark.req("VOICE-27")
@pytest.mark.parametrize("decided", [False, True])
def test_commits_while_a_reply_is_awaited_are_ignored(decided: bool) -> None:
    play = Play()
    play.say()
    if decided:
        play.decide()
    play.feed(ag.Activity(play.at, True), ev.LearnerWords(play.at, "And heat.", True))
    play.wait(1.0)
    assert [ask.text for ask in play.of(ag.Ask)] == ["It is light."]


@pytest.mark.req("VOICE-28")
@pytest.mark.parametrize("moment", ["committing", "asking", "awaiting", "speaking"])
def test_nothing_happens_after_the_teardown(moment: str) -> None:
    play = Play()
    play.feed(ag.Activity(play.at, True), ev.LearnerWords(play.at, "It is light."))
    play.feed(ag.Activity(play.at, False))
    if moment != "committing":
        play.wait(0.4)
    if moment in ("awaiting", "speaking"):
        play.decide()
    if moment == "speaking":
        play.sound()
        play.play()
    play.feed(ev.Closed(play.at))
    assert len(play.of(ag.StopAsking)) == (moment == "asking")
    before = len(play.out)
    assert play.machine.next_deadline() is None
    play.wait(100)
    play.feed(ag.Decided(play.at, "a1", "Late."), ag.Voiced(play.at, "a1", 500.0))
    assert len(play.out) == before
    assert len(play.of(ag.Ask)) == (moment != "committing")


# --- the reply, read by the Live voice -----------------------------------------------------------


@pytest.mark.req("VOICE-29", "VOICE-30", "VOICE-35", "GOTCHA-6")
def test_only_requested_speech_is_heard() -> None:
    play = Play()
    play.say()
    assert not play.sound()  # the model answers by itself while the agent decides
    play.feed(ev.TurnCompleted(play.at))
    play.decide()
    assert [(one.turn_id, one.text) for one in play.of(ag.ReadAloud)] == [("a1", "What bends it?")]
    assert [tutor.text for tutor in play.of(ev.ShowTutor)] == ["What bends it?"]
    assert play.sound()
    play.feed(ev.TurnCompleted(play.at))
    play.play()
    play.drain()
    assert not play.sound()
    assert play.state is State.LISTENING


@pytest.mark.req("VOICE-35", "VOICE-37")
@pytest.mark.parametrize("end", ["interrupted", "completed", "time"])
def test_talk_that_runs_when_speech_is_requested_is_not_taken_for_it(end: str) -> None:
    play = Play()
    play.say()
    play.sound()
    play.decide()
    assert not play.sound()
    if end == "interrupted":
        play.feed(ev.ReplyInterrupted(play.at), ev.TurnCompleted(play.at))
    elif end == "completed":
        play.feed(ev.TurnCompleted(play.at))
    else:
        play.wait(DRIFT_S)
    assert play.sound()
    assert not play.of(ev.ShowInterrupted)
    assert not play.of(ev.Flush)


@pytest.mark.req("VOICE-31", "UI-26", "RTC-12")
def test_the_microphone_waits_until_the_reply_has_been_heard() -> None:
    play = Play()
    play.say()
    assert microphone(play) == []
    play.decide()
    assert microphone(play) == [False]
    play.sound(4000)
    play.feed(ev.TurnCompleted(play.at))
    play.play()
    play.wait(3.9)
    assert microphone(play) == [False]
    play.drain()
    assert microphone(play) == [False, True]
    assert [(one.state, one.may_interrupt) for one in play.of(ev.ShowState)] == [
        ("formulating", False),
        ("speaking", False),
        ("listening", False),
    ]


@pytest.mark.req("VOICE-31")
def test_a_pause_in_the_reply_does_not_open_the_microphone() -> None:
    play = Play()
    play.asked()
    play.sound(40)
    play.play()
    play.drain()
    play.wait(1.3)
    assert play.sound()
    play.wait(SILENT_S + 1)
    assert microphone(play) == [False]
    play.feed(ev.TurnCompleted(play.at))
    play.drain()
    assert microphone(play) == [False, True]


@pytest.mark.req("VOICE-36")
def test_the_first_audio_calls_the_fallback_off() -> None:
    play = Play()
    play.asked()
    play.wait(1.7)
    assert play.sound(40)
    play.play()
    play.drain()
    play.wait(1.3)
    assert play.sound()
    assert not play.of(ag.Synthesise)


@pytest.mark.req("VOICE-38", "GOTCHA-6")
def test_after_1_8_s_the_speech_model_owns_the_turn() -> None:
    play = Play()
    play.asked()
    play.wait(FALLBACK_S - 0.01)
    assert not play.of(ag.Synthesise)
    play.wait(0.01)
    assert [one.text for one in play.of(ag.Synthesise)] == ["What bends it?"]
    play.wait(0.1)
    assert not play.sound()  # the Live voice at 1.9 s
    play.feed(ev.TurnCompleted(play.at))
    assert play.voice()
    assert not play.sound()
    play.play()
    play.drain()
    assert play.state is State.LISTENING
    assert len(play.of(ag.ReplyOver)) == 1


@pytest.mark.req("VOICE-37", "VOICE-39")
@pytest.mark.parametrize("owned", [False, True])
def test_a_stray_interruption_cuts_nothing(owned: bool) -> None:
    play = Play()
    play.asked()
    if owned:
        play.wait(FALLBACK_S)
        play.voice()
    else:
        play.sound()
    play.play()
    play.feed(ev.ReplyInterrupted(play.at))
    assert not play.of(ev.Flush)
    assert not play.of(ev.ShowInterrupted)
    assert play.state is State.SPEAKING


@pytest.mark.req("VOICE-37", "VOICE-39")
def test_an_interruption_of_the_tail_of_a_finished_reply_is_a_real_one() -> None:
    play = Play()
    play.asked()
    play.sound(5000)
    play.feed(ev.TurnCompleted(play.at))
    play.play()
    play.feed(ev.ReplyInterrupted(play.at))
    assert len(play.of(ev.Flush)) == len(play.of(ev.ShowInterrupted)) == 1
    assert play.state is State.LISTENING


@pytest.mark.req("VOICE-66")
def test_without_reply_speech_nobody_speaks() -> None:
    play = Play()
    play.feed(ag.SpeechSwitched(play.at, False))
    play.asked()
    assert not play.of(ag.ReadAloud)
    assert not play.of(ag.Synthesise)
    assert [one.text for one in play.of(ag.ReplyOver)] == ["What bends it?"]
    assert play.state is State.LISTENING


@pytest.mark.req("VOICE-66")
def test_switching_reply_speech_off_stops_the_voice_without_a_mark() -> None:
    play = Play()
    play.asked()
    play.sound()
    play.play()
    play.feed(ag.SpeechSwitched(play.at, False))
    assert len(play.of(ev.Flush)) == 1
    assert not play.of(ev.ShowInterrupted)
    assert play.state is State.LISTENING


def test_a_playout_that_reports_nothing_is_left() -> None:
    play = Play()
    play.asked()
    play.sound(1000)
    play.play()
    play.wait(1 + STUCK_S)
    assert [one.code for one in play.of(ev.Trouble)] == ["stuck_playout"]
    assert play.state is State.LISTENING


def test_a_reply_nobody_can_say_stays_in_writing_with_a_word() -> None:
    play = Play()
    play.asked()
    play.wait(FALLBACK_S + SYNTHESIS_S)
    assert [one.code for one in play.of(ev.Trouble)] == ["text_without_audio"]
    assert microphone(play) == [False, True]


@pytest.mark.parametrize("audio", [False, True])
def test_a_session_lost_under_a_reply(audio: bool) -> None:
    """Not begun: another voice says it. Begun: what has come is played."""
    play = Play()
    play.asked()
    if audio:
        play.sound()
        play.play()
    play.feed(ev.LinkLost(play.at))
    assert bool(play.of(ag.Synthesise)) is not audio
    if audio:
        play.drain()
        assert play.state is State.LISTENING


def test_without_a_session_the_speech_model_speaks_at_once() -> None:
    play = Play(link_up=False)
    play.feed(ev.Typed(play.at, "Why?"))
    play.decide()
    assert len(play.of(ag.Synthesise)) == 1
    assert not play.of(ag.ReadAloud)


# --- the agent -----------------------------------------------------------------------------------


def test_an_agent_that_fails_costs_one_turn() -> None:
    play = Play()
    play.say()
    play.feed(ag.Undecided(play.at, "a1"))
    assert [(one.turn_id, one.why) for one in play.of(ev.DropReply)] == [("a1", "undecided")]
    play.say("And again.")
    assert [ask.turn_id for ask in play.of(ag.Ask)] == ["a1", "a2"]


def test_an_agent_that_never_answers_is_left() -> None:
    play = Play()
    play.say()
    play.wait(ASK_S)
    assert len(play.of(ag.StopAsking)) == 1
    assert [one.code for one in play.of(ev.Trouble)] == ["silent_turn"]
    play.decide("Too late.")
    assert not play.of(ev.ShowTutor)


@pytest.mark.req("VOICE-64")
def test_typed_words_interrupt_a_reply_and_wait_for_a_decision() -> None:
    play = Play()
    play.asked()
    play.sound(5000)
    play.play()
    play.feed(ev.Typed(play.at, " Stop. ", "r1"))
    assert len(play.of(ev.Flush)) == len(play.of(ev.ShowInterrupted)) == 1
    play.feed(ev.Typed(play.at, "And why?", "r2"))
    assert [ask.text for ask in play.of(ag.Ask)] == ["It is light.", "Stop."]
    play.decide("Well.")
    assert [ask.text for ask in play.of(ag.Ask)][2:] == ["And why?"]
    assert not [one for one in play.of(ag.ReadAloud) if one.text == "Well."]
    play.feed(ev.Typed(play.at, "  "))
    assert len(play.of(ag.Ask)) == 3


# --- our own ears --------------------------------------------------------------------------------


def test_a_stretch_of_speech_is_written_down_and_asked() -> None:
    play = Play(Voicing.SPEECH, link_up=False)
    play.feed(ag.Uttered(play.at))
    assert len(play.of(ag.WriteDown)) == 1
    play.feed(ev.SpeechStarted(play.at, play.at))
    assert len(play.of(ag.KeepListening)) == 1
    play.feed(ev.SpeechEnded(play.at), ag.Uttered(play.at))
    play.feed(ag.WrittenDown(play.at, " It is light. "))
    assert [ask.text for ask in play.of(ag.Ask)] == ["It is light."]
    play.decide()
    assert play.voice()
    play.play()
    play.drain()
    assert microphone(play) == [False, True]


@pytest.mark.req("VOICE-56")
def test_noise_is_written_down_as_nothing() -> None:
    play = Play(Voicing.SPEECH, link_up=False)
    play.feed(ag.Uttered(play.at), ag.WrittenDown(play.at, "  "))
    assert not play.of(ag.Ask)
    assert play.state is State.LISTENING


@pytest.mark.parametrize("late", [False, True])
def test_ears_that_fail_are_said_to(late: bool) -> None:
    play = Play(Voicing.SPEECH, link_up=False)
    play.feed(ag.Uttered(play.at))
    if late:
        play.wait(WRITE_DOWN_S)
    else:
        play.feed(ag.NotWrittenDown(play.at))
    assert len(play.of(ag.Deaf)) == 1
    assert play.state is State.LISTENING


def test_words_left_by_another_machine_keep_their_turn() -> None:
    play = Play(Voicing.SPEECH, link_up=False)
    play.feed(ag.Taken(play.at, "t7", "Am I too early?"))
    assert [(ask.turn_id, ask.text) for ask in play.of(ag.Ask)] == [("t7", "Am I too early?")]
    assert play.machine.unanswered == ("t7", "Am I too early?")
    play.decide()
    assert play.machine.unanswered is None

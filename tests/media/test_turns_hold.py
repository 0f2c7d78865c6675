"""What a held key does to the turn: it hushes, it interrupts with words, it always comes up."""

from __future__ import annotations

import pytest

from media import turn_events as ev
from tests.media.turn_script import Script


@pytest.mark.req("OWN-28", "OWN-33")
def test_a_silent_hold_hushes_the_tutor_and_leaves_the_turn_alone() -> None:
    script = Script()
    script.tutor_talks()
    assert script.feed(ev.HoldClaimed(script.at)) == [ev.Pause()]
    assert script.wait(5.0) == []
    assert script.feed(ev.HoldReleased(script.at)) == [ev.Resume()]
    script.complete()
    script.wait(2.0)
    script.drain()
    assert [e.interrupted for e in script.of(ev.FinishTurn)] == [False]
    assert script.of(ev.Flush) == []
    assert script.of(ev.ShowInterrupted) == []


@pytest.mark.req("OWN-28", "OWN-59")
def test_what_is_said_in_a_claimed_hold_ends_the_reply_at_once() -> None:
    script = Script()
    script.tutor_talks()
    script.feed(ev.HoldClaimed(script.at))
    effects = script.feed(ev.SpeechStarted(script.at, script.at - 0.2))
    assert [type(e) for e in effects][:2] == [ev.Flush, ev.ShowInterrupted]
    script.feed(ev.TutorAudioArrived(script.at, 500))
    assert not script.turns.accepts_audio
    assert [e.interrupted for e in script.of(ev.FinishTurn)] == [True]


@pytest.mark.req("OWN-29")
def test_a_denied_key_leaves_the_voice_to_the_service() -> None:
    """Typed words wait for their answer: the reply to them is not silenced by a key; speech may
    still turn out to be an interruption, as in the open."""
    script = Script()
    script.feed(ev.Typed(script.at, "Tell me."))
    assert not script.turns.claimable
    script.answer()
    assert script.turns.claimable  # the answer has begun: nothing waits any more
    script.forget()
    assert script.feed(ev.SpeechStarted(script.at, script.at)) == [ev.Pause()]
    assert not script.turns.claimable
    script.feed(ev.ReplyInterrupted(script.at))
    assert len(script.of(ev.ShowInterrupted)) == 1


@pytest.mark.req("OWN-28")
def test_a_reply_that_comes_into_a_hold_waits_and_is_heard_whole() -> None:
    script = Script()
    script.speak()
    script.feed(ev.HoldClaimed(script.at))
    script.forget()
    effects = script.feed(ev.TutorAudioArrived(script.at, 1000))
    assert [type(e) for e in effects] == [ev.BeginReply, ev.Pause]
    script.wait(8.0)
    assert script.of(ev.Trouble) == []
    assert ev.Resume() in script.feed(ev.HoldReleased(script.at))


def test_a_hush_has_its_end_though_the_key_has_none() -> None:
    script = Script()
    script.tutor_talks()
    script.feed(ev.HoldClaimed(script.at))
    script.wait(16.0)
    assert script.of(ev.Resume) == [ev.Resume()]
    assert script.of(ev.Trouble) == []
    # The key is still down: whoever speaks now still ends the reply at once.
    effects = script.feed(ev.SpeechStarted(script.at, script.at))
    assert ev.Flush() in effects

"""Who owns the turn: typed words against speech, old generations against new ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from media import turn_events as ev
from media.fence import FENCE_S, Fence
from media.turn_limits import EMPTY_S, FORMULATING_S, TYPED_MAX
from media.turns import State, Turns
from tests.media.turn_script import Script


@pytest.mark.req("OWN-58", "OWN-61")
def test_activity_alone_retires_no_answer() -> None:
    """A noise while the learner waits: the answer that comes is still the answer."""
    script = Script()
    script.speak()
    for _ in range(3):
        script.speak(0.3, words="")
        script.wait(0.3)
    effects = script.feed(ev.TutorAudioArrived(script.at, 800))
    assert script.turns.accepts_audio
    assert ev.Flush() not in effects
    assert script.of(ev.DropReply) == []


@pytest.mark.req("OWN-59")
@pytest.mark.parametrize(
    ("generated", "acknowledged", "handed_in", "after_s", "admitted"),
    [
        (False, False, False, 60.0, False),
        (False, True, False, 60.0, False),
        (False, True, True, 0.0, True),
        (False, False, True, FENCE_S - 0.01, False),
        (False, False, True, FENCE_S, True),
        (True, False, False, 0.0, True),
    ],
    ids=["dropped", "service-knows", "both-knew", "too-soon", "trusted-again", "all-had-come"],
)
def test_states_of_the_fence(
    generated: bool, acknowledged: bool, handed_in: bool, after_s: float, admitted: bool
) -> None:
    """After a reply was superseded: what arrives is old until the next turn was handed in."""
    fence = Fence()
    fence.supersede(generated=generated, completed=False)
    if acknowledged:
        fence.acknowledge()
    if handed_in:
        fence.learner_done(10.0)
    assert fence.admits(10.0 + after_s) is admitted


@pytest.mark.req("OWN-60", "OWN-56")
def test_the_late_end_of_an_old_turn_leaves_the_newer_request_pending() -> None:
    """T17: the reply that was cut completes after the next request was submitted."""
    script = Script()
    script.tutor_talks()
    script.feed(ev.Typed(script.at, "Stop. What is a fault?", "r2"))
    script.feed(ev.TurnCompleted(script.at))
    script.wait(EMPTY_S * 3)
    assert script.turns.state is State.FORMULATING
    assert [e.request_id for e in script.of(ev.SendTyped)] == ["r2"]
    script.answer("A crack.", 300)
    assert script.turns.accepts_audio
    script.complete()
    script.wait(0.3)
    script.drain()
    finished = script.of(ev.FinishTurn)
    assert [(e.learner_text, e.interrupted) for e in finished] == [
        ("What is a fold?", True),
        ("Stop. What is a fault?", False),
    ]


@pytest.mark.req("OWN-74", "OWN-39")
def test_the_old_reply_is_retired_before_the_new_request_goes_out() -> None:
    script = Script()
    script.tutor_talks()
    kinds = [type(e) for e in script.feed(ev.Typed(script.at, "Another thing."))]
    assert kinds.index(ev.Flush) < kinds.index(ev.FinishTurn) < kinds.index(ev.SendTyped)


@pytest.mark.req("OWN-74")
def test_old_output_does_not_put_the_deadline_of_a_request_off() -> None:
    """The service goes on with what was dropped, for ever: the learner hears of it in time."""
    script = Script()
    script.tutor_talks()
    script.feed(ev.Typed(script.at, "Another thing."))
    for _ in range(30):
        script.feed(ev.GenerationCompleted(script.at))
        script.wait(0.9)
    assert [e.code for e in script.of(ev.Trouble)] == ["silent_turn"]


@pytest.mark.req("OWN-63")
def test_a_completion_settles_a_silent_turn_and_invents_nothing() -> None:
    script = Script()
    script.speak(words="")
    script.feed(ev.TurnCompleted(script.at))
    script.wait(EMPTY_S)
    assert script.turns.state is State.IDLE
    assert [e.why for e in script.of(ev.DropReply)] == ["empty"]
    invented = (ev.ShowLearner, ev.ShowTutor, ev.FinishTurn)
    assert not [effect for _, effect in script.effects if isinstance(effect, invented)]


@pytest.mark.req("OWN-63")
def test_queued_audio_delays_the_end_that_the_service_declared() -> None:
    script = Script()
    script.speak()
    script.answer(ms=3000)
    script.complete()
    script.wait(2.9)
    assert script.turns.state is State.TUTOR
    assert script.of(ev.FinishTurn) == []
    script.drain()
    assert len(script.of(ev.FinishTurn)) == 1


@pytest.mark.req("OWN-66", "OWN-56", "VOICE-64")
def test_typed_requests_in_a_row_over_open_speech_are_each_sent_once() -> None:
    """T17: three texts while the learner speaks: one turn, one answer."""
    script = Script()
    script.feed(ev.SpeechStarted(script.at, script.at))
    for number in range(3):
        script.feed(ev.Typed(script.at, f"text {number}", f"r{number}"))
    script.feed(ev.SpeechEnded(script.at))
    assert [e.request_id for e in script.of(ev.SendTyped)] == ["r0", "r1", "r2"]
    script.answer()
    script.complete()
    script.wait(4.0)
    script.drain()
    (finished,) = script.of(ev.FinishTurn)
    assert (finished.learner_text, finished.typed) == ("text 0 text 1 text 2", True)


@pytest.mark.req("OWN-55", "OWN-73")
def test_late_captions_have_no_authority_over_a_reply() -> None:
    script = Script()
    script.tutor_talks()
    script.feed(ev.LearnerWords(script.at, " stop", interim=True))
    script.feed(ev.LearnerWords(script.at, "Stop it.", finished=True))
    assert script.turns.state is State.TUTOR
    assert not {ev.Flush, ev.Pause, ev.ShowInterrupted} & {type(e) for _, e in script.effects}


@pytest.mark.req("OWN-65")
def test_late_output_is_old_only_as_long_as_the_fence_stands() -> None:
    """Accepted: nothing on the wire tells generations apart, time alone does."""
    script = Script()
    script.tutor_talks()
    script.feed(ev.Typed(script.at, "Another thing."))
    script.wait(FENCE_S - 0.1)
    script.feed(ev.TutorAudioArrived(script.at, 100))
    assert not script.turns.accepts_audio
    script.wait(0.2)
    script.feed(ev.TutorAudioArrived(script.at, 100))
    assert script.turns.accepts_audio


@pytest.mark.req("OWN-78")
def test_an_answer_that_comes_late_is_taken_for_the_next_one_in_order() -> None:
    """Accepted: one that is missing cannot be told from it. Each answer has one turn all the same,
    and none is given twice."""
    script = Script()
    script.feed(ev.Typed(script.at, "First question.", "r1"))
    script.wait(FORMULATING_S + 1)
    assert script.of(ev.DropReply) == [ev.DropReply(ev.TurnId("t1"), "silent_turn")]
    script.feed(ev.Typed(script.at, "Second question.", "r2"))
    script.answer("To the first.", ms=500)
    script.complete()
    script.wait(0.5)
    script.drain()
    script.wait(1.0)
    script.answer("To the second.", ms=500)
    script.complete()
    script.wait(0.5)
    script.drain()
    told = {effect.turn_id: effect.text for effect in script.of(ev.ShowTutor)}
    assert told == {"t2": "To the first.", "t3": "To the second."}
    finished = [(one.turn_id, one.learner_text) for one in script.of(ev.FinishTurn)]
    assert finished == [("t2", "Second question.")]


@pytest.mark.req("OWN-76")
@pytest.mark.parametrize("link_up", [True, False])
def test_more_typed_turns_than_can_be_tracked_are_a_trouble(link_up: bool) -> None:
    script = Script(Turns(link_up=link_up))
    for number in range(TYPED_MAX):
        script.feed(ev.Typed(script.at, f"text {number}", str(number)))
    assert script.of(ev.Trouble) == []
    script.feed(ev.Typed(script.at, "one too many", "last"))
    assert [e.code for e in script.of(ev.Trouble)] == ["turn_tracking"]
    script.feed(ev.LinkRestored(script.at))
    sent = [e.request_id for e in script.of(ev.SendTyped)]
    assert sent == [str(number) for number in range(TYPED_MAX)]


_TYPING = st.lists(
    st.sampled_from(["type", "speak", "stop", "claim", "release", "reply", "play", "done", "end"]),
    min_size=1,
    max_size=50,
)


@settings(max_examples=200, deadline=None)
@given(_TYPING)
def test_typing_speech_and_keys_lose_no_request_and_answer_none_twice(steps: list[str]) -> None:
    """Every typed request is sent once, after the reply before it was retired, and its words are
    in the exchange that is finished or in a turn that is told to be dropped."""
    turns, at, typed = Turns(), 10.0, 0
    made: dict[str, Callable[[], ev.TurnEvent]] = {
        "speak": lambda: ev.SpeechStarted(at, at - 0.1),
        "stop": lambda: ev.SpeechEnded(at),
        "claim": lambda: ev.HoldClaimed(at),
        "release": lambda: ev.HoldReleased(at),
        "reply": lambda: ev.TutorAudioArrived(at, 200),
        "play": lambda: ev.PlayoutStarted(at),
        "done": lambda: ev.TurnCompleted(at),
        "end": lambda: ev.PlayoutDrained(at),
    }
    out: list[ev.Effect] = []
    for step in steps:
        at += 0.5
        if step == "type":
            typed += 1
            effects = turns.handle(ev.Typed(at, f"w{typed}", str(typed)))
            kinds = [type(e) for e in effects]
            if ev.Flush in kinds and ev.SendTyped in kinds:
                assert kinds.index(ev.Flush) < kinds.index(ev.SendTyped)
            out += effects
        else:
            out += turns.handle(made[step]())
    out += turns.handle(ev.Closed(at + 1))
    sent = [e.request_id for e in out if isinstance(e, ev.SendTyped)]
    refused = sum(isinstance(e, ev.Trouble) and e.code == "turn_tracking" for e in out)
    assert sent == sorted(set(sent), key=int)
    assert len(sent) + refused == typed
    shown = {e.turn_id: e.text for e in out if isinstance(e, ev.ShowLearner)}
    words = " ".join(shown.values()).split()
    assert sorted(words) == sorted({f"w{request}" for request in sent})

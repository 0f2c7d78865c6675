"""Any interleaving of events: legal states, every turn ends once, no turn outlives its deadline."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from media import turn_events as ev
from media.barge import FORGIVE_S, HELD_S, HUSH_S
from media.turn_limits import FORMULATING_S, LINK_DOWN_S, SPEECH_MAX_S, STUCK_S, THINKING_S
from media.turns import State, Turns

_BUILDERS = st.sampled_from(
    [
        lambda at: ev.SpeechEvidence(at),
        lambda at: ev.SpeechStarted(at, at - 0.1),
        lambda at: ev.SpeechSustained(at),
        lambda at: ev.SpeechEnded(at),
        lambda at: ev.LearnerWords(at, " word"),
        lambda at: ev.LearnerWords(at, "interim", interim=True),
        lambda at: ev.LearnerWords(at, " done.", finished=True),
        lambda at: ev.LearnerWords(at, "", finished=True),
        lambda at: ev.TutorAudioArrived(at, 400),
        lambda at: ev.TutorWords(at, " says"),
        lambda at: ev.ReplyInterrupted(at),
        lambda at: ev.GenerationCompleted(at),
        lambda at: ev.TurnCompleted(at),
        lambda at: ev.TurnCompleted(at, in_progress=True),
        lambda at: ev.PlayoutStarted(at),
        lambda at: ev.PlayoutDrained(at),
        lambda at: ev.Typed(at, "typed", f"r{at}"),
        lambda at: ev.HoldClaimed(at),
        lambda at: ev.HoldReleased(at),
        lambda at: ev.TimePassed(at),
        lambda at: ev.LinkLost(at),
        lambda at: ev.LinkRestored(at),
        lambda at: ev.TextUnvoiced(at, ev.TurnId("t1")),
        lambda at: ev.TextUnvoiced(at, ev.TurnId("t2")),
    ]
)
_STEPS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.0, 0.02, 0.3, 0.9, 2.5, 25.0]), _BUILDERS), max_size=60
)
# One turn: a stretch of speech, the wait for an answer, an answer that never ends by itself.
LONGEST_S = (
    SPEECH_MAX_S
    + LINK_DOWN_S
    + THINKING_S
    + FORMULATING_S
    + 2 * STUCK_S
    + HELD_S
    + FORGIVE_S
    + HUSH_S
)


def run(turns: Turns, steps: list[tuple[float, object]]) -> list[ev.Effect]:
    at, out = 10.0, []
    for gap, build in steps:
        at += gap
        out += turns.handle(build(at))  # type: ignore[operator]
        check_shape(turns)
    return out


def check_shape(turns: Turns) -> None:
    assert (turns.state is State.IDLE) == (turns.current_id is None)
    if turns.current_id is not None:
        assert turns.next_deadline() is not None


@settings(max_examples=150, deadline=None)
@given(_STEPS)
def test_every_turn_ends_exactly_once(steps: list[tuple[float, object]]) -> None:
    turns = Turns()
    out = run(turns, steps)
    out += turns.handle(ev.Closed(1e6))
    ended = Counter(e.turn_id for e in out if isinstance(e, ev.FinishTurn | ev.DropReply))
    assert ended == Counter({f"t{n}": 1 for n in range(1, turns.opened + 1)})
    assert turns.next_deadline() is None


@settings(max_examples=150, deadline=None)
@given(_STEPS)
def test_turns_end_in_the_order_of_their_beginning(steps: list[tuple[float, object]]) -> None:
    turns = Turns()
    out = run(turns, steps)
    out += turns.handle(ev.Closed(1e6))
    order = [int(e.turn_id[1:]) for e in out if isinstance(e, ev.FinishTurn | ev.DropReply)]
    assert order == sorted(order)


@settings(max_examples=150, deadline=None)
@given(_STEPS)
def test_no_turn_outlives_its_deadlines(steps: list[tuple[float, object]]) -> None:
    turns = Turns()
    run(turns, steps)
    before = turns.opened
    start = at = 1e6
    turns.handle(ev.SpeechEnded(at))
    for _ in range(200):
        due = turns.next_deadline()
        if due is None:
            break
        at = max(at, due)
        turns.handle(ev.TimePassed(at))
        check_shape(turns)
    assert turns.state is State.IDLE
    assert turns.next_deadline() is None
    assert at - start <= LONGEST_S * (1 + turns.opened - before)


@settings(max_examples=150, deadline=None)
@given(_STEPS)
def test_at_most_one_reply_is_current(steps: list[tuple[float, object]]) -> None:
    turns = Turns()
    out = run(turns, steps) + list(turns.handle(ev.Closed(1e6)))
    current: str | None = None
    asked = False
    for effect in out:
        match effect:
            case ev.BeginReply(turn_id):
                assert current is None
                current, asked = turn_id, False
            case ev.EndReply(turn_id) | ev.ShowTutor(turn_id):
                assert turn_id == current
            case ev.VoiceText(turn_id, text):
                # Another voice is asked once, for a reply that has words and has not ended.
                assert turn_id == current
                assert text
                assert not asked
                asked = True
            case ev.Flush():
                current = None
            case ev.FinishTurn(turn_id) | ev.DropReply(turn_id) if turn_id == current:
                current = None
            case _:
                pass


@settings(max_examples=150, deadline=None)
@given(_STEPS)
def test_typed_text_is_sent_or_its_loss_is_told(steps: list[tuple[float, object]]) -> None:
    turns = Turns()
    at, out, typed = 10.0, [], []
    for gap, build in steps:
        at += gap
        event = build(at)  # type: ignore[operator]
        if isinstance(event, ev.Typed):
            typed.append(event.request_id)
        out += turns.handle(event)
    sent_now = {e.request_id for e in out if isinstance(e, ev.SendTyped)}
    down = {e.turn_id for e in out if isinstance(e, ev.DropReply) and e.why == "link_down"}
    out += turns.handle(ev.LinkRestored(at))
    sent = {e.request_id for e in out if isinstance(e, ev.SendTyped)}
    assert sent_now <= set(typed)
    assert set(typed) <= sent or down


@settings(max_examples=150, deadline=None)
@given(_STEPS)
def test_a_voice_that_is_stopped_goes_on_or_is_dropped(steps: list[tuple[float, object]]) -> None:
    turns = Turns()
    out = run(turns, steps)
    at = 1e6
    out += turns.handle(ev.SpeechEnded(at))
    while (due := turns.next_deadline()) is not None:
        at = max(at, due)
        out += turns.handle(ev.TimePassed(at))
    stopped = False
    for effect in out:
        if isinstance(effect, ev.Pause):
            stopped = True
        elif isinstance(effect, ev.Resume | ev.Flush | ev.BeginReply):
            stopped = False
    assert not stopped


@settings(max_examples=150, deadline=None)
@given(_STEPS)
def test_a_reply_in_writing_is_said_or_its_silence_is_told(
    steps: list[tuple[float, object]],
) -> None:
    """No voice for it: exactly that turn is dropped, with a word to the learner."""
    turns = Turns()
    run(turns, steps)
    asked = [*turns.handle(ev.TutorWords(1e6, "In writing.")), *turns.handle(ev.TurnCompleted(1e6))]
    for request in [effect for effect in asked if isinstance(effect, ev.VoiceText)]:
        out = turns.handle(ev.TextUnvoiced(1e6, request.turn_id))
        assert ev.Trouble("text_without_audio", request.turn_id) in out
        assert ev.DropReply(request.turn_id, "unheard") in out
        assert turns.current_id != request.turn_id

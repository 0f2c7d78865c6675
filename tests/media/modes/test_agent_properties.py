"""Whatever comes in whatever order: a legal end, one voice, and no turn outlives its deadline."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from media import turn_events as ev
from media.modes import agent_events as ag
from media.modes.agent_voiced import State, Voicing
from media.modes.commit import ENDLESS_S
from tests.media.modes.play import Play

TEXTS = st.sampled_from(["It is light.", "And heat.", ""])
TURNS = st.sampled_from(["a1", "a2", "a3"])
CALLS = st.sampled_from(["c1", "c2"])
STEPS = st.one_of(
    st.builds(ag.Activity, st.just(0.0), st.booleans()),
    st.builds(ev.LearnerWords, st.just(0.0), TEXTS, st.booleans(), st.booleans()),
    st.builds(ev.SpeechStarted, st.just(0.0), st.just(0.0)),
    st.builds(ev.SpeechEnded, st.just(0.0)),
    st.builds(ag.Uttered, st.just(0.0)),
    st.builds(ag.WrittenDown, st.just(0.0), TEXTS),
    st.builds(ag.NotWrittenDown, st.just(0.0)),
    st.builds(ag.Called, st.just(0.0), CALLS, TEXTS),
    st.builds(ag.CallsCancelled, st.just(0.0), st.tuples(CALLS)),
    st.builds(ev.Typed, st.just(0.0), TEXTS),
    st.builds(ag.Decided, st.just(0.0), TURNS, TEXTS),
    st.builds(ag.Undecided, st.just(0.0), TURNS),
    st.builds(ag.Voiced, st.just(0.0), TURNS, st.sampled_from([0.0, 500.0])),
    st.builds(ag.AllVoiced, st.just(0.0), TURNS),
    st.builds(ag.Unvoiced, st.just(0.0), TURNS),
    st.builds(ev.TutorAudioArrived, st.just(0.0), st.just(200.0)),
    st.builds(ev.TutorWords, st.just(0.0), TEXTS),
    st.builds(ev.TurnCompleted, st.just(0.0), st.booleans()),
    st.builds(ev.GenerationCompleted, st.just(0.0)),
    st.builds(ev.ReplyInterrupted, st.just(0.0)),
    st.builds(ev.PlayoutStarted, st.just(0.0), TURNS),
    st.builds(ev.PlayoutDrained, st.just(0.0), TURNS),
    st.builds(ag.LineLost, st.just(0.0)),
    st.builds(ag.SpeechSwitched, st.just(0.0), st.booleans()),
    st.builds(ev.LinkLost, st.just(0.0)),
    st.builds(ev.LinkRestored, st.just(0.0)),
    st.floats(0.05, 8.0),
)


@pytest.mark.req("VOICE-28", "VOICE-38", "GOTCHA-6")
@given(st.sampled_from(list(Voicing)), st.booleans(), st.lists(STEPS, max_size=40))
def test_any_interleaving(voicing: Voicing, link_up: bool, steps: list[object]) -> None:
    play = Play(voicing, link_up=link_up)
    for step in steps:
        if isinstance(step, float):
            play.wait(step)
            continue
        object.__setattr__(step, "at", play.at)
        before = len(play.of(ag.Synthesise))
        play.feed(step)  # type: ignore[arg-type]
        if isinstance(step, ev.TutorAudioArrived) and play.machine.accepts_audio:
            # The Live voice is heard only while no other voice has the turn.
            owned = [one.turn_id for one in play.of(ag.Synthesise)]
            asked = play.of(ag.Ask)
            over = [one.turn_id for one in play.of(ag.ReplyOver)]
            assert not asked or asked[-1].turn_id not in owned or asked[-1].turn_id in over
            assert voicing is not Voicing.SPEECH
        assert len(play.of(ag.Synthesise)) <= before + 1
    # The gate goes silent in the end: nothing lives longer than the longest deadline chain.
    play.feed(ev.SpeechEnded(play.at))
    for _ in range(12):
        play.wait(60 + ENDLESS_S)
        if play.state is State.ASKING:
            play.feed(ag.Undecided(play.at, play.turn_id))
    assert play.state is State.LISTENING
    assert play.machine.next_deadline() is None
    shut = [one.open for one in play.of(ag.Microphone)]
    assert not shut or shut[-1]
    play.feed(ev.Closed(play.at))
    assert play.machine.next_deadline() is None

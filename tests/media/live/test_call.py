"""The life of one tool call: every path ends, no verdict is taken twice, the first end stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from media.live.call import Call, Step

ENDS = (
    Step.ANSWERED,
    Step.FAILED,
    Step.REJECTED,
    Step.EXPIRED,
    Step.SUPERSEDED,
    Step.WITHDRAWN,
)


@pytest.mark.req("TOOL-5", "TOOL-9")
def test_only_a_call_that_nobody_has_to_allow_starts_allowed() -> None:
    assert Call("c", "lookup").step is Step.APPROVED
    assert Call("c", "get_location", asked="ada").step is Step.REQUESTED


@pytest.mark.req("TOOL-14", "TOOL-17")
@pytest.mark.parametrize("connection", ["", "eve"])
@pytest.mark.parametrize("approved", [True, False])
def test_a_verdict_counts_only_from_the_connection_that_was_asked(
    connection: str, approved: bool
) -> None:
    """T15: another connection's id."""
    call = Call("c", "get_location", asked="ada")
    assert not call.verdict(connection, approved)
    assert call.step is Step.REQUESTED
    assert call.verdict("ada", True)
    assert call.step is Step.APPROVED


@pytest.mark.req("TOOL-14")
def test_a_no_is_final_and_a_verdict_is_taken_once() -> None:
    """T15: deny; a replayed verdict."""
    call = Call("c", "get_location", asked="ada")
    assert call.verdict("ada", False)
    assert not call.verdict("ada", True)
    assert not call.move(Step.RUNNING)
    assert call.step is Step.REJECTED


def test_there_is_no_way_to_run_without_a_yes() -> None:
    call = Call("c", "get_location", asked="ada")
    assert not call.move(Step.RUNNING)
    assert not call.move(Step.ANSWERED)
    assert call.move(Step.EXPIRED)
    assert not call.verdict("ada", True)


@pytest.mark.req("TOOL-32")
@pytest.mark.parametrize("at", [Step.REQUESTED, Step.APPROVED, Step.RUNNING])
@pytest.mark.parametrize("end", [Step.SUPERSEDED, Step.WITHDRAWN, Step.EXPIRED])
def test_a_call_can_be_overtaken_at_each_step(at: Step, end: Step) -> None:
    """T16: the end is final, whatever comes later."""
    call = Call("c", "get_location", asked="ada")
    if at is not Step.REQUESTED:
        call.verdict("ada", True)
    if at is Step.RUNNING:
        call.move(Step.RUNNING)
    assert call.step is at
    assert call.move(end)
    assert call.step.final
    assert not any(call.move(step) for step in Step)
    assert not call.verdict("ada", True)
    assert call.step is end


@given(st.lists(st.one_of(st.sampled_from(Step), st.booleans()), max_size=12), st.booleans())
def test_whatever_happens_a_call_runs_at_most_once_and_never_leaves_its_end(
    happening: list[Step | bool], free: bool
) -> None:
    call = Call("c", "tool", asked="" if free else "ada")
    allowed, ran = free, 0
    for one in happening:
        before = call.step
        if isinstance(one, bool):
            moved = call.verdict("ada", one)
            allowed = allowed or (moved and one)
        else:
            moved = call.move(one) if one is not Step.APPROVED else False
            ran += moved and one is Step.RUNNING
        assert moved == (call.step is not before)
        assert not (before.final and moved)
    assert ran <= 1
    assert allowed or not ran
    assert call.step.final == (call.step in ENDS)

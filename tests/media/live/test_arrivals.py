"""How long the microphone's sound waited, told only of what was really sent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from media.live.arrivals import KEPT, Arrivals


def test_each_block_is_told_with_the_message_that_ends_it() -> None:
    arrivals = Arrivals()
    arrivals.came(640, 1.0)
    arrivals.came(640, 2.0)
    arrivals.came(640, 3.0)
    assert arrivals.taken(1280, left=640) == [1.0, 2.0]
    assert arrivals.taken(640, left=0) == [3.0]


def test_dropped_sound_is_not_told() -> None:
    arrivals = Arrivals()
    for at in (1.0, 2.0, 3.0):
        arrivals.came(640, at)
    # The oldest block was dropped by the bound: two are left, and one of them is taken.
    assert arrivals.taken(640, left=640) == [2.0]


def test_a_preroll_counts_by_its_newest_block() -> None:
    arrivals = Arrivals()
    arrivals.came(640 * 20, 5.0)
    assert arrivals.taken(1280, left=640 * 18) == []
    assert arrivals.taken(640 * 18, left=0) == [5.0]


@pytest.mark.req("CARD-13")
@given(st.lists(st.integers(1, 900), max_size=50), st.data())
def test_nothing_is_told_twice_and_all_of_it_once(sizes: list[int], data: st.DataObject) -> None:
    arrivals, queued, told = Arrivals(), 0, []
    for number, size in enumerate(sizes):
        arrivals.came(size, float(number))
        queued += size
        taken = data.draw(st.integers(0, queued))
        queued -= taken
        told += arrivals.taken(taken, queued)
    told += arrivals.taken(queued, 0)
    assert told == [float(number) for number in range(len(sizes))]


def test_marks_are_bounded() -> None:
    arrivals = Arrivals()
    for number in range(KEPT + 10):
        arrivals.came(2, float(number))
    assert len(arrivals.taken(2 * (KEPT + 10), 0)) == KEPT

"""Lateness, loss and yielding from packets with known times."""

from __future__ import annotations

import pytest

from bench.arrivals import Arrival, Yielding, lateness, lost, yielding

LOUD, LOW, STILL = 5000.0, 900.0, 1.0


def stretch(count: int, *, sequence: int = 0, timestamp: int = 0, at: float = 0.0) -> list[Arrival]:
    return [
        Arrival(at + 0.020 * n, (sequence + n) & 0xFFFF, (timestamp + 960 * n) & 0xFFFF_FFFF)
        for n in range(count)
    ]


def moved(arrivals: list[Arrival], index: int, by: float) -> list[Arrival]:
    one = arrivals[index]
    changed = Arrival(one.at + by, one.sequence, one.timestamp)
    return [*arrivals[:index], changed, *arrivals[index + 1 :]]


def test_a_steady_stream_is_never_late() -> None:
    assert max(lateness(stretch(50))) == pytest.approx(0.0, abs=1e-9)
    assert lateness([]) == []


def test_one_late_packet_is_late_by_what_it_was() -> None:
    late = lateness(moved(stretch(50), 20, 0.013))
    assert late[20] == pytest.approx(0.013)
    assert sorted(late)[-2] == pytest.approx(0.0, abs=1e-9)


def test_the_first_packet_may_be_the_late_one() -> None:
    assert lateness(moved(stretch(10), 0, 0.015))[0] == pytest.approx(0.015)


def test_silence_between_two_stretches_is_not_lateness() -> None:
    """The clock of the stream went on, and the second stretch has its own schedule."""
    first = stretch(10)
    second = stretch(10, sequence=10, timestamp=960 * 100, at=2.007)
    late = lateness(first + second)
    assert len(late) == 20
    assert max(late) == pytest.approx(0.0, abs=1e-9)


def test_a_lost_packet_does_not_end_a_stretch() -> None:
    arrivals = moved(stretch(20), 15, 0.030)
    del arrivals[5]
    assert max(lateness(arrivals)) == pytest.approx(0.030)


def test_wrapping_numbers_are_neither_late_nor_lost() -> None:
    arrivals = stretch(20, sequence=0xFFFA, timestamp=0xFFFF_FFFF - 4 * 960)
    assert max(lateness(arrivals)) == pytest.approx(0.0, abs=1e-9)
    assert lost(arrivals) == 0
    assert lost(arrivals[:5] + arrivals[8:]) == 3


def test_reordered_and_repeated_packets_are_not_lost() -> None:
    arrivals = stretch(6)
    arrivals[2], arrivals[3] = arrivals[3], arrivals[2]
    assert lost([*arrivals, arrivals[-1]]) == 0
    assert lost([]) == 0


def levels(*values: float) -> list[tuple[float, float]]:
    return [(0.020 * (n + 1), value) for n, value in enumerate(values)]


def test_the_tutor_is_ducked_and_then_silent() -> None:
    heard = levels(*[LOUD] * 10, LOUD, LOUD, LOW, LOW, STILL, STILL)
    seen = yielding(heard, onset=0.205, until=1.0)
    assert seen.ducked_s == pytest.approx(0.26 - 0.205)
    assert seen.silent_s == pytest.approx(0.28 - 0.205)


def test_a_tutor_who_goes_on_was_not_silenced() -> None:
    heard = levels(*[LOUD] * 50)
    assert yielding(heard, onset=0.2, until=1.0) == Yielding(None, None)


def test_a_tutor_who_resumes_counts_to_the_last_audible_packet() -> None:
    heard = levels(*[LOUD] * 10, STILL, STILL, *[LOUD] * 5)
    seen = yielding(heard, onset=0.2, until=1.0)
    assert seen.silent_s == pytest.approx(0.34 - 0.2)


def test_nobody_can_be_talked_over_who_did_not_talk() -> None:
    assert yielding(levels(STILL, STILL), onset=0.03, until=1.0) == Yielding(None, None)

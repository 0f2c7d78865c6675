"""Reorder, repair and the silence clock, by virtual arrival times: nothing here waits."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from media.inbound import BLOCK_BYTES, HELD_MAX, HOLD_S, SILENCE_AFTER_S, Inbound
from media.opus import has_fec
from tests.media.peers import loudness, packets, tone, voiced

TONE = packets(tone(500, 48_000, 3.0))
WITH_FEC = packets(voiced(48_000, 3.0), fec=True, loss_percent=20)
WITHOUT_FEC = packets(voiced(48_000, 3.0))


class Line:
    """Feeds an Inbound; arrival = 20 ms per packet plus a delay, ticks every 20 ms in between."""

    def __init__(self, first: int = 65_530) -> None:
        self.out: list[tuple[bytes, float]] = []
        self.inbound = Inbound(lambda pcm, at: self.out.append((pcm, at)))
        self.first = first
        self.delays: dict[int, float] = {}
        self._sent_at: dict[int, float] = {}

    def run(
        self, sent: list[tuple[int, bytes, float]], until: float, *, timestamps: int = 2**32 - 5000
    ) -> None:
        """`sent`: (number, payload, arrival); number n belongs at 20 ms times n."""
        events = [(at, 0, n, payload) for n, payload, at in sent]
        events += [(0.011 + 0.020 * k, 1, 0, b"") for k in range(int(until / 0.020))]
        for at, kind, n, payload in sorted(events):
            before = len(self.out)
            if kind == 1:
                self.inbound.tick(at)
            else:
                seq, stamp = (self.first + n) & 0xFFFF, (timestamps + 960 * n) % 2**32
                self.inbound.packet(payload, seq, stamp, at)
                if len(self.out) > before:
                    self.delays[n] = at


def in_time(payloads: list[bytes], lost: set[int] = frozenset()) -> list[tuple[int, bytes, float]]:
    return [(n, p, 0.020 * n) for n, p in enumerate(payloads) if n not in lost]


def silences(line: Line) -> int:
    return sum(loudness(pcm) == 0 for pcm, _ in line.out)


def test_packets_in_order_come_out_in_the_same_call() -> None:
    line = Line()
    line.run(in_time(TONE[:50]), until=1.0)
    assert [at for _, at in line.out] == [0.020 * n for n in range(50)]
    assert {len(pcm) for pcm, _ in line.out} == {BLOCK_BYTES}
    assert line.inbound.stats.received == 50
    assert line.inbound.stats.lost == line.inbound.stats.silence == 0


@pytest.mark.parametrize("lost", [{40}, {40, 41, 42}, {20, 60, 100}])
def test_lost_packets_leave_no_standing_delay(lost: set[int]) -> None:
    """T24: back to baseline within 60 ms, the gap concealed. aiortc#543: there one lost packet
    costs 280 ms for the rest of the call."""
    line = Line()
    line.run(in_time(TONE, lost), until=3.0)
    late = {n for n in range(150) if n not in lost and line.delays.get(n) != 0.020 * n}
    # Only what came during the hold waited, for at most two packets.
    assert late <= {n + k for n in lost for k in (1, 2)}
    assert all(line.delays[n] - 0.020 * n <= HOLD_S for n in late if n in line.delays)
    assert line.inbound.stats.lost == line.inbound.stats.concealed == len(lost)
    assert len(line.out) == 150
    assert line.inbound.stats.silence == 0


def test_a_hole_waits_no_longer_than_40_ms() -> None:
    line = Line()
    line.run(in_time(TONE[:30], {10}), until=0.6)
    times = [at for _, at in line.out]
    repaired = times[10]
    assert 0 < repaired - 0.020 * 11 <= HOLD_S


def test_a_late_packet_takes_its_place() -> None:
    sent = in_time(TONE[:30])
    sent[10] = (10, TONE[10], 0.020 * 11 + 0.005)
    straight, line = Line(), Line()
    straight.run(in_time(TONE[:30]), until=0.6)
    line.run(sent, until=0.6)
    assert [pcm for pcm, _ in line.out] == [pcm for pcm, _ in straight.out]
    assert line.inbound.stats.lost == line.inbound.stats.late == 0


def test_a_packet_after_its_hole_was_filled_is_dropped() -> None:
    sent = [*in_time(TONE[:30], {10}), (10, TONE[10], 0.020 * 10 + 0.2)]
    line = Line()
    line.run(sent, until=0.6)
    assert (line.inbound.stats.lost, line.inbound.stats.late) == (1, 1)
    assert len(line.out) == 30


def test_the_copy_in_the_next_packet_repairs_a_loss() -> None:
    lost = {n for n in range(20, 140, 9) if has_fec(WITH_FEC[n + 1])}
    assert len(lost) >= 5
    whole, line, plain = Line(), Line(), Line()
    whole.run(in_time(WITH_FEC), until=3.0)
    line.run(in_time(WITH_FEC, lost), until=3.0)
    plain.run(in_time(WITHOUT_FEC, lost), until=3.0)
    assert (line.inbound.stats.fec, line.inbound.stats.concealed) == (len(lost), 0)
    assert (plain.inbound.stats.fec, plain.inbound.stats.concealed) == (0, len(lost))
    for n in lost:
        assert loudness(line.out[n][0]) == pytest.approx(loudness(whole.out[n][0]), rel=0.5)


def test_a_burst_of_losses_is_concealed_then_silent_and_keeps_the_time() -> None:
    line = Line()
    line.run(in_time(TONE, set(range(50, 90))), until=3.0)
    assert line.inbound.stats.lost == 40
    assert abs(len(line.out) - 150) <= 2
    assert line.out[-1][1] == pytest.approx(0.020 * 149)


@pytest.mark.req("RTC-10")
def test_a_sender_that_stops_becomes_silence_from_the_clock() -> None:
    line = Line()
    line.run(in_time(TONE[:50]), until=3.0)
    assert abs(len(line.out) - 150) <= 1
    after = [at for pcm, at in line.out if at > 0.98 + SILENCE_AFTER_S + 0.06]
    assert all(b - a == pytest.approx(0.020) for a, b in itertools.pairwise(after))
    assert all(loudness(pcm) == 0 for pcm, at in line.out if at > 1.0)


def test_silence_runs_before_the_first_packet() -> None:
    line = Line()
    line.run([], until=1.0)
    assert len(line.out) == line.inbound.stats.silence == 50


def test_dtx_jumps_of_the_timestamp_are_silence_not_loss() -> None:
    """Opus DTX: sequence numbers go on, timestamps jump, one packet per 400 ms."""
    sent = in_time(TONE[:50])
    line = Line()
    line.run(sent, until=1.0)
    at, seq, stamp = 0.98, line.first + 50, 2**32 - 5000 + 49 * 960
    for _ in range(4):
        for k in range(1, 20):
            line.inbound.tick(at + 0.020 * k + 0.011)
        at, stamp = at + 0.400, stamp + 20 * 960
        line.inbound.packet(TONE[60], seq & 0xFFFF, stamp % 2**32, at)
        seq += 1
    assert line.inbound.stats.lost == 0
    assert abs(len(line.out) - (50 + 4 * 20)) <= 1


def test_a_short_pause_without_packets_is_kept_in_the_timeline() -> None:
    line = Line()
    line.run(in_time(TONE[:60], set(range(20, 23))), until=1.2)
    assert len(line.out) == 60
    shifted = [(n - 3 if n > 20 else n, p, at) for n, p, at in in_time(TONE[:60], {20, 21, 22})]
    # Same arrivals, contiguous numbers, jumping timestamps: a pause of the speaker.
    pause = Line()
    for n, payload, at in shifted:
        stamp = 960 * round(at / 0.020)
        pause.inbound.packet(payload, n, stamp, at)
    assert pause.inbound.stats.lost == 0
    assert len(pause.out) == 60
    assert silences(pause) == 3


def test_a_burst_after_a_stall_comes_out_whole_at_once() -> None:
    sent = [(n, p, max(at, 0.9) if n >= 40 else at) for n, p, at in in_time(TONE[:60])]
    line = Line()
    line.run(sent, until=1.3)
    assert sum(loudness(pcm) > 1000 for pcm, _ in line.out) == 60
    assert line.delays[45] == pytest.approx(0.9)


def test_a_hole_before_a_burst_is_not_held_without_bound() -> None:
    line = Line()
    inbound = line.inbound
    inbound.packet(TONE[0], 0, 0, 0.0)
    for n in range(2, 2 + HELD_MAX):
        inbound.packet(TONE[n], n, 960 * n, 0.5)
    assert len(line.out) == 2 + HELD_MAX
    assert inbound.stats.lost == 1


def test_a_new_stream_is_followed_at_once() -> None:
    line = Line()
    for n in range(10):
        line.inbound.packet(TONE[n], 40_000 + n, 960 * n, 0.020 * n)
    for n in range(10):
        line.inbound.packet(TONE[n], 100 + n, 777_777 + 960 * n, 0.2 + 0.020 * n)
    assert len(line.out) == 20
    assert line.inbound.stats.lost == line.inbound.stats.late == 0


def test_packets_that_are_not_opus_are_concealed_and_counted() -> None:
    line = Line()
    line.inbound.packet(TONE[0], 0, 0, 0.0)
    line.inbound.packet(b"\xff\xff\xff", 1, 960, 0.020)
    line.inbound.packet(TONE[2], 2, 1920, 0.040)
    assert line.inbound.stats.broken == 1
    assert len(line.out) == 3


@pytest.mark.parametrize(("ms", "per_block"), [(10, 0.5), (40, 2), (60, 3)])
def test_other_packet_lengths_give_the_same_blocks(ms: int, per_block: float) -> None:
    from media.opus import Encoder

    pcm, size = tone(500, 48_000, 1.2), 96 * ms
    out: list[bytes] = []
    inbound = Inbound(lambda block, at: out.append(block))
    encoder = Encoder(48_000, "voip")
    for n in range(1200 // ms):
        payload = encoder.encode(pcm[n * size : (n + 1) * size])
        inbound.packet(payload, n, n * 48 * ms, n * ms / 1000)
        inbound.tick(n * ms / 1000 + 0.005)
    assert len(out) == 60
    assert {len(block) for block in out} == {BLOCK_BYTES}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0, 0.3), st.floats(0, 0.12))
def test_any_loss_and_jitter_keeps_time_order_and_bounds(
    seed: int, loss: float, jitter: float
) -> None:
    rnd = random.Random(seed)
    sent = [
        (n, TONE[n], 0.020 * n + rnd.uniform(0, jitter)) for n in range(100) if rnd.random() > loss
    ]
    line = Line(first=rnd.randrange(65_536))
    line.run(sent, until=2.4)
    times = [at for _, at in line.out]
    assert times == sorted(times)
    assert {len(pcm) for pcm, _ in line.out} <= {BLOCK_BYTES}
    # The sink never gets more than real time plus what a stall had kept back.
    assert len(line.out) <= 121 + 100 * jitter / 0.020
    assert not line.inbound._held
    assert len(line.out) >= 110

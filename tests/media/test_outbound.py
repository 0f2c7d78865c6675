"""Timestamps, marker and silence of the outgoing stream."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from media.opus import Decoder, Encoder, has_fec
from media.outbound import CALM_REPORTS, FRAME_BYTES, TAIL_FRAMES, TICKS_48K, Outbound
from tests.media.peers import pitch, tone, voiced

FRAME = tone(440, 24_000, 0.02)


class Wire:
    def __init__(self, pattern: list[bool], *, connected: bool = True) -> None:
        self.frames = iter(pattern)
        self.connected = connected
        self.sent: list[tuple[int, bytes, int, int, bool]] = []
        self.encoded = 0
        self.tick_number = -1
        self.outbound = Outbound(self.pull, self.send, self.encode)

    def pull(self, at: float) -> bytes | None:
        return FRAME if next(self.frames) else None

    def encode(self, pcm: bytes) -> bytes:
        self.encoded += 1
        return pcm[:4]

    def send(self, payload: bytes, sequence: int, timestamp: int, marker: bool) -> bool:
        if self.connected:
            self.sent.append((self.tick_number, payload, sequence, timestamp, marker))
        return self.connected

    def run(self, ticks: int) -> None:
        for n in range(ticks):
            self.tick_number = n
            self.outbound.tick(n * 0.020)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.booleans(), max_size=80))
def test_timestamps_follow_the_ticks_and_sequence_numbers_the_packets(pattern: list[bool]) -> None:
    wire = Wire(pattern)
    start = wire.outbound.timestamp
    wire.run(len(pattern))
    for tick, _, _, timestamp, _ in wire.sent:
        assert timestamp == (start + TICKS_48K * tick) & 0xFFFF_FFFF
    for one, two in itertools.pairwise(wire.sent):
        assert (two[2] - one[2]) & 0xFFFF == 1
    # The marker opens every run of packets and nothing else.
    before = None
    for tick, _, _, _, marker in wire.sent:
        assert marker == (before is None or tick != before + 1)
        before = tick
    assert wire.encoded == len(wire.sent)
    spoken = {n for n, talks in enumerate(pattern) if talks}
    tails = {n + k for n in spoken for k in range(1, TAIL_FRAMES + 1) if n + k < len(pattern)}
    assert {tick for tick, *_ in wire.sent} == spoken | tails


def test_timestamp_wraps_at_32_bits() -> None:
    wire = Wire([True] * 3)
    wire.outbound.timestamp = 2**32 - 960
    wire.run(3)
    assert [timestamp for _, _, _, timestamp, _ in wire.sent] == [2**32 - 960, 0, 960]


def test_silence_encodes_and_sends_nothing() -> None:
    wire = Wire([True] + [False] * 100)
    wire.run(101)
    assert wire.encoded == len(wire.sent) == 1 + TAIL_FRAMES
    assert wire.outbound.stats.ticks == 101


def test_a_packet_that_cannot_leave_is_counted_and_its_number_used_again() -> None:
    wire = Wire([True] * 4, connected=False)
    wire.run(2)
    wire.connected = True
    wire.run(2)
    assert wire.outbound.stats.unsent == 2
    assert wire.outbound.stats.sent == 2
    assert wire.sent[0][4]


def test_a_frame_of_another_size_is_a_mistake() -> None:
    outbound = Outbound(lambda at: b"\0" * (FRAME_BYTES - 2), lambda *_: True)
    with pytest.raises(ValueError, match="960 bytes"):
        outbound.tick(0.0)


@pytest.mark.req("RTC-6")
def test_the_tone_survives_the_codec() -> None:
    pcm, decoder, heard = tone(440, 24_000, 1.0), Decoder(48_000), bytearray()
    frames = iter([pcm[i : i + FRAME_BYTES] for i in range(0, len(pcm), FRAME_BYTES)])

    def send(payload: bytes, *_: object) -> bool:
        heard.extend(decoder.decode(payload))
        return True

    outbound = Outbound(lambda at: next(frames), send)
    for _ in range(50):
        outbound.tick(0.0)
    assert len(heard) == 96_000
    assert pitch(bytes(heard), 48_000) == pytest.approx(440, rel=0.01)
    outbound.close()
    outbound.close()


def test_loss_on_the_way_back_turns_fec_on_and_off() -> None:
    pcm, sent = voiced(24_000, 4.0), []
    frames = iter([pcm[i : i + FRAME_BYTES] for i in range(0, len(pcm), FRAME_BYTES)])

    def send(payload: bytes, *_: object) -> bool:
        sent.append(payload)
        return True

    outbound = Outbound(lambda at: next(frames), send)

    def copies(reports: list[float]) -> int:
        sent.clear()
        for loss in reports:
            outbound.adapt(loss)
        for _ in range(50):
            outbound.tick(0.0)
        return sum(map(has_fec, sent))

    assert copies([0.0, 0.02]) == 0
    assert copies([0.05]) > 20
    assert copies([0.02] * 20) > 20
    assert copies([0.0] * CALM_REPORTS) == 0
    outbound.close()


def test_low_delay_is_two_and_a_half_milliseconds() -> None:
    assert Encoder(24_000, "lowdelay").lookahead == 60
    assert Encoder(24_000, "voip").lookahead == 156

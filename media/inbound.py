"""Microphone packets to 20 ms blocks of PCM16 mono 16 kHz, live, whatever the network does.

In order: decoded at once. A hole is held for at most 40 ms, then filled by the late packet, by the
copy in the next packet (FEC) or by concealment. Absent audio (mute, DTX, a frozen tab) is normal:
silence comes from the clock. Nothing here queues decoded audio, so no delay can build up. A room
that stays quiet is not decoded, and silence that lasts is told five times a second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from media.doze import Doze
from media.meter import rms
from media.opus import Decoder, OpusError, has_fec
from media.pacer import PERIOD_S

RATE = 16_000
BLOCK_SAMPLES = 320
BLOCK_BYTES = 640
HOLD_S = 0.040
HELD_MAX = 16  # packets: a burst behind a hole is not held, its hole is repaired
# Longer than any packet (60 ms) and common jitter, shorter than a pause between words.
SILENCE_AFTER_S = 0.100
TICK_JITTER_S = 0.002
# After a stall of the process the clock is not made up for beyond this.
CATCH_UP_S = 1.0
# What the clock has not filled by then (SILENCE_AFTER_S and a tick) is filled when audio resumes.
BRIDGE_SAMPLES = RATE * 120 // 1000
# After 10 s of digital silence nobody waits for its end any more: one block in ten is enough.
LASTING_BLOCKS, LASTING_EVERY = 500, 10
RESTART_SPAN = 1000  # a jump of sequence numbers that is a new stream, not a loss (20 s)

_GRAIN = RATE * 25 // 10_000  # libopus conceals in steps of 2.5 ms
_SILENCE = bytes(BLOCK_BYTES)

Sink = Callable[[bytes, float], None]


@dataclass(slots=True)
class InboundStats:
    """Counts since the start, in packets; `silence` in blocks of 20 ms made by the clock, `dozed`
    packets that were too quiet to be decoded."""

    received: int = 0
    lost: int = 0
    concealed: int = 0
    fec: int = 0
    late: int = 0
    broken: int = 0
    silence: int = 0
    dozed: int = 0


class Blocks:
    """Cuts audio into 20 ms blocks for the sink, and makes silence when there is no audio."""

    def __init__(self, sink: Sink, stats: InboundStats) -> None:
        self._sink, self._stats = sink, stats
        self._carry = bytearray()
        self._until: float | None = None
        self._silent = True
        self._lasting = 0  # blocks of digital silence in a row
        self.filled = 0  # samples of silence since the last audio

    def audio(self, pcm: bytes, at: float) -> None:
        self._until = at + len(pcm) / (2 * RATE)
        self._silent, self.filled, self._lasting = False, 0, 0
        if not self._carry and len(pcm) == BLOCK_BYTES:
            self._sink(pcm, at)
        else:
            self._cut(pcm, at)

    def tick(self, at: float) -> None:
        if self._until is None:
            self._until = at - PERIOD_S
        if not self._silent and at - self._until < SILENCE_AFTER_S:
            return
        self._silent = True
        self._until = max(self._until, at - CATCH_UP_S)
        while at - self._until >= PERIOD_S - TICK_JITTER_S:
            self._until += PERIOD_S
            self.filled += BLOCK_SAMPLES
            self._stats.silence += 1
            self._still(at)

    def undecoded(self, samples: int, at: float) -> None:
        """Silence in the place of audio that was not worth decoding."""
        if samples != BLOCK_SAMPLES or self._carry:
            self.audio(bytes(2 * samples), at)
            return
        self._until = at + PERIOD_S
        self._silent, self.filled = False, 0
        self._still(at)

    def _still(self, at: float) -> None:
        self._lasting += 1
        if self._lasting > LASTING_BLOCKS and self._lasting % LASTING_EVERY:
            return
        if self._carry:
            self._cut(_SILENCE, at)
        else:
            self._sink(_SILENCE, at)

    def _cut(self, pcm: bytes, at: float) -> None:
        self._carry += pcm
        while len(self._carry) >= BLOCK_BYTES:
            block = bytes(self._carry[:BLOCK_BYTES])
            del self._carry[:BLOCK_BYTES]
            self._sink(block, at)


@dataclass(frozen=True, slots=True)
class _Held:
    payload: bytes
    timestamp: int
    at: float
    level: int | None


class Inbound:
    """Opus packets of one stream to `sink(pcm, at)`: 640 bytes per 20 ms, times in loop seconds."""

    def __init__(self, sink: Sink, decoder: Decoder | None = None) -> None:
        self._decoder = decoder or Decoder(RATE)
        self.stats = InboundStats()
        self._blocks = Blocks(sink, self.stats)
        self._held: dict[int, _Held] = {}
        self._sequence: int | None = None  # the next one expected
        self._timestamp = 0  # where it belongs, on the 48 kHz clock
        self._samples = BLOCK_SAMPLES  # of the last packet
        self._doze = Doze()
        self.last_packet_at: float | None = None

    def packet(
        self, payload: bytes, seq: int, timestamp: int, at: float, level: int | None = None
    ) -> None:
        """One packet from the network, in any order; `level` in dB below full scale if known."""
        self.last_packet_at = at
        self.stats.received += 1
        if self._sequence is None:
            self._sequence, self._timestamp = seq, timestamp
        ahead = _distance(seq, self._sequence)
        if abs(ahead) > RESTART_SPAN:
            self.restart(at)
            self._sequence, self._timestamp, ahead = seq, timestamp, 0
        if ahead < 0:
            self.stats.late += 1
        elif ahead == 0:
            self._play(payload, timestamp, at, level)
            if self._held:
                self._drain(at)
        else:
            self._held.setdefault(seq, _Held(payload, timestamp, at, level))
            if len(self._held) >= HELD_MAX:
                self._repair(at)
            self._repair_overdue(at, HOLD_S)

    def tick(self, at: float) -> None:
        """Every 20 ms: repairs what waited long enough, makes silence when nothing comes."""
        if self._held:
            # The next tick would be too late.
            self._repair_overdue(at, HOLD_S - PERIOD_S)
        self._blocks.tick(at)

    def restart(self, at: float) -> None:
        """Plays what is held and takes the next packet as the first of a new stream."""
        while self._held:
            self._repair(at)
        self._sequence = None
        self._doze.forget()

    def close(self) -> None:
        """Frees the decoder; idempotent."""
        self._decoder.close()

    def _repair_overdue(self, at: float, age: float) -> None:
        while self._held and at - min(held.at for held in self._held.values()) >= age:
            self._repair(at)

    def _repair(self, at: float) -> None:
        """Fills the hole before the first held packet and plays on."""
        assert self._sequence is not None
        expected = self._sequence
        first = min(self._held, key=lambda seq: _distance(seq, expected))
        self._fill_hole(_distance(first, expected), self._held[first], at)
        self._sequence = first
        self._drain(at)

    def _drain(self, at: float) -> None:
        while self._sequence is not None and (held := self._held.pop(self._sequence, None)):
            self._play(held.payload, held.timestamp, at, held.level)

    def _fill_hole(self, missing: int, after: _Held, at: float) -> None:
        span = _ticks(after.timestamp, self._timestamp)
        if not 0 < span <= missing * 3 * BRIDGE_SAMPLES:
            span = missing * self._samples * 3  # timestamps that make no sense
        self._timestamp = after.timestamp
        self.stats.lost += missing
        samples = self._unfilled(span)
        copied = self._samples if has_fec(after.payload) and samples >= self._samples else 0
        made_up = samples - copied
        if made_up:
            self._blocks.audio(self._decoder.conceal(made_up), at)
            self.stats.concealed += -(-made_up // self._samples)
        if copied:
            self._blocks.audio(self._decoder.decode_fec(after.payload, copied), at)
            self.stats.fec += 1

    def _unfilled(self, span: int) -> int:
        """Samples of a gap of `span` RTP ticks that the clock has not filled with silence."""
        samples = min(max(0, span // 3 - self._blocks.filled), BRIDGE_SAMPLES)
        return samples - samples % _GRAIN

    def _play(self, payload: bytes, timestamp: int, at: float, level: int | None) -> None:
        pause = _ticks(timestamp, self._timestamp)
        if pause > 0:  # the sender was silent and sent nothing (DTX)
            samples = self._unfilled(pause)
            if samples:
                self._blocks.audio(bytes(2 * samples), at)
        wanted = self._wanted(payload, level)
        for each in wanted:
            self._blocks.audio(self._decode(each), at)
        if not wanted:
            self.stats.dozed += 1
            self._blocks.undecoded(self._samples, at)
        assert self._sequence is not None
        self._sequence = (self._sequence + 1) & 0xFFFF
        self._timestamp = (timestamp + 3 * self._samples) & 0xFFFF_FFFF

    def _wanted(self, payload: bytes, level: int | None) -> tuple[bytes, ...]:
        """What is to be decoded now; nothing while a quiet room goes on."""
        doze = self._doze
        if not doze.sleeps(payload, level):
            return (*doze.woken(), payload)
        if doze.doubts:
            doze.told(rms(self._decode(payload)))
        return () if doze.believed else doze.woken()

    def _decode(self, payload: bytes) -> bytes:
        try:
            pcm = self._decoder.decode(payload)
        except OpusError:
            self.stats.broken += 1
            return self._decoder.conceal(self._samples)
        self._samples = len(pcm) // 2
        return pcm


def _distance(seq: int, expected: int) -> int:
    """How far `seq` is ahead of `expected` (RFC 1982 arithmetic on 16 bits)."""
    return (seq - expected + 0x8000 & 0xFFFF) - 0x8000


def _ticks(timestamp: int, expected: int) -> int:
    """How far `timestamp` is ahead of `expected` on 32 bits."""
    return (timestamp - expected + 0x8000_0000 & 0xFFFF_FFFF) - 0x8000_0000

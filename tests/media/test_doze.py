"""A quiet room is not decoded, and nobody who speaks in it loses a syllable."""

from __future__ import annotations

import numpy as np
import pytest

from media import audio_level
from media.doze import AFTER_PACKETS, KEPT, QUIET, TEST_EVERY, Doze
from media.gate import Gate
from media.inbound import BLOCK_BYTES, LASTING_BLOCKS, LASTING_EVERY, Inbound
from media.meter import rms
from media.opus import Encoder
from media.turn_events import SpeechStarted
from media.vad import Vad
from tests.media.hearing import need
from tests.media.hearing.clips import ACTIVE, RATE, Clip, Sound, everybody

ROOM = 32768 * 10 ** (-65 / 20)


def level_of(pcm: bytes) -> int:
    loudness = rms(pcm)
    return min(127, round(-20 * float(np.log10(loudness / 32768)))) if loudness else 127


class Line:
    """A microphone at 16 kHz, a browser's encoder, the network, `Inbound`."""

    def __init__(self, *, says: int | None = None) -> None:
        self.out: list[tuple[bytes, float]] = []
        self.inbound = Inbound(lambda pcm, at: self.out.append((pcm, at)))
        self._encoder = Encoder(RATE, "voip", 32_000)
        self._rng, self._says, self.number = np.random.default_rng(4), says, 0

    @property
    def at(self) -> float:
        return 0.020 * self.number

    def send(self, sound: Sound, room: float = ROOM) -> None:
        whole = len(sound) // 320 * 320
        hiss = self._rng.standard_normal(whole) * room
        pcm = np.clip(np.rint(sound[:whole] * 32768 + hiss), -32768, 32767).astype("<i2").tobytes()
        for start in range(0, len(pcm), BLOCK_BYTES):
            piece = pcm[start : start + BLOCK_BYTES]
            payload = self._encoder.encode(piece)
            level = level_of(piece) if self._says is None else self._says
            self.inbound.packet(payload, self.number & 0xFFFF, 960 * self.number, self.at, level)
            self.number += 1
            self.inbound.tick(self.at - 0.001)

    def wait(self, seconds: float) -> None:
        self.send(np.zeros(int(seconds * RATE), np.float32))

    def decoded(self) -> int:
        return self.inbound.stats.received - self.inbound.stats.dozed


def test_a_quiet_room_is_not_decoded_and_keeps_time() -> None:
    line = Line()
    line.wait(9.0)
    assert line.inbound.stats.dozed == 450 - AFTER_PACKETS - 1
    assert len(line.out) == 450
    assert not any(line.out[-1][0])
    assert line.inbound.stats.silence == 0


def test_without_a_level_everything_is_decoded() -> None:
    line = Line()
    payload = Encoder(RATE, "voip").encode(bytes(BLOCK_BYTES))
    for n in range(400):
        line.inbound.packet(payload, n, 960 * n, 0.02 * n)
    assert line.inbound.stats.dozed == 0


def test_a_louder_room_is_decoded() -> None:
    line = Line()
    line.send(np.zeros(6 * RATE, np.float32), room=32768 * 10 ** (-48 / 20))
    assert line.inbound.stats.dozed == 0


def test_the_first_loud_packet_brings_what_was_kept() -> None:
    line = Line()
    line.wait(6.0)
    line.out.clear()
    line.send(np.full(320, 0.1, np.float32) * np.sin(np.arange(320)).astype(np.float32))
    assert len(line.out) == KEPT + 1
    assert all(any(pcm) for pcm, _ in line.out)
    assert {round(at, 3) for _, at in line.out} == {round(line.at - 0.020, 3)}


@pytest.mark.parametrize("says", [QUIET, 127])
def test_a_sender_whose_levels_are_wrong_is_heard_all_the_same(says: int) -> None:
    """Nothing is lost either: what was kept since the last test comes out."""
    line = Line(says=says)
    line.wait(8.0)
    dozed = line.inbound.stats.dozed
    assert dozed > 200
    t = np.arange(2 * RATE) / RATE
    line.send((0.1 * np.sin(2 * np.pi * 300 * t)).astype(np.float32))
    loud = [rms(pcm) > 1000 for pcm, _ in line.out]
    assert sum(loud) >= 95
    assert line.inbound.stats.dozed <= dozed + TEST_EVERY


def test_a_packet_of_another_kind_is_decoded() -> None:
    doze = Doze()
    for _ in range(AFTER_PACKETS + 5):
        doze.sleeps(b"\x78a", 80)
    assert doze.sleeps(b"\x78a", 80)
    assert not doze.sleeps(b"\x70a", 80)
    # As many frames as it says itself: never.
    assert not any(doze.sleeps(b"\x7ba", 80) for _ in range(2 * AFTER_PACKETS))
    assert not doze.sleeps(b"", 80)


def test_another_stream_does_not_bring_the_sound_of_the_last() -> None:
    line = Line()
    line.wait(6.0)
    line.inbound.restart(line.at)
    line.out.clear()
    line.wait(0.5)
    assert len(line.out) == 25


def test_silence_that_lasts_is_told_less_often() -> None:
    out: list[bytes] = []
    inbound = Inbound(lambda pcm, at: out.append(pcm))
    for n in range(LASTING_BLOCKS + 1000):
        inbound.tick(0.02 * n)
    assert len(out) == pytest.approx(LASTING_BLOCKS + 1000 / LASTING_EVERY, abs=6)
    payload = Encoder(RATE, "voip").encode(np.full(320, 3000, "<i2").tobytes())
    at = 0.02 * (LASTING_BLOCKS + 1000)
    before = len(out)
    for n in range(10):
        inbound.packet(payload, n, 960 * n, at + 0.02 * n)
    assert len(out) == before + 10
    before = len(out)
    for n in range(10, 60):
        inbound.tick(at + 0.02 * n)
    assert len(out) - before >= 44


# --- the header


@pytest.mark.parametrize("level", [0, 30, 127])
def test_a_level_is_read_as_it_was_written(level: int) -> None:
    data = bytes(12) + audio_level.extension(level, 5) + b"opus"
    assert audio_level.read(data, 12, 20, 5) == level
    assert audio_level.read(data, 12, 20, 4) is None


@pytest.mark.parametrize(
    ("elements", "level"),
    [
        (b"\x10\x33\x50\x9e", 30),  # another one first; the voice bit is not the level
        (b"\x00\x00\x50\x1e", 30),
        (b"\x12abc\x50\x1e\x00\x00", 30),
        (b"\xf0\x00\x50\x1e", None),  # 15 ends it
        (b"\x10\x00\x00\x50", None),  # cut off
        (b"\x1f\x00\x00\x00", None),  # longer than it is
        (b"", None),
    ],
)
def test_other_elements_are_stepped_over(elements: bytes, level: int | None) -> None:
    data = b"\xbe\xde" + (len(elements) // 4).to_bytes(2, "big") + elements
    assert audio_level.read(data, 0, len(data), 5) == level


def test_the_two_byte_form_is_not_read() -> None:
    assert audio_level.read(b"\x10\x00\x00\x01\x05\x01\x1e\x00", 0, 8, 5) is None


# --- with voices


@pytest.mark.req("RTC-8", "RTC-9")
@pytest.mark.parametrize("level_db", [-26, -36])
def test_t7_a_word_in_a_dozing_room_is_forwarded_whole(level_db: int) -> None:
    """T7: the gate opens as soon, and sends as much from before, as in a room that is decoded."""
    need.robots()
    words = [clip for clip in everybody() if len(clip.name.rpartition(": ")[2]) <= 5]
    assert len(words) >= 6
    for clip in words[::2]:
        awake, dozing = (_word(clip, level_db, says=says) for says in (0, None))
        assert awake is not None
        assert dozing is not None
        assert dozing[0] <= awake[0] + 0.021
        assert dozing[1] >= awake[1] - 1


def test_t7_a_whisper_is_heard_in_a_dozing_room_where_it_is_in_another() -> None:
    need.robots()
    words = [clip for clip in everybody() if len(clip.name.rpartition(": ")[2]) <= 5]
    awake, dozing = ([_word(clip, -46, says=says) for clip in words] for says in (0, None))
    # Of 16, 18 dB above the room.
    assert awake.count(None) <= 1
    assert dozing.count(None) <= 2


def _word(clip: Clip, level_db: float, *, says: int | None) -> tuple[float, int] | None:
    """From its onset to certain speech (s), and how many blocks with sound were forwarded; None
    when it was not heard."""
    line, gate = Line(says=says), Gate(Vad())
    started: list[float] = []
    sent = b""

    def hear(pcm: bytes, at: float) -> None:
        nonlocal sent
        step = gate.feed(pcm, at)
        sent += step.forward
        started.extend(at for event in step.events if isinstance(event, SpeechStarted))

    line.inbound = Inbound(hear)
    line.wait(6.0)
    onset = line.at + clip.onset / RATE
    line.send((clip.sound * (10 ** (level_db / 20) / ACTIVE)).astype(np.float32))
    line.wait(1.0)
    assert (line.inbound.stats.dozed > 0) is (says is None)
    if not started:
        return None
    pieces = [sent[at : at + BLOCK_BYTES] for at in range(0, len(sent), BLOCK_BYTES)]
    return started[0] - onset, sum(rms(piece) > 2 * ROOM for piece in pieces)

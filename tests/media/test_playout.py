"""Reply audio out: exact samples, no clicks, the account of what was heard."""

from __future__ import annotations

import numpy as np
import pytest

from media import playout as out
from media.playout import Heard, Playout
from media.sound import BLOCK_BYTES, FADE_SAMPLES, RATE
from media.sound import BYTES_PER_MS as MS
from tests.media.peers import pitch
from tests.media.peers import tone as pure


def ramp(ms: int, start: int = 1) -> bytes:
    """Samples that tell their own position."""
    count = ms * RATE // 1000
    return ((np.arange(start, start + count)) % 20_000 + 1).astype("<i2").tobytes()


def tone(ms: int, level: int = 8000) -> bytes:
    t = np.arange(ms * RATE // 1000) / RATE
    return (level * np.sin(2 * np.pi * 200 * t)).astype("<i2").tobytes()


class Ear:
    """Pulls every 20 ms and remembers."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str, float]] = []
        self.at = 0.0
        self.playout = Playout(
            on_started=lambda turn, at: self.told.append(("started", turn, round(at, 3))),
            on_drained=lambda turn, at: self.told.append(("drained", turn, round(at, 3))),
        )

    def pull(self, count: int = 1) -> list[bytes | None]:
        blocks = []
        for _ in range(count):
            blocks.append(self.playout.pull(self.at))
            self.at += 0.02
        return blocks

    def hear(self, count: int) -> bytes:
        return b"".join(block for block in self.pull(count) if block)


def begin(turn: str = "t1", pcm: bytes = b"") -> Ear:
    ear = Ear()
    ear.playout.begin(turn)
    ear.playout.audio(pcm)
    return ear


def samples(pcm: bytes) -> np.ndarray:
    return np.frombuffer(pcm, "<i2").astype(np.int32)


@pytest.mark.req("RTC-6")
def test_the_first_chunk_plays_at_once_and_in_whole_blocks() -> None:
    ear = begin(pcm=ramp(100))
    blocks = ear.pull(5)
    assert [len(block or b"") for block in blocks] == [BLOCK_BYTES] * 5
    assert b"".join(block or b"" for block in blocks) == ramp(100)
    assert ear.told == [("started", "t1", 0.0)]


@pytest.mark.req("RTC-12")
def test_drained_is_told_when_the_last_sample_has_been_played() -> None:
    ear = begin(pcm=ramp(60))
    ear.playout.complete()
    ear.pull(3)
    assert ear.told == [("started", "t1", 0.0)]
    assert ear.pull(2) == [None, None]
    assert ear.told[1:] == [("drained", "t1", 0.06)]
    assert not ear.playout.playing


def test_nothing_is_handed_out_without_a_reply() -> None:
    ear = Ear()
    ear.playout.audio(ramp(100))
    assert ear.pull(3) == [None] * 3
    assert ear.playout.heard() == Heard("", "", 0.0, 0.0)
    assert ear.playout.flush() == Heard("", "", 0.0, 0.0)


@pytest.mark.req("RTC-7")
def test_chunks_of_any_length_are_one_stream() -> None:
    whole = ramp(200)
    ear = begin()
    for start, end in ((0, 1), (1, 700), (700, 961), (961, 5001), (5001, len(whole))):
        ear.playout.audio(whole[start:end])
    assert ear.hear(10) == whole


def test_the_last_partial_block_is_padded() -> None:
    ear = begin(pcm=ramp(30))
    ear.playout.complete()
    assert ear.hear(3) == ramp(30).ljust(2 * BLOCK_BYTES, b"\0")
    assert ear.playout.heard().played_ms == 30


def test_an_underrun_gathers_60_ms_before_it_goes_on() -> None:
    ear = begin(pcm=ramp(40))
    ear.pull(3)
    assert ear.told[-1][0] == "drained"
    ear.playout.audio(ramp(40, start=961))
    assert ear.pull(2) == [None, None]
    ear.playout.audio(ramp(20, start=1921))
    assert ear.pull() != [None]
    assert ear.told[-1][0] == "started"
    assert ear.playout.stats.underruns == 1


def test_the_rest_after_an_underrun_is_played_in_the_end() -> None:
    ear = begin(pcm=ramp(40))
    ear.pull(3)
    ear.playout.audio(ramp(30, start=961))
    ear.pull(2 * (out.REST_PULLS + 3))
    assert ear.playout.heard().played_ms == 70


def test_a_completed_rest_does_not_wait() -> None:
    ear = begin(pcm=ramp(40))
    ear.pull(3)
    ear.playout.audio(ramp(10, start=961))
    ear.playout.complete()
    assert ear.pull() != [None]


def test_audio_after_complete_reopens_the_reply() -> None:
    """Extended thinking: a filler is completed, the answer follows in the same reply."""
    ear = begin(pcm=ramp(20))
    ear.playout.complete()
    ear.pull(2)
    ear.playout.audio(ramp(60, start=481))
    assert ear.hear(3)[240 * 2 :] == ramp(60, start=481)[240 * 2 :]
    assert [kind for kind, _, _ in ear.told] == ["started", "drained", "started"]


@pytest.mark.req("RTC-6", "RTC-7")
@pytest.mark.parametrize("rate", [8_000, 16_000, 22_050, 24_000, 48_000])
def test_a_reply_of_any_rate_has_its_pitch_and_length(rate: int) -> None:
    """In pieces of any size, the last of them completed or not."""
    ear = begin()
    pcm = pure(440, rate, 1.0)
    for at in range(0, len(pcm), 1234):
        ear.playout.audio(pcm[at : at + 1234], rate)
    ear.playout.complete()
    heard = ear.hear(60)
    assert pitch(heard, RATE) == pytest.approx(440, rel=0.01)
    assert ear.playout.heard().total_ms == pytest.approx(1000, abs=1)


@pytest.mark.req("RTC-7")
def test_a_rate_that_changes_within_a_reply_loses_nothing() -> None:
    """A filler of one voice, the answer of another; the next reply knows nothing of either."""
    ear = begin()
    ear.playout.audio(pure(440, 16_000, 0.5), 16_000)
    ear.playout.audio(pure(440, RATE, 0.5))
    assert ear.playout.heard().total_ms == pytest.approx(1000, abs=1)
    ear.playout.audio(pure(440, 16_000, 0.5), 16_000)
    ear.playout.begin("t2")
    ear.playout.audio(ramp(40))
    assert ear.hear(2) == ramp(40)


@pytest.mark.req("RTC-11", "VOICE-17")
def test_t19_a_flush_leaves_one_fading_block_and_silence() -> None:
    """T19: 5 s queued; silence within 40 ms."""
    ear = begin(pcm=tone(5000))
    ear.pull(10)
    heard = ear.playout.flush()
    tail, *rest = ear.pull(4)
    assert tail is not None
    assert not samples(tail)[FADE_SAMPLES:].any()
    assert rest == [None] * 3
    assert (heard.played_ms, heard.total_ms) == (200, 5000)
    assert [kind for kind, _, _ in ear.told] == ["started"]
    assert not ear.playout.playing


def test_pause_and_resume_lose_and_repeat_no_sample() -> None:
    ear = begin(pcm=ramp(400))
    before = ear.hear(5)
    ear.playout.pause()
    ear.playout.pause()
    tail = samples(ear.hear(10))
    assert len(tail) == BLOCK_BYTES // 2
    assert not tail[FADE_SAMPLES:].any()
    assert ear.playout.heard().played_ms == 100
    ear.playout.resume()
    after = ear.hear(15)
    fade = FADE_SAMPLES * 2
    assert before + after[:0] == ramp(400)[: len(before)]
    assert after[fade:] == ramp(400)[len(before) + fade :]
    assert [kind for kind, _, _ in ear.told] == ["started"]


def test_a_reply_held_before_its_first_sample_starts_when_released() -> None:
    ear = begin(pcm=tone(100))
    ear.playout.pause()
    assert ear.pull(5) == [None] * 5
    assert ear.told == []
    ear.playout.resume()
    ear.pull()
    assert ear.told == [("started", "t1", 0.1)]


def test_duck_is_15_db_within_one_block_and_comes_back() -> None:
    ear = begin(pcm=tone(1000))
    full = np.abs(samples(ear.hear(5))).max()
    ear.playout.duck()
    ear.pull()
    ducked = np.abs(samples(ear.hear(5))).max()
    assert 20 * np.log10(full / ducked) == pytest.approx(15, abs=0.2)
    ear.playout.unduck()
    ear.pull(5)
    assert np.abs(samples(ear.hear(5))).max() == full


@pytest.mark.parametrize("what", ["duck", "pause", "flush", "cough"])
def test_level_changes_do_not_click(what: str) -> None:
    """No step between neighbouring samples beyond that of the tone itself (plus its ramp)."""
    ear = begin(pcm=tone(1000))
    pcm = ear.hear(7)
    step = np.abs(np.diff(samples(pcm))).max()
    match what:
        case "duck":
            ear.playout.duck()
            pcm += ear.hear(5)
            ear.playout.unduck()
            pcm += ear.hear(8)
        case "pause":
            ear.playout.pause()
            pcm += ear.hear(5)
            ear.playout.resume()
            pcm += ear.hear(5)
        case "flush":
            ear.playout.flush()
            pcm += ear.hear(3)
        case "cough":
            ear.playout.duck()
            pcm += ear.hear(3)
            ear.playout.pause()
            pcm += ear.hear(3)
            ear.playout.resume()
            pcm += ear.hear(5)
    assert np.abs(np.diff(samples(pcm))).max() <= step * 1.6


def test_t21_heard_words_follow_the_played_position() -> None:
    """T21: interrupted at 37 %."""
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    ear = begin()
    for n, word in enumerate(words):
        ear.playout.text(word if n == 0 else " " + word)
        ear.playout.audio(tone(300))
    ear.pull(round(3000 * 0.37 / 20))
    heard = ear.playout.flush()
    assert heard.text in ("one two three", "one two three four")
    assert heard.text + heard.unheard == " ".join(words)
    assert ear.playout.heard("t1") == heard


@pytest.mark.req("VOICE-51")
def test_a_reply_played_to_its_end_is_heard_exactly() -> None:
    ear = begin(pcm=tone(100) + b"\1")
    ear.playout.text("It bends rock. ")
    ear.playout.complete()
    ear.pull(6)
    assert ear.playout.heard() == Heard("It bends rock. ", "", 100, 100)
    ear.playout.text("(Really.)")
    assert ear.playout.heard().text == "It bends rock. (Really.)"


def test_a_new_reply_drops_what_is_left_of_the_old_one() -> None:
    ear = begin("t1", tone(1000))
    ear.playout.duck()
    ear.pull(5)
    ear.playout.begin("t2")
    ear.playout.audio(ramp(20))
    ear.pull()  # the fade of the old one
    assert ear.hear(1) == ramp(20)
    assert ear.playout.turn_id == "t2"
    assert ear.playout.heard("t1").played_ms == 100


def test_the_last_three_replies_are_kept_for_replay() -> None:
    ear = Ear()
    for n in range(5):
        ear.playout.begin(f"t{n}")
        ear.playout.audio(ramp(20, start=n))
        ear.playout.complete()
        ear.pull(2)
    assert ear.playout.recording("t4") == ramp(20, start=4)
    assert ear.playout.recording("t1") == ramp(20, start=1)
    assert ear.playout.recording("t0") is None
    assert ear.playout.heard("t0") == Heard("", "", 0.0, 0.0)


def test_replay_memory_is_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(out, "KEPT_BYTES", 100 * MS)
    ear = Ear()
    for n in range(3):
        ear.playout.begin(f"t{n}")
        ear.playout.text("words")
        ear.playout.audio(ramp(80))
        ear.playout.complete()
        ear.pull(5)
    ear.playout.begin("t3")
    assert ear.playout.recording("t2") == ramp(80)
    assert ear.playout.recording("t0") is ear.playout.recording("t1") is None
    assert ear.playout.heard("t0") == Heard("words", "", 80, 80)


def test_the_newest_audio_is_refused_beyond_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(out, "QUEUE_MS", 100)
    ear = begin(pcm=ramp(80) + b"\1")
    ear.playout.audio(ramp(40)[1:])
    assert ear.playout.stats.queued_ms == pytest.approx(100, abs=0.1)
    assert ear.playout.stats.refused_ms == pytest.approx(20, abs=0.1)
    # Whatever was refused, the stream stays on whole samples.
    assert len(ear.playout._sound.pcm) % 2 == 0  # type: ignore[union-attr]


def test_inaudible_replies_are_noticed() -> None:
    ear = begin(pcm=tone(100, level=20))
    assert not ear.playout.audible
    ear.playout.audio(tone(100, level=2000))
    assert ear.playout.audible
    assert Playout().audible


def test_what_never_arrived_is_unheard_and_played_again() -> None:
    ear = begin(pcm=ramp(1000))
    ear.playout.text("one two three four five six seven eight nine ten")
    ear.playout.complete()
    ear.hear(25)
    assert ear.playout.heard().played_ms == 500
    ear.playout.rewind(300)
    heard = ear.playout.heard()
    assert heard.played_ms == 200
    assert heard.text == "one two"
    assert ear.hear(1)[:200] == ramp(1000)[200 * MS : 200 * MS + 200]
    ear.playout.rewind(60_000)
    assert ear.playout.heard().played_ms == 0

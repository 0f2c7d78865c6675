"""What a learner says over the tutor reaches the service whole: every block of it, as sound, once
and in order, from 100 ms before the onset on. No echo here: a headset."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from media.echo import Echo, Hearing
from media.gate import BLOCK_BYTES, GateStep
from tests.media.hearing import need
from tests.media.hearing.clips import HOP, RATE, Clip, joe, joe_says, labelled, recordings
from tests.media.hearing.desk import Desk, tutor
from tests.media.hearing.way_back import WayBack

LEAD_BLOCKS = 5
CRY = "Wait, wait, please stop for a moment."


class Overheard(Desk):
    """What goes into its gate, and what comes out."""

    def __init__(self, way_back: WayBack | None) -> None:
        super().__init__(way_back)
        self.heard: list[bytes] = []
        self.sent: list[bytes] = []
        feed = self.gate.feed

        def overheard(pcm20: bytes, at: float) -> GateStep:
            step = feed(pcm20, at)
            self.heard.append(pcm20)
            starts = range(0, len(step.forward), BLOCK_BYTES)
            self.sent += [step.forward[start : start + BLOCK_BYTES] for start in starts]
            return step

        self.gate.feed = overheard  # type: ignore[method-assign]


def lost(clip: Clip, after_s: float, reply: int, way_back: WayBack | None = None) -> list[int]:
    """Numbers of the blocks that are missing, counted from the onset (20 ms each)."""
    desk = Overheard(way_back)
    desk.wait(1.0)
    for _ in range(reply - 1):
        desk.tutor_says(tutor())
        desk.wait(len(tutor()) / 24_000 + 1.0)
    desk.tutor_says(tutor())
    desk.wait(after_s)
    onset = len(desk.heard)
    desk.hear(clip.sound[clip.onset : clip.end])
    end = len(desk.heard)
    desk.wait(2.5)
    # The hiss of the microphone makes every block one of a kind.
    number = {block: n for n, block in enumerate(desk.heard)}
    came = [number[block] for block in desk.sent if block in number]
    assert came == sorted(set(came))
    missing = set(range(onset - LEAD_BLOCKS, end)) - set(came)
    return sorted(n - onset for n in missing)


def voices() -> Iterator[Clip]:
    """The tutor's own voice as a learner's is the hardest; people."""
    yield labelled(CRY, "joe", joe_says(CRY))
    yield joe()[7]
    yield from (clip for clip in recordings() if len(clip.sound) <= 5 * RATE)


@pytest.mark.speech
@pytest.mark.req("RTC-11")
@pytest.mark.parametrize(
    ("after_s", "reply"), [(0.4, 1), (1.0, 1), (2.5, 1), (2.5, 2)], ids=lambda value: str(value)
)
def test_what_is_said_over_the_tutor_goes_out_whole(after_s: float, reply: int) -> None:
    need.local_voice()
    assert {clip.name: lost(clip, after_s, reply) for clip in voices()} == {
        clip.name: [] for clip in voices()
    }


@pytest.mark.speech
@pytest.mark.req("RTC-11")
@pytest.mark.parametrize("gap_s", [0.35, 0.5, 0.8])
def test_a_word_too_short_to_be_certain_goes_out_with_the_next(gap_s: float) -> None:
    """In the tutor's first half second, while nobody knows whose voice it is."""
    need.local_voice()
    words = {clip.name: clip.sound[clip.onset : clip.end] for clip in joe()}
    pause = np.zeros(int(gap_s * RATE), np.float32)
    for first, second in (("Stop.", "Chlorophyll."), ("Yes.", "No.")):
        sound = np.concatenate((words[first], pause, words[second]))
        both = Clip(first + second, "joe", sound, np.ones(len(sound) // HOP, np.bool_))
        assert lost(both, 0.3, 1) == []


@pytest.mark.speech
@pytest.mark.req("RTC-11")
def test_over_the_echo_a_word_has_no_holes() -> None:
    """Six dB above the echo, when the way back is known: gaps are the tutor's own voice only."""
    need.local_voice()
    holes = []
    for clip in [clip for clip in recordings() if len(clip.sound) <= 5 * RATE] or joe()[7:9]:
        sound = clip.sound * np.float32(10 ** (-3 / 20))
        missing = lost(replace(clip, sound=sound), 3.13, 1, WayBack(delay_ms=130, gain_db=-12))
        holes.append(len(missing) * 20)
    assert np.median(holes) <= 40


@pytest.mark.speech
def test_two_voices_and_no_echo_are_two_voices() -> None:
    """The guard finds no way back where there is none, however alike the two sound."""
    need.local_voice()
    far = np.rint(tutor() * 32767).astype("<i2").tobytes()
    voice = np.concatenate([clip.sound[clip.onset : clip.end] for clip in joe()])
    near = np.rint(voice * 32767).astype("<i2").tobytes()
    echo, verdicts = Echo(), []
    for n in range(min(len(far) // 960, len(near) // BLOCK_BYTES)):
        echo.played(far[n * 960 : (n + 1) * 960], n * 0.02)
        block = near[n * BLOCK_BYTES : (n + 1) * BLOCK_BYTES]
        verdicts.append(echo.hear(block, n * 0.02, voice=True))
    assert len(verdicts) > 600
    assert Hearing.ECHO not in verdicts

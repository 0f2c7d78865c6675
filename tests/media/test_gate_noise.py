"""The gate among noises, on labelled voices: soon enough, whole, and shut when nobody speaks."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from media.room import BUCKET_BLOCKS, BUCKETS, OWN_KNOWN_BLOCKS, Room
from tests.media.hearing import need, noises, trial
from tests.media.hearing.clips import ACTIVE, Clip, Sound, everybody, joe, recordings

# Budgets, and what a slower or foreign set of voices may add.
ONSET_MS = {20: 90, 10: 150}
MARGIN = 1.15
NOISE_S = 40.0


@cache
def voices() -> tuple[Clip, ...]:
    """Every third of everybody: all sources, a third of the time."""
    return everybody()[::3]


@cache
def noise(name: str) -> Sound:
    return noises.noise(name, NOISE_S, recordings() + joe())


@pytest.mark.speech
@pytest.mark.req("RTC-8", "RTC-9")
@pytest.mark.parametrize("snr_db", ONSET_MS)
@pytest.mark.parametrize("name", noises.NAMES)
def test_a_voice_is_heard_soon_and_whole_over_noise(name: str, snr_db: int) -> None:
    need.local_voice()
    track = trial.with_noise(trial.track(voices()), noise(name), snr_db)
    heard = trial.listen(track)
    onsets = trial.onsets(track, heard)
    assert len(onsets.found) >= 0.96 * len(onsets.delays)
    assert np.median(onsets.found) * 1000 <= ONSET_MS[snr_db] * MARGIN
    assert np.mean(onsets.whole) >= 0.99
    assert trial.false_openings(track, heard) / track.seconds * 60 <= 1


@pytest.mark.speech
@pytest.mark.req("VOICE-56")
@pytest.mark.parametrize(
    ("name", "most"), [("white", 0), ("keyboard", 0), ("music", 0), ("babble", 1)]
)
def test_noise_alone_opens_at_most_once_a_minute(name: str, most: int) -> None:
    """Also after the learner has been heard: the detectors remember. Voices that set in may open
    it once: for two seconds nobody can know that they are the room."""
    need.local_voice()
    first = trial.track(joe()[:2])
    sound = np.concatenate((first.sound, noise(name) * ACTIVE * 10 ** (-10 / 20)))
    track = trial.Track(sound.astype(np.float32), first.spans)
    assert trial.false_openings(track, trial.listen(track)) <= most


@pytest.mark.speech
def test_voices_of_others_keep_the_gate_shut_most_of_the_time() -> None:
    """Eight people 10 dB below the learner are speech to both models: the level tells."""
    need.local_voice()
    first = trial.track(joe()[:2])
    begin = len(first.sound) // trial.BLOCK
    sound = np.concatenate((first.sound, noise("babble") * ACTIVE * 10 ** (-10 / 20)))
    heard = trial.listen(trial.Track(sound.astype(np.float32), first.spans))
    assert np.mean(heard.sent[begin:]) <= 0.15


@pytest.mark.req("RTC-8", "RTC-9")
@pytest.mark.parametrize(("level_db", "lost"), [(-26, 0), (-36, 0), (-46, 1)])
def test_t7_a_short_word_is_forwarded_from_before_its_onset(level_db: int, lost: int) -> None:
    """T7 with voices: yes, no, tak, nein, sí, of 150 to 500 ms; down to a whisper."""
    need.robots()
    words = tuple(c for c in everybody() if len(c.name.rpartition(": ")[2]) <= 5)
    assert len(words) >= 6
    loud = trial.track(words)
    gain = 10 ** (level_db / 20) / ACTIVE
    track = trial.Track((loud.sound * gain).astype(np.float32), loud.spans)
    onsets = trial.onsets(track, trial.listen(track))
    assert onsets.delays.count(None) <= lost
    assert onsets.whole.count(False) <= lost
    assert np.median(onsets.found) <= 0.18


# --- the room, without sound ---------------------------------------------------------------------

FULL = BUCKETS * BUCKET_BLOCKS


def test_a_quiet_or_hissing_room_asks_for_nothing() -> None:
    quiet, hissing = Room(), Room()
    for _ in range(FULL):
        quiet.hear(20.0, 0.9, warm=True)
        hissing.hear(2000.0, 0.0, warm=False)
    assert quiet.admits(30.0, going_on=False)
    assert hissing.admits(2000.0, going_on=False)
    assert not hissing.restless


def test_in_a_room_of_voices_only_what_stands_out_is_the_learner() -> None:
    room = Room()
    for _ in range(2 * FULL):
        room.hear(600.0, 0.9, warm=True)
    assert room.restless
    assert not room.admits(900.0, going_on=False)
    assert room.admits(1550.0, going_on=False)
    assert room.admits(1250.0, going_on=True)
    assert room.crowded


def test_the_learners_own_level_counts_once_it_is_known() -> None:
    room = Room()
    for _ in range(2 * FULL):
        room.hear(600.0, 0.9, warm=True)
    for _ in range(OWN_KNOWN_BLOCKS - 1):
        room.learner(6000.0)
    assert room.own == 0.0
    room.learner(6000.0)
    assert room.own == pytest.approx(6000.0)
    assert not room.admits(2900.0, going_on=False)
    assert room.admits(3100.0, going_on=False)


def test_nobody_is_refused_for_ever() -> None:
    """Who has moved away from the microphone is heard again within half a minute of talking."""
    room = Room()
    for _ in range(2 * FULL):
        room.hear(600.0, 0.9, warm=True)
    for _ in range(OWN_KNOWN_BLOCKS):
        room.learner(6000.0)
    for _ in range(30 * 50):
        if not room.admits(2000.0, going_on=False):
            room.refused(2000.0)
    assert room.admits(2000.0, going_on=False)


def test_others_do_not_become_the_learner() -> None:
    """They opened the gate once: three seconds of them leave the learner's level where it was."""
    room = Room()
    for _ in range(2 * OWN_KNOWN_BLOCKS):
        room.learner(6000.0)
    for _ in range(150):
        room.learner(1500.0)
    assert room.own > 5000.0
    for _ in range(150):
        room.learner(9000.0)
    assert room.own > 7500.0


def test_a_faint_voice_is_doubted_in_a_noise_only() -> None:
    quiet, noisy = Room(), Room()
    for _ in range(2 * OWN_KNOWN_BLOCKS):
        quiet.learner(6000.0)
        noisy.learner(6000.0)
    for _ in range(2 * FULL):
        quiet.hear(20.0, 0.0, warm=False)
        noisy.hear(200.0, 0.0, warm=False)
    assert not quiet.faint(1000.0)
    assert noisy.faint(1000.0)
    assert not noisy.faint(3000.0)


def test_the_learners_voice_does_not_become_the_room() -> None:
    """Gaps between words show the room; a stretch without any is no room of 2 s."""
    room = Room()
    for n in range(2 * FULL):
        room.hear(4000.0 if n % 40 < 28 else 15.0, 0.9 if n % 40 < 28 else 0.1, warm=n % 40 < 28)
    assert room.admits(300.0, going_on=False)

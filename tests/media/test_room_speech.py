"""Somebody who talks on does not make the room: their own voice is no crowd around them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from media.gate import Gate
from media.gate_settings import GateSettings
from media.room import QUIET, Room
from media.turn_events import SpeechEnded, SpeechStarted
from media.vad import Vad
from tests.voices import spoken

SENTENCE = "Antibodies recognise the surface of the germ and hold on to it until it is carried away"


@pytest.mark.req("RTC-8")
def test_a_long_sentence_in_a_quiet_room_is_heard_to_its_end() -> None:
    """Talking for 8 s, no moment of it softer than 9 dB below the loudest; soft syllables may be
    refused, never for as long as a pause."""
    room, refused = Room(), 0
    for _ in range(200):
        room.hear(5.0, 0.0, warm=False)
    for rms in itertools.islice(itertools.cycle((700.0, 1800.0, 1200.0, 650.0)), 400):
        room.learner(rms)
        room.hear(rms, 1.0, warm=True, certain=True)
        refused = 0 if room.admits(rms, going_on=True) else refused + 1
        assert refused <= 10


@pytest.mark.req("RTC-8")
def test_voices_that_never_pause_are_a_crowd_although_one_of_them_was_taken_for_the_learner() -> (
    None
):
    room = Room()
    for _ in range(600):
        room.hear(700.0, 1.0, warm=True, certain=True)
    assert room.floor > QUIET
    assert not room.admits(700.0, going_on=True)


@pytest.mark.speech
@pytest.mark.req("RTC-8")
def test_a_voice_that_draws_no_breath_is_one_utterance() -> None:
    """8 s without a pause: begun once, and ended when it ends."""
    import soxr

    voice = np.frombuffer(spoken(SENTENCE), "<i2").astype(np.float32)
    voice = soxr.resample(voice, 48_000, 16_000)
    loud = np.flatnonzero(np.abs(voice) > 300)
    voice = np.tile(voice[loud[0] : loud[-1]], 2)[: 16_000 * 8]
    quiet = np.zeros(16_000 * 2, np.float32)
    sound = np.concatenate((quiet, voice, quiet)).clip(-32768, 32767).astype("<i2").tobytes()
    gate, events = Gate(Vad(), GateSettings()), []
    for number in range(len(sound) // 640):
        block = sound[number * 640 : number * 640 + 640]
        events += gate.feed(block, number * 0.02).events
    started = [event for event in events if isinstance(event, SpeechStarted)]
    ended = [event for event in events if isinstance(event, SpeechEnded)]
    assert (len(started), len(ended)) == (1, 1)
    assert ended[0].at >= 2 + len(voice) / 16_000

"""T4: what is no interruption. A cough, a door, an "mhm" over the tutor: the tutor goes on."""

from __future__ import annotations

import numpy as np
import pytest

from media import turn_events as ev
from media.gate import GateSettings
from media.turns import State
from tests.media.hearing import need
from tests.media.hearing.clips import RATE, Sound, espeak_says, joe_says, labelled
from tests.media.hearing.desk import Desk, tutor
from tests.media.hearing.noises import cough, door
from tests.media.hearing.way_back import WayBack

LOUD, ORDINARY = 0.3, 0.1


def mhm(voice: str) -> Sound:
    sound = joe_says("Mhm.") if voice == "joe" else espeak_says(voice, "mhm")
    if sound is None:
        pytest.skip("needs espeak-ng")
    clip = labelled("mhm", voice, sound)
    return clip.sound[clip.onset : clip.end][: int(0.4 * RATE)]


def over_the_tutor(sound: Sound, desk: Desk, after_s: float = 4.0) -> Desk:
    desk.wait(1.0)
    desk.tutor_says(tutor())
    desk.wait(after_s)
    desk.hear(sound)
    desk.wait(3.0)
    return desk


def assert_goes_on(desk: Desk) -> None:
    assert desk.times(ev.Flush) == []
    assert desk.turns.state is State.TUTOR
    assert desk.playout.playing
    assert len(desk.times(ev.Resume)) == len(desk.times(ev.Pause))


@pytest.mark.speech
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("peak", [LOUD, ORDINARY])
def test_t4_a_cough_or_a_door_does_not_stop_the_tutor(seed: int, peak: float) -> None:
    need.local_voice()
    for sound in (cough(seed), door(seed)):
        assert_goes_on(over_the_tutor(sound * np.float32(peak), Desk(), 2.0 + 0.37 * seed))


@pytest.mark.speech
@pytest.mark.parametrize("voice", ["joe", "en-us", "de", "pl+f3"])
def test_t4_an_mhm_is_forgiven_when_no_words_come_of_it(voice: str) -> None:
    need.local_voice()
    assert_goes_on(over_the_tutor(mhm(voice), Desk()))


@pytest.mark.speech
def test_t4_also_over_an_echo() -> None:
    need.local_voice()
    for sound in (cough() * np.float32(LOUD), mhm("joe")):
        assert_goes_on(over_the_tutor(sound, Desk(WayBack(delay_ms=130, gain_db=-12))))


@pytest.mark.speech
def test_t4_in_own_turns_a_cough_never_begins_an_activity() -> None:
    """The service drops its reply with an activity's start, whatever follows."""
    need.local_voice()
    settings = GateSettings(service_ends_turns=False, hangover_ms=1500)
    desk = over_the_tutor(mhm("joe")[: int(0.2 * RATE)], Desk(settings=settings))
    assert_goes_on(desk)
    assert desk.activity == []


@pytest.mark.speech
def test_in_own_turns_a_word_over_the_tutor_is_one_whole_activity() -> None:
    need.local_voice()
    clip = labelled("stop", "joe", joe_says("Wait a moment."))
    settings = GateSettings(service_ends_turns=False, hangover_ms=800)
    desk = over_the_tutor(clip.sound[clip.onset : clip.end], Desk(settings=settings))
    assert len(desk.times(ev.Pause)) == 1
    assert desk.activity == [True, False]

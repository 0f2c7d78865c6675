"""T18: the tutor's own voice in the learner's microphone interrupts nobody; the learner does."""

from __future__ import annotations

import time

import numpy as np
import pytest

from media import turn_events as ev
from media.echo import CLEAR_BLOCKS, ON_THE_WAY_S, Echo, Hearing
from media.echo_bands import BLOCK_S, DELAYS
from media.gate import Gate, GateSettings
from media.vad import VadReading
from tests.media.hearing import need
from tests.media.hearing.clips import ACTIVE, Clip, Sound, joe, recordings
from tests.media.hearing.desk import Desk, tutor
from tests.media.hearing.way_back import ACTIVE_DB, WayBack

INTERRUPTED_S = 0.4
CAREFUL_S = 0.5


def voice_like(blocks: int, seed: int = 1, samples: int = 480) -> list[bytes]:
    """Syllables of harmonics whose pitch and colour change: PCM16 of 20 ms blocks at 24 kHz."""
    rng = np.random.default_rng(seed)
    out, phase = [], 0.0
    pitch, colour, left = 120.0, rng.uniform(0, 1, 30), 0
    for _ in range(blocks):
        if not left:
            pitch, colour, left = (
                rng.uniform(90, 220),
                rng.uniform(0, 1, 30),
                int(rng.integers(4, 14)),
            )
        left -= 1
        turn = phase + 2 * np.pi * pitch * np.arange(samples) / 24_000
        phase = float(turn[-1]) + 2 * np.pi * pitch / 24_000
        loud = 4000 if left else 200
        wave = sum(colour[n] * np.sin((n + 1) * turn) for n in range(30)) / 4
        out.append((wave * loud).clip(-32768, 32767).astype("<i2").tobytes())
    return out


def way(delay_ms: float = 130, gain_db: float = -12) -> WayBack:
    return WayBack(delay_ms=delay_ms, gain_db=gain_db)


def through(echo: Echo, played: list[bytes], back: WayBack, at: float = 0.0) -> list[Hearing]:
    heard = []
    for n, block in enumerate(played):
        now = at + n * BLOCK_S
        echo.played(block, now)
        heard.append(echo.hear(back.microphone(back.hear(block)), now, voice=True))
    return heard


@pytest.mark.parametrize("delay_ms", [60, 140, 220, 300])
def test_the_delay_is_found_and_the_echo_known_for_one(delay_ms: int) -> None:
    echo = Echo()
    assert echo.delay_ms is None
    heard = through(echo, voice_like(300), way(delay_ms))
    assert echo.delay_ms is not None
    assert abs(echo.delay_ms - delay_ms) <= 40  # the codec's own delay is in it
    assert heard[150:].count(Hearing.ECHO) >= 0.95 * 150


def test_another_voice_is_never_taken_for_the_echo() -> None:
    echo = Echo()
    other = way(60, 0)
    heard = []
    for n, (block, speech) in enumerate(zip(voice_like(300), voice_like(300, 9), strict=True)):
        echo.played(block, n * BLOCK_S)
        heard.append(echo.hear(other.microphone(other.hear(speech)), n * BLOCK_S, voice=True))
    assert heard.count(Hearing.ECHO) <= 0.1 * len(heard)


def test_without_sound_there_is_no_echo_and_no_work() -> None:
    echo = Echo()
    block = bytes(640)
    assert echo.hear(block, 0.0, voice=True) is Hearing.FREE
    echo.played(voice_like(1)[0], 1.0)
    assert echo.hear(block, 1.02, voice=True) is Hearing.UNSURE
    assert echo.hear(block, 1.0 + DELAYS * BLOCK_S + 0.1, voice=True) is Hearing.FREE


def test_a_tutor_who_is_not_heard_back_makes_nobody_doubt() -> None:
    """Headphones, or a browser that cancels: after 0.9 s a voice is a voice. A room that is not
    decoded is heard five times a second only."""
    clear = CLEAR_BLOCKS + round(ON_THE_WAY_S / BLOCK_S)
    for every in (1, 10):
        echo, verdicts = Echo(), []
        for n, block in enumerate(voice_like(clear + 15)):
            echo.played(block, n * BLOCK_S)
            if n % every == 0:
                verdicts.append((n, echo.hear(bytes(640), n * BLOCK_S, voice=False)))
        assert verdicts[-1][1] is Hearing.FREE
        assert all(verdict is Hearing.UNSURE for n, verdict in verdicts if n < clear - 11)


def test_a_tutor_who_does_not_sound_proves_nothing() -> None:
    echo = Echo()
    for n in range(5 * CLEAR_BLOCKS):
        echo.played(bytes(960), n * BLOCK_S)
        last = echo.hear(bytes(640), n * BLOCK_S, voice=False)
    assert last is Hearing.UNSURE


def test_an_echo_that_has_gone_is_forgotten() -> None:
    """iOS: the first seconds leak, then the canceller has learned."""
    echo, played = Echo(), voice_like(700)
    through(echo, played[:250], way())
    assert echo.delay_ms is not None
    for n, block in enumerate(played[250:], 250):
        echo.played(block, n * BLOCK_S)
        last = echo.hear(bytes(640), n * BLOCK_S, voice=False)
    assert echo.delay_ms is None
    assert last is Hearing.FREE


def test_another_delay_is_found_again() -> None:
    """A headset is put on or off."""
    echo, played = Echo(), voice_like(900)
    through(echo, played[:300], way(80))
    assert echo.delay_ms is not None
    assert echo.delay_ms <= 120
    through(echo, played[300:], way(260), at=300 * BLOCK_S)
    assert echo.delay_ms is not None
    assert abs(echo.delay_ms - 260) <= 40


def test_arrivals_may_be_unsteady_and_clocks_may_drift() -> None:
    echo, back, rng = Echo(), way(130), np.random.default_rng(2)
    verdicts = []
    for n, block in enumerate(voice_like(1500)):
        echo.played(block, n * BLOCK_S)
        # 200 ppm too slow, and up to 30 ms late.
        at = n * BLOCK_S * 1.0002 + rng.uniform(0, 0.03)
        verdicts.append(echo.hear(back.microphone(back.hear(block)), at, voice=True))
    assert verdicts[200:].count(Hearing.ECHO) >= 0.95 * 1300


@pytest.mark.parametrize("size", [0, 958, 1920])
def test_only_whole_blocks_are_played(size: int) -> None:
    with pytest.raises(ValueError, match="960"):
        Echo().played(bytes(size), 0.0)


def test_it_is_cheap() -> None:
    """Design 10. A budget of 0.15 % of a core; here with room for a slow and busy machine."""
    played, back = voice_like(500), way()
    microphone = [back.microphone(back.hear(block)) for block in played]

    def share(*, voice: bool) -> float:
        echo, began = Echo(), time.process_time()
        for n, (out, came) in enumerate(zip(played, microphone, strict=True)):
            echo.played(out, n * BLOCK_S)
            echo.hear(came, n * BLOCK_S, voice=voice)
        return (time.process_time() - began) / (len(played) * BLOCK_S)

    assert min(share(voice=True) for _ in range(3)) <= 0.006
    assert min(share(voice=False) for _ in range(3)) <= 0.0006


# --- at the gate ---------------------------------------------------------------------------------


class Voiced:
    """Whatever is louder than -50 dBFS is speech."""

    def feed(self, pcm20: bytes) -> VadReading:
        loud = np.abs(np.frombuffer(pcm20, "<i2").astype(int)).max() > 100
        return VadReading(0.9, 0.9) if loud else VadReading(0.0, 0.0)

    def reset(self) -> None:
        """Nothing is remembered."""


def test_a_known_echo_opens_nothing_and_leaves_an_open_gate_as_silence() -> None:
    """Also after the learner, while the gate is still open for the service's own silence."""
    gate, back = Gate(Voiced(), GateSettings(trailing_ms=5_000)), way()
    played, steps = voice_like(900), []

    def tutor_speaks(blocks: list[bytes], first: int) -> None:
        for n, block in enumerate(blocks, first):
            gate.played(block, n * BLOCK_S)
            steps.append(gate.feed(back.microphone(back.hear(block)), n * BLOCK_S))
        for _ in range(50):
            back.hear(None)  # dies away

    tutor_speaks(played[:100], 0)  # finds it out
    for n in range(110, 500):
        gate.feed(bytes(640), n * BLOCK_S)
    assert gate.echo_delay_ms is not None
    assert not gate.open
    steps.clear()
    tutor_speaks(played[100:300], 500)
    assert not any(step.forward for step in steps)
    for n, block in enumerate(voice_like(80, 5, 320), 740):  # the learner, when all is quiet
        gate.feed(block, n * BLOCK_S)
    assert gate.speaking
    steps.clear()
    tutor_speaks(played[300:450], 840)
    assert not gate.speaking
    assert gate.open
    assert not any(b"".join(step.forward for step in steps[50:]))


# --- T18, from the playout to the microphone and back --------------------------------------------


def near_voices() -> tuple[Clip, ...]:
    return recordings() or joe()


def interrupting(
    clip: Clip, desk: Desk, after_s: float, above_echo_db: float, echo_db: float
) -> float | None:
    """Seconds from the onset to silence; None when the tutor talked on."""
    desk.wait(1.0)
    desk.tutor_says(tutor())
    desk.wait(after_s)
    onset = desk.at
    gain = 10 ** ((ACTIVE_DB + echo_db + above_echo_db) / 20) / ACTIVE
    voice: Sound = clip.sound[clip.onset : clip.end] * np.float32(gain)
    desk.hear(voice)
    desk.wait(0.6)
    return next((at - onset for at in desk.times(ev.Pause) if at > onset), None)


def median(took: list[float | None]) -> float:
    """Everybody got through."""
    found = [seconds for seconds in took if seconds is not None]
    assert len(found) == len(took)
    return float(np.median(found))


@pytest.mark.speech
@pytest.mark.req("RTC-11")
@pytest.mark.parametrize(("gain_db", "delay_ms"), [(-12, 60), (-12, 300), (-6, 130)])
def test_t18_the_tutor_does_not_interrupt_itself(gain_db: int, delay_ms: int) -> None:
    """From the first second of the first reply on, when nothing is known of the way back."""
    need.local_voice()
    desk = Desk(way(delay_ms, gain_db))
    desk.wait(1.0)
    for _ in range(2):
        desk.tutor_says(tutor())
        desk.wait(len(tutor()) / 24_000 + 1.0)
    assert desk.times(ev.Flush) == []
    assert len(desk.times(ev.Pause)) <= 1
    assert len(desk.times(ev.Duck)) <= 3
    assert len(desk.times(ev.FinishTurn)) + len(desk.times(ev.DropReply)) >= 1
    assert desk.gate.echo_delay_ms is not None


@pytest.mark.speech
@pytest.mark.req("RTC-11")
def test_t18_the_learner_interrupts_over_the_echo_a_louder_one_sooner() -> None:
    need.local_voice()
    medians = []
    for louder in (0, 6, 12):
        took = [
            interrupting(clip, Desk(way(130, -12)), 3.0 + 0.13 * n, louder, -12)
            for n, clip in enumerate(near_voices()[:7])
        ]
        medians.append(median(took))
    assert medians[0] < INTERRUPTED_S
    assert medians[2] < medians[0]
    assert medians[2] <= 0.15


@pytest.mark.speech
def test_without_an_echo_the_learner_is_as_quick_as_ever() -> None:
    """Headphones: careful while it could still be an echo (0.9 s of the tutor), then as in design
    10, also in the first reply."""
    need.local_voice()
    early, soon, later = (
        [interrupting(clip, Desk(), after, 12, -12) for clip in near_voices()[:7]]
        for after in (0.4, 1.0, 4.0)
    )
    assert median(early) <= CAREFUL_S
    assert median(soon) <= 0.2
    assert median(later) <= 0.15

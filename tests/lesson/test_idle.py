"""A lesson that nobody uses ends by itself, whatever its microphone hears."""

import asyncio
from pathlib import Path

import numpy as np
import pytest

from media.gate import Gate
from media.turn_events import SpeechStarted
from media.vad import Vad
from server import lesson
from tests.media.hearing import noises
from tests.media.peers import packets, until
from tests.rig import house

BLOCK = 320
MINUTES = 5
# -40 dBFS: a loud fan, a keyboard on the same table.
LEVEL = 330.0


@pytest.mark.req("VOICE-33", "VOICE-56", "RTC-8")
@pytest.mark.parametrize("name", ["white", "keyboard"])
def test_five_minutes_of_noise_are_no_voice(name: str) -> None:
    """T22: on a clock of its own; only a voice resets the idle clock of a lesson, never sound."""
    minute = (noises.noise(name, 60.0, ()) * LEVEL).clip(-32768, 32767).astype("<i2")
    gate, at, spoke, sent = Gate(Vad()), 0.0, 0, 0
    for _ in range(MINUTES):
        for start in range(0, len(minute), BLOCK):
            at += 0.02
            step = gate.feed(minute[start : start + BLOCK].tobytes(), at)
            spoke += sum(isinstance(event, SpeechStarted) for event in step.events)
            sent += bool(step.forward)
    assert at == pytest.approx(MINUTES * 60)
    assert (spoke, sent) == (0, 0)


@pytest.mark.req("VOICE-33", "RTC-16")
async def test_a_noisy_microphone_does_not_keep_a_lesson_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T22: sound comes all the time, nobody speaks; closed as idle, and nothing is billed."""
    monkeypatch.setattr(lesson, "IDLE_AFTER_S", 3.0)
    monkeypatch.setattr(lesson, "IDLE_CHECK_S", 0.1)
    rng = np.random.default_rng(7)
    noise = (rng.standard_normal(48_000 * 8) * LEVEL).astype("<i2").tobytes()
    async with house(tmp_path) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            rustle, before = list(packets(noise)), call.client.sequence
            rustling = asyncio.create_task(call.client.speak([*rustle]))
            await until(lambda: call.farewell, "closed", 15)
            rustling.cancel()
            assert call.client.sequence - before < len(rustle)  # it had not fallen silent
            await asyncio.wait([rustling])
            assert (call.farewell, call.states[-2:]) == ("idle", ["idle", "closed"])
            (live,) = home.gemini.sessions
            assert (live.audio_bytes, live.usage) == (0, [])
        await home.empty()

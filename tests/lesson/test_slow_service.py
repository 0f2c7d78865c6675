"""A service that notices the end of speech late still gets to hear it."""

from pathlib import Path

import pytest

from local_gemini.scripted import EnergyEndPointer, ScriptedEngine
from tests.media.peers import until
from tests.rig import house
from tests.voices import said

# Longer than the margin that the gate itself leaves after speech.
LATE_MS = 1500


@pytest.mark.speech
@pytest.mark.req("RTC-8", "VOICE-32")
async def test_a_slow_detector_is_not_starved_of_silence(tmp_path: Path) -> None:
    engine = ScriptedEngine(["Memory cells keep the pattern."])
    engine.end_pointer = lambda silence, prefix: EnergyEndPointer(silence + LATE_MS, prefix)
    async with house(tmp_path, engine, config={"liveVadSilenceDurationMs": 500}) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await call.say(said("Memory cells keep the pattern."))
            await until(lambda: call.messages("turn"), "the answer", 20)
            assert call.messages("notice") == []

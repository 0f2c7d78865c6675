"""Gate, rate conversion and the Live session are the server's work: a browser sends plain Opus."""

from pathlib import Path

import pytest

from local_gemini.scripted import ScriptedEngine
from tests.media.peers import until
from tests.rig import house, said

pytestmark = pytest.mark.speech

LINE = "Memory cells keep the pattern."
BYTES_PER_S = 16_000 * 2


@pytest.mark.req("CARD-5")
async def test_an_open_microphone_is_gated_and_resampled_by_the_server(tmp_path: Path) -> None:
    """The peer sends 48 kHz all the time; the service hears speech only, at 16 kHz."""
    voice = said(LINE)
    config = {"liveVadSilenceDurationMs": 400}
    async with house(tmp_path, ScriptedEngine([LINE], replies=[["Yes."]]), config=config) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            (live,) = home.gemini.sessions
            sent = call.client.sequence
            await until(lambda: call.client.sequence > sent + 50, "a second of a silent room", 10)
            assert live.audio_bytes == 0
            await call.say(voice)
            await until(lambda: call.messages("turn"), "the turn", 20)
            assert live.transcripts == [LINE]
            spoken_s = len(voice) / (48_000 * 2)
            assert 0.3 * spoken_s < live.audio_bytes / BYTES_PER_S < spoken_s + 4

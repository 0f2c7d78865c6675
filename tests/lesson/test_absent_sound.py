"""A page from which no sound comes is an ordinary page: nothing is warned of, nothing waits."""

import asyncio
import logging
import os
from pathlib import Path

import pytest

from local_gemini.scripted import ScriptedEngine
from tests.media.peers import until
from tests.rig import Call, house, said

LINE = "What do memory cells do?"
SOUNDLESS_S = 3.0


class Mute(Call):
    """Its microphone was never switched on: not one packet is sent."""

    async def _send_quiet(self) -> None:
        return


@pytest.mark.req("RTC-10", "VOICE-32")
async def test_a_microphone_that_was_never_on_is_nothing_to_warn_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """T5: off from the start; no warning a second, and typing works."""
    caplog.set_level(logging.WARNING)
    async with house(tmp_path, ScriptedEngine(replies=[["Yes."]])) as home:
        ada = await home.person()
        call = Mute(ada, await ada.ground(), "never-on-the-air")
        try:
            await call.join()
            call.act("mic", on=False)
            caplog.clear()
            await asyncio.sleep(SOUNDLESS_S)
            assert [record.getMessage() for record in caplog.records] == []
            assert call.state == "listening"
            (live,) = home.gemini.sessions
            assert (live.audio_bytes, live.activities) == (0, [])
            assert (await call.ask("Can you hear me?"))["saved"] is True
            assert call.notices == []
        finally:
            await call.leave()
        await home.empty()


@pytest.mark.speech
@pytest.mark.req("RTC-10", "VOICE-32")
async def test_the_service_is_told_soon_that_a_voice_which_broke_off_has_ended(
    tmp_path: Path,
) -> None:
    """T5: frames stop in mid-utterance; the end of activity is sent within 1.2 s."""
    config = {"liveVadEnabled": False, "liveVadSilenceDurationMs": 700}
    voice = said(LINE, before=0.0, after=0.0)
    loop = asyncio.get_running_loop()
    async with house(tmp_path, ScriptedEngine([LINE]), config=config) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            (live,) = home.gemini.sessions
            await call.still()
            await call.say(voice[: len(voice) // 2])
            stopped = loop.time()
            await until(lambda: live.activities, "begun")
            await until(lambda: live.activities[-1] == "ACTIVITY_END", "ended")
            assert loop.time() - stopped <= 1.2 + 0.2 * max(0.0, os.getloadavg()[0] - 1.0)
            assert live.activities == ["ACTIVITY_START", "ACTIVITY_END"]
            await until(lambda: call.messages("turn"), "answered", 20)

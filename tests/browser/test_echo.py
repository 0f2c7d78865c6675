"""An open loudspeaker: the tutor's voice comes back into the learner's microphone, and the tutor
does not interrupt itself; the learner still can."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.browser.conftest import Launcher, until
from tests.browser.sound import SILENT_RMS, SoundCard
from tests.browser.visit import Visitor, Visits

pytestmark = [
    pytest.mark.browser,
    pytest.mark.speech,
    pytest.mark.asyncio(loop_scope="session"),
]
LISTENING = "Listening — speak now…"
SPEAKING = "Tutor is speaking — you may interrupt."
INTERRUPTED = "(You interrupted the tutor.)"
# A browser that cancels no echo: then the server is alone with it.
NO_CANCELLING = """
const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
navigator.mediaDevices.getUserMedia = (wanted) => open({...wanted,
  audio: {...wanted.audio, echoCancellation: false, noiseSuppression: false,
          autoGainControl: false}});
"""


async def _lecture(visitor: Visitor) -> None:
    """A lesson whose replies are long enough to come back."""
    await visitor.open()
    await visitor.page.get_by_text("Lecture", exact=True).click()
    await visitor.start()
    await visitor.button("Voice mode (keeps listening)").click()
    await visitor.says(LISTENING)


@pytest.mark.req("VOICE-39", "UI-37")
@pytest.mark.parametrize("cancels", [True], ids=["browser-cancels"])
async def test_the_tutor_does_not_interrupt_itself(
    visit: Visits,
    launch: Launcher,
    other_card: SoundCard,
    line: Callable[[str], Path],
    cancels: bool,
) -> None:
    stop = line("Wait, wait, please stop for a moment.")
    browser = await launch("chromium", other_card)
    with other_card.echo():
        async with visit(browser=browser, size="desktop", open_page=False) as visitor:
            if not cancels:
                await visitor.page.add_init_script(NO_CANCELLING)
            await _lecture(visitor)
            for turn in (1, 2):
                began = time.monotonic()
                await visitor.type("I do not know. Please go on.")
                await visitor.says(SPEAKING)
                # Nobody says a word, so it is heard to its end.
                await visitor.says(LISTENING)
                await expect(visitor.tutor).to_have_count(1 + turn)
                await expect(visitor.learner).to_have_count(turn)
                await expect(visitor.page.get_by_text(INTERRUPTED)).to_have_count(0)
                await expect(visitor.page.locator(".unheard")).to_have_count(0)
                loud = [at for at, rms in other_card.levels(began) if rms > SILENT_RMS]
                assert len(loud) > 40, "two seconds of a reply were not heard"

            # The learner's own voice is told from the echo.
            began = time.monotonic()
            await visitor.type("I do not know. Please go on.")
            await visitor.says(SPEAKING)

            async def heard_some() -> bool:
                return sum(rms > SILENT_RMS for _, rms in other_card.levels(began)) > 10

            await until(heard_some, "half a second of the reply")
            process = other_card.say(stop)
            await visitor.announced(re.compile(re.escape(INTERRUPTED)))
            await asyncio.to_thread(process.wait)

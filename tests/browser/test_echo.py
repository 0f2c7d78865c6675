"""An open loudspeaker: the tutor's voice comes back into the learner's microphone, and the tutor
does not interrupt itself; the learner still can."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.conftest import Device, Launcher, Server, device, until
from tests.browser.sound import SILENT_RMS, SoundCard
from tests.browser.test_talk import BROWSERS, LEARNER, TUTOR, mic_on, sign_up, status
from tests.rig import DOCUMENT

pytestmark = [
    pytest.mark.browser,
    pytest.mark.speech,
    pytest.mark.asyncio(loop_scope="session"),
]
LISTENING = "Listening — speak now…"
SPEAKING = "Tutor is speaking — you may interrupt."
INTERRUPTED = "(You interrupted the tutor.)"
TURNS = 2
# A browser that cancels no echo: then the server is alone with it.
NO_CANCELLING = """(() => {
  const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = (wanted) => open({...wanted,
    audio: {...wanted.audio, echoCancellation: false, noiseSuppression: false,
            autoGainControl: false}});
})()"""


async def _says(page: Device, wanted: str, within: float = 20) -> None:
    async def shown() -> bool:
        return await status(page) == wanted

    await until(shown, wanted, within)


async def _ask(page: Device, card: SoundCard) -> float:
    """A question that is typed, and half a second of the reply to it; when it was sent."""
    sent = time.monotonic()
    await page.fill(".composer textarea", "I do not know. Please go on.")
    await page.tap(".composer .send")
    await _says(page, SPEAKING)

    async def loud() -> bool:
        return sum(rms > SILENT_RMS for _, rms in card.levels(sent)) > 10

    await until(loud, "half a second of the reply")
    return sent


async def _lecture(page: Device, server: Server, kind: str, *, cancels: bool) -> None:
    """A lesson whose replies are long enough to come back."""
    await sign_up(page, server, f"Eve {kind}")
    if not cancels:
        await page.evaluate(NO_CANCELLING)
    await page.tap(".kinds .chip:last-child")
    await page.fill("textarea.paste", DOCUMENT)
    await page.tap(".styles .segment:last-of-type")
    await page.tap(".cta .button")
    await until(lambda: page.text(TUTOR), "the tutor's opening turn")
    await mic_on(page)


@pytest.mark.req("VOICE-39", "UI-37")
@pytest.mark.parametrize(
    ("kind", "cancels"),
    [(kind, True) for kind in BROWSERS if kind != "webkit"],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_the_tutor_does_not_interrupt_itself(
    kind: str,
    cancels: bool,
    launch: Launcher,
    card: SoundCard,
    server: Server,
    line: Callable[[str], Path],
) -> None:
    stop = line("Wait, wait, please stop for a moment.")
    async with device(kind, launch) as page:
        with card.echo():
            await _lecture(page, server, kind, cancels=cancels)
            for turn in range(TURNS):
                began = await _ask(page, card)
                # Nobody says a word, so it is heard to its end.
                await _says(page, LISTENING, 40)
                assert len(await page.texts(TUTOR)) == 2 + turn
                assert len(await page.texts(LEARNER)) == 1 + turn
                assert await page.texts(".system") == []
                assert await page.texts(".unheard") == []
                loud = [at for at, rms in card.levels(began) if rms > SILENT_RMS]
                assert len(loud) > 40, "two seconds of a reply were not heard"

            # The learner's own voice is told from the echo.
            await _ask(page, card)
            process = card.say(stop)
            await until(lambda: page.texts(".system"), "the interruption is shown")
            assert INTERRUPTED in await page.texts(".system")
            await asyncio.to_thread(process.wait)

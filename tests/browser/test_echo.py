"""An open loudspeaker: the tutor's voice comes back into the learner's microphone, and the tutor
does not interrupt itself; the learner still can."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.devices import Device, Launcher, device
from tests.browser.server_process import Server
from tests.browser.sound import SILENT_RMS, SoundCard
from tests.browser.test_talk import BROWSERS, LEARNER, TUTOR, mic_on, sign_up, status
from tests.browser.waiting import until
from tests.rig import DOCUMENT

pytestmark = [
    pytest.mark.browser,
    pytest.mark.speech,
    pytest.mark.asyncio(loop_scope="session"),
]
LISTENING = "Listening — speak now…"
SPEAKING = "Tutor is speaking — you may interrupt."
INTERRUPTED = "(You interrupted the tutor.)"
TURNS, TURNS_MAX = 2, 5
# A sound system that stood still for longer (s) has broken the echo into pieces that no room makes.
STALL_S = 0.12
# Who cancels the echo: the browser, or nobody before the server.
ROOMS = (("chromium", True),)
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


async def _cut(page: Device, before: int) -> bool:
    """One interruption more is shown than before."""
    return [*await page.texts(".system")][before:].count(INTERRUPTED) > 0


async def _lecture(page: Device, server: Server, kind: str, *, cancels: bool) -> None:
    """A lesson whose replies are long enough to come back."""
    await sign_up(page, server, f"Eve {kind}")
    if not cancels:
        await page.evaluate(NO_CANCELLING)
    await page.tap(".kinds .chip:last-child")
    await page.fill("textarea.paste", DOCUMENT)
    await page.evaluate("document.querySelector('.styles .segment:last-of-type input').click()")
    await page.tap(".cta .button")
    await until(lambda: page.text(TUTOR), "the tutor's opening turn")
    await mic_on(page)


@pytest.mark.req("VOICE-39", "UI-37")
@pytest.mark.parametrize(
    ("kind", "cancels"),
    [(kind, cancels) for kind, cancels in ROOMS if kind in BROWSERS],
    ids=[
        "-".join((kind, "cancels" if cancels else "alone"))
        for kind, cancels in ROOMS
        if kind in BROWSERS
    ],
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
            judged = 0
            for _ in range(TURNS_MAX):
                seen = [len(await page.texts(css)) for css in (TUTOR, LEARNER, ".system")]
                began = await _ask(page, card)
                # Nobody says a word, so it is heard to its end.
                await _says(page, LISTENING, 40)
                if card.stalled(began) > STALL_S:
                    continue
                now = [len(await page.texts(css)) for css in (TUTOR, LEARNER, ".system")]
                assert now == [seen[0] + 1, seen[1] + 1, seen[2]], await page.texts(TUTOR)
                loud = [at for at, rms in card.levels(began) if rms > SILENT_RMS]
                assert len(loud) > 40, "two seconds of a reply were not heard"
                judged += 1
                if judged == TURNS:
                    break
            else:
                pytest.skip("this machine is too busy to play sound without gaps")

            # The learner's own voice is told from the echo.
            before = len(await page.texts(".system"))
            await _ask(page, card)
            process = card.say(stop)
            await until(lambda: _cut(page, before), "the interruption is shown")
            await asyncio.to_thread(process.wait)

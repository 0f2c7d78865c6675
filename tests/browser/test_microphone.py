"""The microphone in the hands of a real browser and a real sound system: refused, absent, back."""

from __future__ import annotations

import subprocess

import pytest
from playwright.async_api import expect

from tests.browser.devices import Launcher
from tests.browser.sound import SoundCard
from tests.browser.visit import Visits, words

pytestmark = [
    pytest.mark.browser,
    pytest.mark.speech,
    pytest.mark.asyncio(loop_scope="session"),
]
START, STOP = "Voice mode (keeps listening)", "Stop voice mode"
LISTENING = "Listening — speak now…"
IDLE = "Tap the mic to talk, or type below."


def _pactl(card: SoundCard, *words: str) -> str:
    answer = subprocess.run(
        ["pactl", *words], check=True, env=card.environment, capture_output=True, text=True
    )
    return answer.stdout


def _unplug(card: SoundCard) -> None:
    """The room has a loudspeaker and nothing else."""
    for line in _pactl(card, "list", "short", "modules").splitlines():
        number, name = line.split("\t")[:2]
        if name == "module-remap-source":
            _pactl(card, "unload-module", number)


def _plug(card: SoundCard) -> None:
    _pactl(card, "load-module", "module-remap-source", "master=mouth.monitor", "source_name=mic")
    _pactl(card, "set-default-source", "mic")


@pytest.mark.req("UI-60", "VOICE-62")
@pytest.mark.parametrize("size", ["phone", "desktop"])
async def test_refused_then_allowed_then_unplugged(
    visit: Visits, launch: Launcher, other_card: SoundCard, size: str
) -> None:
    browser = await launch("chromium-asking", other_card)
    async with visit(browser=browser, size=size, permissions=[]) as visitor:
        await visitor.start()
        await visitor.button(START).click()
        # The sentence names where this browser keeps the block, and typing goes on.
        await visitor.announced(words()["micDeniedChromium"])
        await expect(visitor.button(START)).to_be_visible()
        await visitor.typed("I type instead.")

        await visitor.page.context.grant_permissions(["microphone"])
        await visitor.button(START).click()
        await visitor.says(LISTENING)
        await visitor.button(STOP).click()
        await visitor.says(IDLE)

        _unplug(other_card)
        await visitor.button(START).click()
        await visitor.announced(words()["micMissing"])
        await visitor.typed("I still type.")
        _plug(other_card)
        await visitor.button(START).click()
        await visitor.says(LISTENING)

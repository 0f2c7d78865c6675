"""Where no call is possible, or before one: dictation by the browser, replies read aloud, and the
sound check."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.browser.sound import SoundCard
from tests.browser.visit import Visitor, Visits, words
from tests.browser.waiting import until

pytestmark = [
    pytest.mark.browser,
    pytest.mark.speech,
    pytest.mark.asyncio(loop_scope="session"),
]
START, STOP = "Voice mode (keeps listening)", "Stop voice mode"
LISTENING = "Listening — speak now…"
IDLE = "Tap the mic to talk, or type below."
# Chromium's recogniser is a service of its maker: here it hears what the test says.
RECOGNISER = """
delete window.RTCPeerConnection;
window.recognisers = [];
window.SpeechRecognition = window.webkitSpeechRecognition = class {
  start() { window.recognisers.push(this); this.on = true; }
  abort() { this.on = false; }
  hears(transcript, isFinal) {
    this.onresult({ resultIndex: 0, results: [{ isFinal, 0: { transcript } }] });
  }
  fails(error) { this.onerror({ error }); }
};
"""
HEARS = "([words, final]) => window.recognisers.at(-1).hears(words, final)"
LISTENS = "() => window.recognisers.at(-1)?.on === true"


async def _fallback(visitor: Visitor) -> None:
    """A browser that cannot call offers to dictate instead."""
    await visitor.page.add_init_script(RECOGNISER)
    await visitor.open()
    await visitor.start()
    await expect(visitor.button(words()["dictate"])).to_have_count(0)
    await visitor.button(START).click()
    await visitor.announced(words()["voiceUnsupported"])
    await visitor.button(words()["dictate"]).click()


@pytest.mark.req("UI-22", "UI-26", "UI-29", "UI-60", "VOICE-62")
async def test_dictation_in_place_of_a_call(visit: Visits) -> None:
    async with visit(open_page=False) as visitor:
        await _fallback(visitor)
        await visitor.says(LISTENING)
        # Who hears the words is said before the first of them.
        await visitor.toast(words()["dictationNote"])
        await visitor.page.wait_for_function(LISTENS)
        await visitor.evaluate(HEARS, ["memory cells keep", False])
        await expect(visitor.cluster.locator(".interim")).to_have_text("“memory cells keep”")
        await visitor.evaluate(HEARS, ["Memory cells keep the pattern.", True])
        # A pause ends the sentence, which is a typed turn; its answer is read aloud.
        await expect(visitor.learner).to_have_text(["Memory cells keep the pattern."])
        await expect(visitor.tutor).to_have_count(2)
        # While the tutor speaks nobody listens: without a call nothing cancels its echo.
        await visitor.says("Tutor is speaking — listening resumes when the reply ends.")
        assert await visitor.evaluate(LISTENS) is False
        await visitor.says(LISTENING)
        await visitor.page.wait_for_function(LISTENS)
        await visitor.button(STOP).click()
        await visitor.says(IDLE)
        assert await visitor.evaluate(LISTENS) is False


@pytest.mark.req("UI-60", "VOICE-62")
async def test_dictation_that_fails_says_so(visit: Visits) -> None:
    async with visit(open_page=False) as visitor:
        await _fallback(visitor)
        for error, told in (
            ("network", "dictationFailed"),
            ("audio-capture", "micMissing"),
            ("not-allowed", "micDeniedChromium"),
        ):
            await visitor.page.wait_for_function(LISTENS)
            await visitor.evaluate("(error) => window.recognisers.at(-1).fails(error)", error)
            await visitor.announced(words()[told])
            # Typing is always there, and so is another try.
            await visitor.typed("I type instead.")
            await visitor.button(START).click()
            await visitor.button(words()["dictate"]).click()
            await visitor.says(LISTENING)


@pytest.mark.req("UI-23", "VOICE-66")
async def test_a_typed_reply_is_read_aloud_until_switched_off(
    visit: Visits, card: SoundCard
) -> None:
    async with visit(size="desktop") as visitor:
        began = time.monotonic()
        await visitor.start()

        async def heard() -> float | None:
            return card.audible(began)

        await until(heard, "the opening turn is heard")
        await visitor.button("Reply speech: on").click()
        off = time.monotonic()

        async def hushed() -> float | None:
            return card.silent(off, run=20)  # longer than any pause between sentences

        quiet_since = await until(hushed, "switched off, it stops")
        assert quiet_since - off < 1.5, "it finished the sentence first"
        await visitor.typed("Memory cells keep the pattern.")
        assert card.audible(quiet_since) is None


@pytest.mark.req("UI-57", "VOICE-62")
@pytest.mark.parametrize("size", ["phone", "desktop"])
async def test_the_sound_check(
    visit: Visits, card: SoundCard, line: Callable[[str], Path], size: str
) -> None:
    wav = line("Is anybody hearing me at all?")
    async with visit(size=size) as visitor:
        await visitor.start()
        await visitor.menu("Sound check…")
        check = visitor.page.get_by_role("dialog", name=words()["soundCheckTitle"])
        await expect(check).to_contain_text(words()["checkNotConnected"])
        # Nothing is opened before it is asked for.
        await expect(check).to_contain_text(words()["checkMicBlocked"])
        await check.get_by_role("button", name=words()["checkStart"]).click()
        await visitor.announced(words()["checkSpeak"])
        process = card.say(wav)
        await visitor.announced(words()["checkHeard"])
        await asyncio.to_thread(process.wait)
        await expect(check).to_contain_text(words()["checkEchoOn"])
        await check.get_by_role("button", name="Close", exact=True).click()
        await expect(check).to_have_count(0)

        # Inside a lesson it measures the line.
        await visitor.button(START).click()
        await visitor.says(LISTENING)
        await visitor.menu("Sound check…")
        await expect(check).to_contain_text(words()["checkDirect"])
        await expect(check).to_contain_text(re.compile(r"Delay \d+ ms"))
        await check.get_by_role("button", name="Close", exact=True).click()
        await visitor.says(LISTENING)

"""What a learner can do inside a voice lesson: hear again, hold to talk, cut in and go on, see the
cost. The loudspeaker is listened to."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.browser.sound import SILENT_RMS, SoundCard
from tests.browser.visit import Visitor, Visits, words
from tests.browser.waiting import until
from tests.rig import DOCUMENT

pytestmark = [
    pytest.mark.browser,
    pytest.mark.speech,
    pytest.mark.asyncio(loop_scope="session"),
]
START, STOP = "Voice mode (keeps listening)", "Stop voice mode"
LISTENING = "Listening — speak now…"
SPEAKING = "Tutor is speaking — you may interrupt."
HOLDING = re.compile("while you speak — release it")
BLOCK_S = 0.05
SHORT = "# Bees\n\n1. Bees dance.\n2. Bees hum."


async def _in_voice(visitor: Visitor, text: str = DOCUMENT) -> None:
    await visitor.start(text)
    await visitor.button(START).click()
    await visitor.says(LISTENING)


async def _sounded(visitor: Visitor, card: SoundCard, since: float) -> float:
    """Seconds of sound of what the tutor says next, from the first to the last of it."""
    await visitor.says(SPEAKING)
    await visitor.says(LISTENING)

    async def over() -> bool:
        return all(rms <= SILENT_RMS for at, rms in card.levels(time.monotonic() - 0.4))

    await until(over, "the loudspeaker falls silent")
    loud = [at for at, rms in card.levels(since) if rms > SILENT_RMS]
    assert loud, "nothing was heard"
    return loud[-1] - loud[0] + BLOCK_S


@pytest.mark.req("UI-23", "UI-27", "VOICE-66")
async def test_a_reply_is_heard_again_and_slower(visit: Visits, card: SoundCard) -> None:
    async with visit() as visitor:
        await _in_voice(visitor, SHORT)
        # The opening turn was no reply of this call, so there is nothing to play again yet.
        await expect(visitor.button(words()["replay"])).to_have_count(0)
        began = time.monotonic()
        await visitor.type("Bees dance.")
        first = await _sounded(visitor, card, began)
        await expect(visitor.tutor).to_have_count(2)

        began = time.monotonic()
        await visitor.button(words()["replay"]).click()
        again = await _sounded(visitor, card, began)
        began = time.monotonic()
        await visitor.button(words()["replaySlow"]).click()
        slower = await _sounded(visitor, card, began)
        assert again == pytest.approx(first, rel=0.15), (first, again)
        assert slower > 1.1 * again, (again, slower)
        # Heard again, not said again.
        await expect(visitor.tutor).to_have_count(2)
        await expect(visitor.learner).to_have_count(1)
        await visitor.button(STOP).click()
        await expect(visitor.button(words()["replay"])).to_have_count(0)


@pytest.mark.req("UI-37", "VOICE-39", "VOICE-51")
async def test_a_reply_cut_off_shows_what_was_missed_and_goes_on(
    visit: Visits, card: SoundCard, line: Callable[[str], Path]
) -> None:
    stop = line("Wait, wait, please stop for a moment.")
    async with visit() as visitor:
        # A lecturer talks long enough to be cut off.
        await visitor.page.get_by_text("Lecture", exact=True).click()
        await _in_voice(visitor)
        await visitor.type("I do not know. Please tell me more about antibodies.")
        await visitor.says(SPEAKING)
        began = time.monotonic()

        async def heard_some() -> bool:
            return sum(rms > SILENT_RMS for _, rms in card.levels(began)) > 10

        await until(heard_some, "half a second of the reply")
        process = card.say(stop)
        await visitor.announced("(You interrupted the tutor.)")
        missed = visitor.page.locator(".unheard").last
        await expect(missed).to_be_visible()
        await expect(missed).to_contain_text(words()["unheard"])  # for those who see no grey
        heard, rest = await visitor.evaluate(
            """() => [...document.querySelectorAll('.unheard')].slice(-1).flatMap((e) => [
                 getComputedStyle(e.parentElement.querySelector('.words')).color,
                 getComputedStyle(e).color])"""
        )
        assert heard != rest, "what was missed looks like what was heard"
        # The word that is only read aloud makes no room below the page.
        await visitor.page.set_viewport_size({"width": 390, "height": 440})
        assert await visitor.evaluate("() => document.documentElement.scrollHeight") == 440
        await asyncio.to_thread(process.wait)
        await visitor.says(LISTENING)
        cut = await visitor.tutor.nth(1).inner_text()
        before = await visitor.tutor.count()
        await visitor.button(words()["goOnFromHere"]).first.click()
        await expect(visitor.learner.last).to_contain_text(" ".join(cut.split()[-3:]))
        await expect(visitor.tutor).to_have_count(before + 1)


@pytest.mark.req("OWN-27", "OWN-28", "OWN-30", "OWN-33")
async def test_space_is_held_to_talk(
    visit: Visits, card: SoundCard, line: Callable[[str], Path]
) -> None:
    pattern = line("Memory cells keep the pattern for years.")
    surface = line("Antibodies fit the surface of that germ.")
    async with visit(size="desktop") as visitor:
        keyboard = visitor.page.keyboard
        await _in_voice(visitor)
        await visitor.page.get_by_role("log").focus()
        # A tap is the page's own Space, and half a second is the border.
        await keyboard.press("Space", delay=200)
        await visitor.says(LISTENING)

        await keyboard.down("Space")
        await visitor.says(HOLDING)
        process = card.say(pattern)
        await asyncio.to_thread(process.wait)
        await expect(visitor.status).to_have_text(HOLDING)
        await keyboard.up("Space")
        await expect(visitor.learner).to_have_count(1)
        await expect(visitor.learner.last).to_contain_text(re.compile("pattern|memory", re.I))
        await visitor.says(SPEAKING)

        # Held while the tutor speaks: hushed at once; nothing said, nothing sent.
        muted = "document.querySelector('#tutor-voice').muted"
        await keyboard.down("Space")
        await visitor.says(HOLDING)
        assert await visitor.evaluate(muted) is True
        await keyboard.up("Space")
        assert await visitor.evaluate(muted) is False
        await visitor.says(LISTENING)
        await expect(visitor.learner).to_have_count(1)

        # In the composer a Space is a space.
        await visitor.composer.focus()
        await keyboard.press("Space", delay=700)
        await expect(visitor.composer).to_have_value(" ")
        await expect(visitor.status).to_have_text(LISTENING)
        # Open-mic is what it was.
        await asyncio.to_thread(card.say(surface).wait)
        await expect(visitor.learner).to_have_count(2)


@pytest.mark.req("AUTH-20", "VOICE-62")
async def test_what_this_voice_session_cost(visit: Visits) -> None:
    async with visit(size="desktop") as visitor:
        await visitor.start(SHORT)
        context = visitor.page.locator("details.context")
        if not await context.evaluate("(e) => e.open"):
            await context.locator("summary").click()
        await expect(context).not_to_contain_text("This voice session")
        await visitor.button(START).click()
        await visitor.says(LISTENING)
        await visitor.type("Bees dance.")
        await expect(context).to_contain_text(re.compile(r"This voice session: [\d,]+ tokens"))

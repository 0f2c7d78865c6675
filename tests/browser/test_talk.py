"""A learner talks to the tutor in a real browser, and hears the answer.

Speech goes into the virtual microphone; what the loudspeaker played is recognised again and
compared with the tutor's bubble; what was heard is in the store after a reload.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.browser.conftest import Device, Launcher, Server, device, until
from tests.browser.sound import SoundCard
from tests.rig import DOCUMENT, _voice

pytestmark = [
    pytest.mark.browser,
    pytest.mark.speech,
    pytest.mark.asyncio(loop_scope="session"),
]
BROWSERS = os.environ.get("BROWSERS", "chromium,firefox,webkit").split(",")
LEARNER = ".said.learner .words"
TUTOR = ".said.tutor .words"


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z']{3,}", text.lower()))


def alike(one: str, other: str) -> float:
    """Share of the words of `one` that `other` has too."""
    wanted = words(one)
    return len(wanted & words(other)) / max(1, len(wanted))


def recognise(pcm16k: bytes) -> str:
    from local_gemini.speech.recogniser import MoonshineRecogniser

    return str(_voice(MoonshineRecogniser).transcribe(pcm16k))


async def sign_up(page: Device, server: Server, name: str) -> None:
    """Through the page as a newcomer: sign up, wait at the gate, be approved by an admin."""
    await page.open(server.url + "/web/")
    email = f"learner.{time.monotonic_ns()}@example.org"
    await page.fill("input[name=name]", name)
    await page.fill("input[name=email]", email)
    await page.tap("form .button")
    await until(lambda: page.text(".gate-card h1"), "the gate")
    await server.approve(email)
    await until(lambda: page.text("#picker-title"), "the picker after approval")


async def start_document(page: Device, text: str = DOCUMENT) -> None:
    await page.tap(".kinds .chip:last-child")
    await page.fill("textarea.paste", text)
    await page.tap(".cta .button")
    await until(lambda: page.text(TUTOR), "the tutor's opening turn")


async def status(page: Device) -> str:
    return await page.text(".status-line")


async def mic_on(page: Device) -> None:
    await page.tap("button.mic")
    await until(lambda: _is(status(page), "Listening — speak now…"), "listening")


async def _is(found: Awaitable[str], wanted: str) -> bool:
    return await found == wanted


async def say(card: SoundCard, wav: Path) -> None:
    process = card.say(wav)
    await asyncio.to_thread(process.wait)


async def covered(page: Device) -> str:
    """The header of the agenda dialog, read as a person would."""
    await page.tap('.voice button[title^="Agenda"]')
    found = await until(lambda: page.text("dialog[open] .agenda-count"), "agenda dialog")
    await page.tap("dialog[open] .actions .button")
    return str(found)


@pytest.mark.req("CARD-4", "CARD-8", "CARD-12", "UI-21", "UI-57", "UI-59", "VOICE-51", "DATA-19")
@pytest.mark.parametrize("kind", BROWSERS)
async def test_a_spoken_lesson(
    kind: str, launch: Launcher, card: SoundCard, server: Server, line: Callable[[str], Path]
) -> None:
    async with device(kind, launch) as page:
        await sign_up(page, server, f"Ada {kind}")
        await start_document(page)
        await mic_on(page)

        started = time.monotonic()
        await say(card, line("A vaccine shows the immune system a harmless piece of the germ."))
        await until(lambda: _count(page, LEARNER, 1), "the learner's bubble")
        await until(lambda: _is_in(status(page), "Tutor is speaking"), "the tutor speaks")
        assert alike("immune system germ", await page.text(LEARNER)) >= 0.6
        await until(lambda: _is(status(page), "Listening — speak now…"), "reply ended", 40)
        await asyncio.sleep(0.3)  # the loudspeaker's own buffer
        reply = await page.text(TUTOR)
        heard = await asyncio.to_thread(recognise, card.heard(started))
        assert alike(reply, heard) >= 0.6, (reply, heard)
        await until(lambda: _moved(page), "the agenda moved", 20)

        # A barge-in: the voice stops, and only what was heard stays.
        await say(card, line("I do not know. Please tell me more about antibodies."))
        await until(lambda: _is_in(status(page), "Tutor is speaking"), "the tutor speaks again")
        await asyncio.sleep(1.2)
        cut = time.monotonic()
        process = card.say(line("Wait, wait, please stop for a moment."))
        await until(lambda: page.text(".system"), "the interruption is shown")
        assert "(You interrupted the tutor.)" in await page.texts(".system")
        quiet = await until(lambda: _silent(card, cut), "the loudspeaker falls silent", 5)
        assert quiet - cut < 3, "the voice went on over the learner"
        await asyncio.to_thread(process.wait)
        bubbles = await page.texts(TUTOR)

        await page.tap("button.mic")
        await until(lambda: _is(status(page), "Tap the mic to talk, or type below."), "idle")
        await page.reload()
        await page.tap(".nav button:nth-of-type(2)")
        await page.tap("button[title=Resume]")
        await until(lambda: page.text(TUTOR), "the resumed conversation")
        stored = await page.texts(TUTOR)
        assert reply in stored
        # The interrupted reply is stored as heard: a beginning of what had been shown.
        assert any(bubble and bubble in stored for bubble in bubbles[2:3]), (bubbles, stored)


async def _count(page: Device, css: str, at_least: int) -> bool:
    return len([text for text in await page.texts(css) if text]) >= at_least


async def _silent(card: SoundCard, since: float) -> float | None:
    return card.silent(since)


async def _is_in(found: Awaitable[str], part: str) -> bool:
    return (await found).startswith(part)


async def _moved(page: Device) -> bool:
    return not (await covered(page)).startswith("0 of")


@pytest.mark.req("CARD-8", "RTC-3")
async def test_two_learners_at_once(
    launch: Launcher,
    card: SoundCard,
    other_card: SoundCard,
    server: Server,
    line: Callable[[str], Path],
) -> None:
    """Each hears an answer to their own words, and only that."""
    tides = "The moon pulls the water of the oceans. High tide follows the moon around the earth."
    async with (
        device("chromium", launch) as ada,
        device("chromium", launch, card=other_card) as bob,
    ):
        await sign_up(ada, server, "Ada")
        await sign_up(bob, server, "Bob")
        await start_document(ada)
        await start_document(bob, tides)
        await mic_on(ada)
        await mic_on(bob)
        started = time.monotonic()
        await asyncio.gather(
            say(card, line("A vaccine shows the immune system a harmless piece of the germ.")),
            say(other_card, line("The moon pulls the water of the oceans.")),
        )
        for page in (ada, bob):
            await until(lambda page=page: _count(page, TUTOR, 2), "a reply", 30)
        for page in (ada, bob):
            await until(
                lambda page=page: _is(status(page), "Listening — speak now…"), "reply ended", 40
            )
        await asyncio.sleep(0.3)
        for page, own, words_said in (
            (ada, card, "immune system germ"),
            (bob, other_card, "moon water oceans"),
        ):
            assert alike(words_said, await page.text(LEARNER)) >= 0.5
            heard = await asyncio.to_thread(recognise, own.heard(started))
            reply = await page.text(TUTOR)
            assert alike(reply, heard) >= 0.6, (reply, heard)

"""A learner talks to the tutor in a real browser, and hears the answer.

Speech goes into the virtual microphone; what the loudspeaker played is recognised again and
compared with the tutor's bubble; what was heard is in the store after a reload.
"""

from __future__ import annotations

import asyncio
import functools
import os
import re
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.devices import Device, Launcher, device
from tests.browser.server_process import Server
from tests.browser.sound import SILENT_RMS, SoundCard
from tests.browser.waiting import need_file, until
from tests.rig import DOCUMENT

if TYPE_CHECKING:
    from local_gemini.speech.recogniser import MoonshineRecogniser

pytestmark = [
    pytest.mark.browser,
    pytest.mark.speech,
    pytest.mark.asyncio(loop_scope="session"),
]
BROWSERS = os.environ.get("BROWSERS", "chromium,firefox,webkit").split(",")
# Jane Austen, read by volunteers (LibriVox), as they come with Debian's speech test data.
RECORDINGS = Path("/usr/share/pocketsphinx/test/data/librivox")
DASHWOOD = """\
# John Dashwood

1. He was not an ill-disposed young man.
2. To be rather cold-hearted and rather selfish is to be ill-disposed.
3. Had he married a more amiable woman he might have been made still more respectable.
4. He might even have been made amiable himself.
"""
LEARNER = ".said.learner .words"
TUTOR = ".said.tutor .words"
# Shares of words in order. The recogniser hears one of a sentence otherwise ("respectful" for
# "respectable"), more on a machine that has two learners, two browsers and two recognisers.
NEARLY_ALL = 0.85
AMONG_TWO = 0.75


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z']{3,}", text.lower()))


def alike(one: str, other: str) -> float:
    """Share of the words of `one` that `other` has too."""
    wanted = words(one)
    return len(wanted & words(other)) / max(1, len(wanted))


def recording(number: str) -> tuple[Path, str]:
    """One person's sentence, and what is said in it."""
    need_file(RECORDINGS / "transcription")
    for said in (RECORDINGS / "transcription").read_text().splitlines():
        if number in said:
            text = said.removeprefix("<s> ").split(" </s>")[0].replace("a amiable", "amiable")
            return RECORDINGS / f"sense_and_sensibility_01_austen_64kb-{number}.wav", text
    raise AssertionError(f"no recording {number}")


@functools.cache
def _recogniser() -> MoonshineRecogniser:
    from local_gemini.speech.recogniser import MoonshineRecogniser

    return MoonshineRecogniser()


def recognise(pcm16k: bytes) -> str:
    return _recogniser().transcribe(pcm16k)


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
    stop = line("Wait, wait, please stop for a moment.")
    amiable, amiable_words = recording("0920")
    selfish, selfish_words = recording("0890")
    async with device(kind, launch) as page:
        await sign_up(page, server, f"Ada {kind}")
        await start_document(page, DASHWOOD)
        await mic_on(page)

        started = time.monotonic()
        await say(card, amiable)
        await until(lambda: _count(page, LEARNER, 1), "the learner's bubble")
        await until(lambda: _is_in(status(page), "Tutor is speaking"), "the tutor speaks")
        said = await page.text(LEARNER)
        assert alike(amiable_words, said) >= NEARLY_ALL, said
        await until(lambda: _is(status(page), "Listening — speak now…"), "reply ended", 40)
        await asyncio.sleep(0.3)  # the loudspeaker's own buffer
        reply = await page.text(TUTOR)
        heard = await asyncio.to_thread(recognise, card.heard(started))
        assert alike(reply, heard) >= 0.6, (reply, heard)
        await until(lambda: _moved(page), "the agenda moved", 20)

        # A barge-in: the voice stops, and only what was heard stays.
        again = time.monotonic()
        await say(card, selfish)
        await until(lambda: _is_in(status(page), "Tutor is speaking"), "the tutor speaks again")
        said = await page.text(LEARNER)
        assert alike(selfish_words, said) >= NEARLY_ALL, said
        await until(lambda: _loud(card, again, 10), "half a second of the reply is heard")
        cut = time.monotonic()
        process = card.say(stop)
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


async def _loud(card: SoundCard, since: float, blocks: int) -> bool:
    return sum(rms > SILENT_RMS for _, rms in card.levels(since)) >= blocks


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
    amiable, amiable_words = recording("0930")
    water_words = "The moon pulls the water of the oceans."
    water = line(water_words)
    async with (
        device("chromium", launch) as ada,
        device("chromium", launch, card=other_card) as bob,
    ):
        await sign_up(ada, server, "Ada")
        await sign_up(bob, server, "Bob")
        await start_document(ada, DASHWOOD)
        await start_document(bob, tides)
        await mic_on(ada)
        await mic_on(bob)
        started = time.monotonic()
        await asyncio.gather(say(card, amiable), say(other_card, water))
        for page in (ada, bob):
            await until(lambda page=page: _count(page, TUTOR, 2), "a reply", 30)
        for page in (ada, bob):
            await until(
                lambda page=page: _is(status(page), "Listening — speak now…"), "reply ended", 40
            )
        await asyncio.sleep(0.3)
        for page, own, words_said in ((ada, card, amiable_words), (bob, other_card, water_words)):
            said = await page.text(LEARNER)
            assert alike(words_said, said) >= AMONG_TWO, said
            heard = await asyncio.to_thread(recognise, own.heard(started))
            reply = await page.text(TUTOR)
            assert alike(reply, heard) >= 0.6, (reply, heard)

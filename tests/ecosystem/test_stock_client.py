"""A client of the ecosystem, published by others and unmodified, holds a lesson with Pidjin."""

from __future__ import annotations

import asyncio
import re
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from playwright.async_api import Browser, ConsoleMessage, Page, Response

from tests.browser.server_process import Server
from tests.browser.sound import SoundCard
from tests.browser.waiting import until
from tests.ecosystem.conftest import Learner

pytestmark = [
    pytest.mark.browser,
    pytest.mark.speech,
    pytest.mark.asyncio(loop_scope="module"),
]
LINE = "A vaccine shows the immune system a harmless piece of the germ."
# A peer that went is waited for, 15 s, before its lesson ends (design 5.6).
ENDED_S = 30.0


class Stock:
    """The page with the stock client in it."""

    def __init__(self, page: Page, learner: Learner) -> None:
        self.page, self.learner = page, learner
        self.session_id = str(uuid.uuid4())
        self.answer: dict[str, Any] = {}
        self._answers: list[Response] = []
        page.on("response", lambda response: self._answers.append(response))

    async def connect(self) -> dict[str, Any]:
        """The `bot-ready` data; keeps the answer to the offer."""
        await self.page.goto(self.learner.url + "/stock/")
        ready = await self.page.evaluate(
            "([token, session, topic]) => stock.connect(token, session, topic)",
            [self.learner.token, self.session_id, self.learner.topic_id],
        )
        offers = [a for a in self._answers if a.url.endswith("/api/offer")]
        self.answer = await next(a for a in offers if a.request.method == "POST").json()
        return dict(ready)

    async def happened(self, name: str) -> list[Any]:
        """Data of every event of that name, oldest first."""
        found = await self.page.evaluate(
            "(name) => stock.happened.filter((e) => e[0] === name).map((e) => e[1])", name
        )
        return list(found)

    async def act(self, call: str) -> None:
        await self.page.evaluate(f"stock.{call}")

    def statuses(self, method: str) -> list[int]:
        return [a.status for a in self._answers if a.request.method == method]


@asynccontextmanager
async def stock(chromium: Browser, learner: Learner) -> AsyncIterator[Stock]:
    context = await chromium.new_context()
    try:
        page = await context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda m: errors.append(_told(m)) if m.type == "error" else None)
        client = Stock(page, learner)
        yield client
        # A candidate that comes when the peer is gone is answered 404, and the browser says so.
        late = [error for error in errors if "404" in error and error.endswith("/api/offer")]
        assert len(late) <= client.statuses("PATCH").count(404)
        assert [error for error in errors if error not in late] == []
    finally:
        await context.close()


def _told(message: ConsoleMessage) -> str:
    return f"{message.text} {message.location['url']}"


async def lessons(server: Server) -> int:
    async with aiohttp.ClientSession() as http, http.get(server.url + "/metrics") as response:
        found = re.search(r"^pidjin_lessons (\d+)", await response.text(), re.MULTILINE)
    assert found is not None
    return int(found[1])


async def ended(server: Server) -> bool:
    return await lessons(server) == 0


async def more(client: Stock, name: str, than: int) -> bool:
    return len(await client.happened(name)) > than


async def farewells(client: Stock) -> list[str]:
    told = await client.happened("serverMessage")
    return [message["reason"] for message in told if message["type"] == "closed"]


async def final_words(client: Stock) -> list[str]:
    return [said["text"] for said in await client.happened("userTranscript") if said["final"]]


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z']{4,}", text.lower()))


@pytest.mark.req("RTC-1", "RTC-14", "CARD-12")
async def test_the_stock_client_holds_a_lesson(
    chromium: Browser,
    learner: Learner,
    server: Server,
    card: SoundCard,
    line: Callable[[str], Path],
) -> None:
    async with stock(chromium, learner) as client:
        ready = await client.connect()
        assert int(ready["version"].split(".")[0]) == 2
        sections = client.answer["sdp"].split("\nm=")[1:]
        kinds = [section.split()[0] for section in sections]
        assert kinds == ["audio", "video", "application"]
        assert "a=inactive" in sections[kinds.index("video")]

        started = time.monotonic()
        process = card.say(line(LINE))
        await asyncio.to_thread(process.wait)
        finals = await until(lambda: final_words(client), "a final transcript of what was said")
        assert len(words(LINE) & words(finals[-1])) >= 4, finals
        await until(lambda: client.happened("botStartedSpeaking"), "the tutor speaks")
        await until(lambda: client.happened("botStoppedSpeaking"), "the tutor has spoken", 40)
        outputs = [said["text"] for said in await client.happened("botOutput")]
        shown = outputs[-1]
        assert len(words(" ".join(outputs))) >= 4, outputs
        heard = await until(lambda: client.happened("botTranscript"), "the reply as heard")
        assert heard[-1]["text"] == shown
        assert await client.happened("userStartedSpeaking")
        assert (await client.happened("trackStarted"))[-1] == {"kind": "audio", "local": False}
        assert card.audible(started) is not None
        assert set(client.statuses("PATCH")) == {200}
        before = len(await client.happened("botStoppedSpeaking"))
        # RTVI's own messages work both ways.
        await client.act("type('Please tell me about memory cells.')")
        await until(lambda: more(client, "botStoppedSpeaking", before), "a reply to typing", 40)
        await client.act("mic(false)")
        await until(lambda: client.happened("userMuteStarted"), "the server knows of the mute")
        await client.act("mic(true)")
        await until(lambda: client.happened("userMuteStopped"), "and of its end")
        assert await lessons(server) == 1
        await client.act("hangUp()")
        assert await client.page.evaluate("stock.state()") == "disconnected"
        await until(lambda: ended(server), "the lesson ends", ENDED_S)
        session = await learner.ask("GET", f"/api/sessions/{client.session_id}")
        assert session["turns"][0]["text"] == shown
        assert session["turns"][1]["userText"] == "Please tell me about memory cells."


async def test_the_stock_client_sends_the_tutor_away(
    chromium: Browser, learner: Learner, server: Server
) -> None:
    async with stock(chromium, learner) as client:
        await client.connect()
        await client.act("dismiss()")
        await until(lambda: ended(server), "the lesson ends", 5)
        assert await until(lambda: farewells(client), "the farewell") == ["stopped"]
        # It was told that the tutor left: a stock client redials a peer that merely vanishes.
        await until(lambda: client.happened("botDisconnected"), "the tutor has left")
        await until(lambda: client.happened("disconnected"), "so the client hangs up")

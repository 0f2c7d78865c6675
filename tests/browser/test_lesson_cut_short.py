"""A voice lesson that ends against the learner's will: each cause has its words and a way on."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import APIRequestContext, Route, expect

from tests.browser.server_process import Server
from tests.browser.visit import Visitor, Visits, words

pytestmark = [
    pytest.mark.browser,
    pytest.mark.speech,
    pytest.mark.asyncio(loop_scope="session"),
]
START, STOP = "Voice mode (keeps listening)", "Stop voice mode"
LISTENING = "Listening — speak now…"
IDLE = "Tap the mic to talk, or type below."
CSRF = "pidjin_csrf"


@asynccontextmanager
async def _elsewhere(visitor: Visitor, visit: Visits) -> AsyncIterator[APIRequestContext]:
    """The same person at another machine: the same cookies, no tab that tells the others."""
    async with visit(None, open_page=False) as other:
        cookies = await visitor.page.context.cookies()
        await other.page.context.add_cookies(cookies)  # type: ignore[arg-type]
        yield other.page.context.request


async def _do(visitor: Visitor, there: APIRequestContext, operation: str, **body: str) -> None:
    cookies = {one["name"]: one["value"] for one in await visitor.page.context.cookies()}
    answer = await there.post(
        f"{visitor.server.url}/api/{operation}", data=body, headers={"X-CSRF-Token": cookies[CSRF]}
    )
    assert answer.ok, await answer.text()


async def _talking(visitor: Visitor) -> None:
    await visitor.start()
    await visitor.button(START).click()
    await visitor.says(LISTENING)


@pytest.mark.req("UI-60", "AUTH-24")
async def test_signed_out_elsewhere(visit: Visits) -> None:
    async with visit() as visitor, _elsewhere(visitor, visit) as there:
        await _talking(visitor)
        await _do(visitor, there, "signOut")
        await visitor.announced(re.compile("signed out", re.I))
        await expect(visitor.page.get_by_label("E-mail")).to_be_visible()
        await visitor.hung_up()


@pytest.mark.req("UI-60", "AUTH-24", "RTC-20")
async def test_access_taken_away(visit: Visits) -> None:
    async with visit() as visitor:
        await _talking(visitor)
        await visitor.decide("revokeUser")
        await visitor.announced(re.compile("access", re.I))
        # The page has seen to it by itself.
        await expect(visitor.page.get_by_text(re.compile("reload the page"))).to_have_count(0)
        await expect(visitor.page.locator("main h1")).to_have_text(
            re.compile(f"{words()['pendingTitle']}|{words()['rejectedTitle']}")
        )
        await expect(visitor.button("Sign out")).to_be_visible()
        await visitor.hung_up()


@pytest.mark.req("UI-60", "UI-42")
async def test_deleted_elsewhere(visit: Visits) -> None:
    async with visit() as visitor, _elsewhere(visitor, visit) as there:
        await _talking(visitor)
        sessions = await (await there.get(visitor.server.url + "/api/sessions")).json()
        (session,) = sessions["sessions"]
        await _do(visitor, there, "deleteSession", sessionId=session["sessionId"])
        await visitor.announced(words()["deletedElsewhere"])
        await visitor.hung_up()
        await expect(visitor.page.get_by_text("closed elsewhere")).to_have_count(0)
        # There is nothing to go on with: the page leads to a new topic.
        await expect(visitor.heading("What do you want to remember?")).to_be_visible()


@pytest.mark.req("UI-60", "AUTH-20", "RTC-2")
async def test_voice_over_the_daily_limit(visit: Visits, server: Server) -> None:
    async with visit() as visitor:
        await visitor.start()
        await server.daily_cap(0)
        try:
            await visitor.button(START).click()
            await visitor.announced(re.compile("today’s limit"))
            await visitor.hung_up()
            await expect(visitor.status).to_have_text(re.compile("today’s limit"))
        finally:
            await server.daily_cap(None)
        await visitor.button(START).click()
        await visitor.says(LISTENING)


@pytest.fixture
def dead_port() -> Iterator[socket.socket]:
    """A UDP port behind which nobody answers, as behind a firewall."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as port:
        port.bind(("127.0.0.1", 0))
        port.setblocking(False)
        yield port


@pytest.mark.req("UI-60", "VOICE-62")
async def test_no_udp(visit: Visits, dead_port: socket.socket) -> None:
    """The network lets the page through and no sound: said after seconds, and typing goes on."""
    number = dead_port.getsockname()[1]

    async def firewall(route: Route) -> None:
        answer = await route.fetch()
        body = await answer.json()
        body["sdp"] = re.sub(
            r"(a=candidate:\S+ \d+ udp \d+) \S+ \d+", rf"\1 127.0.0.1 {number}", body["sdp"]
        )
        await route.fulfill(response=answer, json=body)

    async with visit(open_page=False) as visitor:
        await visitor.page.clock.install()
        await visitor.open()
        await visitor.start()
        await visitor.page.route("**/api/offer", firewall)
        async with visitor.page.expect_response("**/api/offer"):
            await visitor.button(START).click()
        # The browser really knocks there.
        await asyncio.wait_for(asyncio.get_running_loop().sock_recv(dead_port, 2000), 10)
        for _ in range(30):
            await visitor.page.clock.run_for(1_000)
            if await visitor.status.inner_text() != "Connecting to voice…":
                break
        await visitor.announced(words()["voiceBlocked"])
        await visitor.hung_up()
        await expect(visitor.button(START)).to_be_visible()
        await visitor.page.clock.resume()
        await visitor.typed("I type instead.")


@pytest.mark.req("UI-60", "VOICE-62")
async def test_a_server_that_vanishes_and_comes_back(visit: Visits, server: Server) -> None:
    """Without a goodbye: the page says that it looks for the server, and finds it by itself."""
    async with visit(open_page=False) as visitor:
        await visitor.page.clock.install()
        await visitor.open()
        await _talking(visitor)
        await asyncio.to_thread(server.kill)
        try:
            await visitor.announced(words()["statusReconnecting"])
            await expect(visitor.tutor).to_have_count(1)
            # The words are kept while nobody takes them.
            await visitor.composer.fill("Half a sentence")
        finally:
            await asyncio.to_thread(server.boot)
        await visitor.page.clock.fast_forward(10_000)  # to the next try
        await visitor.says(LISTENING)
        await expect(visitor.composer).to_have_value("Half a sentence")
        await visitor.composer.press("Enter")
        await expect(visitor.tutor).to_have_count(2)

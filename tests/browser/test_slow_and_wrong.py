"""The world around the page: a slow network, a wrong clock, a server that was updated."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.async_api import Route, expect

from tests.browser.visit import Visitor, Visits, words

pytestmark = [
    pytest.mark.browser,
    pytest.mark.speech,
    pytest.mark.asyncio(loop_scope="session"),
]
# As the developer tools of Chromium have it.
SLOW_3G = {
    "offline": False,
    "latency": 400,
    "downloadThroughput": 50_000,
    "uploadThroughput": 50_000,
}
PAINT = """() => new Promise((told) => new PerformanceObserver((list) => {
  const first = list.getEntriesByName('first-contentful-paint')[0];
  if (first) told(first.startTime);
}).observe({type: 'paint', buffered: true}))"""
PAINT_MAX_MS = 3_000
START, STOP = "Voice mode (keeps listening)", "Stop voice mode"
PICKER = "What do you want to remember?"


@pytest.mark.req("UI-57", "UI-60", "VOICE-62")
async def test_slow_3g(visit: Visits) -> None:
    async with visit(open_page=False) as visitor:
        network = await visitor.page.context.new_cdp_session(visitor.page)
        await network.send("Network.enable")
        await network.send("Network.emulateNetworkConditions", SLOW_3G)
        await visitor.open()
        painted = await visitor.evaluate(PAINT)
        assert painted < PAINT_MAX_MS
        await expect(visitor.heading(PICKER)).to_be_visible()
        await visitor.start()
        await visitor.button(START).click()
        await visitor.says("Listening — speak now…")
        await visitor.button(STOP).click()


@pytest.mark.req("UI-60", "UI-32")
async def test_waiting_for_long_is_talked_about(visit: Visits) -> None:
    async with visit(open_page=False) as visitor:
        await visitor.page.clock.install()
        await visitor.open()

        async def late(route: Route) -> None:
            await expect(visitor.text(words()["slow"])).to_have_count(0)
            await visitor.page.clock.fast_forward(8_500)
            await visitor.announced(words()["slow"])
            await route.continue_()

        await visitor.page.route("**/api/groundDocument", late)
        await visitor.start()
        await visitor.page.route("**/api/dialogueTurn", late)
        await visitor.typed("A germ is blocked.")
        await expect(visitor.page.get_by_text(words()["slow"])).to_have_count(0)


@pytest.mark.req("UI-60")
@pytest.mark.parametrize(
    ("off", "told"),
    [
        (timedelta(hours=3), "3 hours ahead"),
        (timedelta(days=-400), "400 days behind"),
    ],
)
async def test_a_wrong_clock(visit: Visits, off: timedelta, told: str) -> None:
    """The learner is told, and everything works all the same: no session depends on this clock."""
    async with visit(open_page=False, size="desktop") as visitor:
        await visitor.page.clock.install(time=datetime.now(UTC) + off)
        await visitor.open()
        await visitor.announced(re.compile(told))
        await visitor.start()
        await visitor.typed("A vaccine shows a harmless piece of a germ.")
        await visitor.menu("Sound check…")
        await expect(visitor.dialog).to_contain_text(told)
        await visitor.page.keyboard.press("Escape")
        await visitor.button(START).click()
        await visitor.says("Listening — speak now…")
        await visitor.button(STOP).click()


async def _another_version(visitor: Visitor) -> None:
    async def newer(route: Route) -> None:
        answer = await route.fetch()
        await route.fulfill(response=answer, json={**await answer.json(), "version": "99.0.0"})

    await visitor.page.route("**/api/identity", newer)


@pytest.mark.req("HOME-12")
@pytest.mark.parametrize("size", ["phone", "desktop"])
async def test_a_page_that_is_older_than_its_server(visit: Visits, size: str) -> None:
    async with visit(size=size) as visitor:
        await visitor.start()
        await visitor.typed("A vaccine shows a harmless piece of a germ.")
        await visitor.composer.fill("Half a sent")
        await expect(visitor.text(re.compile(words()["updated"]))).to_have_count(0)
        await _another_version(visitor)
        # A look at another app and back is when the page asks.
        await visitor.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
        await visitor.announced(re.compile(re.escape(words()["updated"])))
        await visitor.page.unroute("**/api/identity")
        async with visitor.page.expect_navigation():
            await visitor.button(words()["reload"]).click()
        # The conversation and the half sentence are there again.
        await expect(visitor.tutor).to_have_count(2)
        await expect(visitor.composer).to_have_value("Half a sent")
        await expect(visitor.button(words()["reload"])).to_have_count(0)

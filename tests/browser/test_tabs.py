"""A lesson while other tabs are looked at: it says that it listens, Back leads through the tabs."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Locator, expect

from tests.browser.visit import Visitor, Visits, words

pytestmark = [
    pytest.mark.browser,
    pytest.mark.speech,
    pytest.mark.asyncio(loop_scope="session"),
]
START, STOP = "Voice mode (keeps listening)", "Stop voice mode"
LISTENING = "Listening — speak now…"
IDLE = "Tap the mic to talk, or type below."
PICKER = "What do you want to remember?"


def _bar(visitor: Visitor) -> Locator:
    return visitor.page.get_by_role("region", name=words()["lessonRuns"], exact=True)


async def _talk(visitor: Visitor) -> None:
    await visitor.start()
    await visitor.button(START).click()
    await visitor.says(LISTENING)


@pytest.mark.req("UI-57", "UI-43")
@pytest.mark.parametrize("size", ["phone", "desktop"])
async def test_a_lesson_says_on_every_tab_that_it_listens(visit: Visits, size: str) -> None:
    async with visit("admin", size=size) as visitor:
        bar = _bar(visitor)
        await _talk(visitor)
        await expect(bar).to_have_count(0)
        for tab in ("History", "Admin"):
            await visitor.tab(tab)
            await expect(bar).to_be_in_viewport(ratio=1)
            await expect(bar.locator(".light")).to_have_text(
                re.compile(f"{words()['sending']}|{words()['notSending']}")
            )
            told = visitor.page.get_by_role("status").filter(has_text=words()["lessonRunsTold"])
            await expect(told).to_have_count(1)
        await bar.get_by_role("button", name=words()["backToLesson"]).click()
        await visitor.says(LISTENING)

        await visitor.tab("History")
        await bar.get_by_role("button", name=STOP).click()
        await expect(bar).to_have_count(0)
        await visitor.hung_up()
        await expect(visitor.page.get_by_role("main")).to_be_focused()
        await visitor.tab("Chat")
        await visitor.says(IDLE)


@pytest.mark.req("UI-43", "UI-40")
async def test_back_goes_through_the_tabs_and_the_lesson_goes_on(visit: Visits) -> None:
    async with visit() as visitor:
        page = visitor.page
        await _talk(visitor)
        await visitor.tab("History")
        await expect(visitor.heading("Past conversations")).to_be_visible()
        assert page.url == visitor.server.url + "/web/#/history"
        await visitor.button("Delete").first.click()
        await page.go_back()
        await expect(visitor.dialog).to_have_count(0)
        await visitor.says(LISTENING)
        assert page.url == visitor.server.url + "/web/"
        await page.go_forward()
        await expect(visitor.heading("Past conversations")).to_be_visible()
        await expect(visitor.dialog).to_have_count(0)
        await expect(_bar(visitor)).to_be_visible()
        # A reload stays on the tab, and the conversation of the page is kept.
        await page.reload()
        await expect(visitor.heading("Past conversations")).to_be_visible()
        await visitor.see(words()["inProgress"])
        await page.go_back()
        await visitor.says(IDLE)
        await expect(visitor.tutor).to_have_count(1)


@pytest.mark.req("AUTH-20")
async def test_an_address_of_the_admin_leads_a_learner_to_the_chat(visit: Visits) -> None:
    async with visit(open_page=False) as visitor:
        await visitor.open("/web/#/admin")
        await expect(visitor.heading(PICKER)).to_be_visible()
        assert visitor.page.url == visitor.server.url + "/web/"


@pytest.mark.req("UI-39", "UI-60")
async def test_what_is_typed_in_a_second_window_shows_in_the_first(visit: Visits) -> None:
    async with visit() as visitor:
        await _talk(visitor)
        second = Visitor(await visitor.page.context.new_page(), visitor.server)
        await second.open()
        await second.tab("History")
        await second.button("Resume").first.click()
        await expect(second.tutor).to_have_count(1)
        await second.typed("A vaccine shows a harmless piece of a germ.")
        said = ["A vaccine shows a harmless piece of a germ."]
        await expect(visitor.learner).to_have_text(said)
        await expect(visitor.tutor).to_have_count(2)
        await visitor.says(LISTENING)
        # And the other way round, out of the running lesson.
        await visitor.type("Antibodies fit the surface of the germ.")
        await expect(visitor.learner).to_have_count(2)
        await expect(second.learner).to_have_count(2)
        await expect(visitor.tutor).to_have_count(3)
        await expect(second.tutor).to_have_count(3)


@pytest.mark.req("UI-60")
async def test_the_offline_banner_goes_when_the_network_is_back(visit: Visits) -> None:
    async with visit() as visitor:
        context, alert = visitor.page.context, visitor.page.locator(".alert")
        await visitor.start()
        await context.set_offline(True)
        await visitor.type("Are you there?")
        await expect(alert).to_contain_text(words()["errorOffline"])
        await context.set_offline(False)
        await expect(alert).to_have_count(0, timeout=6_000)
        await visitor.button(words()["retry"]).click()
        await expect(visitor.tutor).to_have_count(2)

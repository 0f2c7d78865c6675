"""Past conversations: newest first, resumed, deleted after a question, the running one marked."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect

from tests.browser.visit import TWENTY_POINTS, Visits, words

pytestmark = [
    pytest.mark.browser,
    pytest.mark.speech,
    pytest.mark.asyncio(loop_scope="session"),
]


@pytest.mark.req("UI-40")
@pytest.mark.parametrize("size", ["phone", "desktop"])
async def test_nothing_yet(visit: Visits, size: str) -> None:
    async with visit(size=size) as visitor:
        await visitor.tab("History")
        await expect(visitor.heading("Past conversations")).to_be_visible()
        await visitor.see("No past conversations yet.")


@pytest.mark.req("UI-40", "UI-41", "UI-42", "UI-43", "TEST-13")
@pytest.mark.parametrize("size", ["phone", "desktop"])
async def test_list_resume_and_delete(visit: Visits, size: str) -> None:
    async with visit(size=size) as visitor:
        page = visitor.page
        await visitor.start()
        await visitor.typed("A vaccine shows a harmless piece of a germ.")
        await visitor.button("New Topic").click()
        await visitor.start(TWENTY_POINTS)
        await visitor.tab("History")
        entries = page.get_by_role("main").get_by_role("listitem")
        await expect(entries).to_have_count(2)
        await expect(entries.get_by_role("heading")).to_have_text(
            ["Twenty moons", "How vaccines work"]
        )
        await expect(entries.nth(0)).to_contain_text(words()["inProgress"])
        await expect(entries.nth(1)).not_to_contain_text(words()["inProgress"])
        for entry in (entries.nth(0), entries.nth(1)):
            for name in ("Resume", "Delete"):
                button = entry.get_by_role("button", name=re.compile(f"^{name}"))
                await expect(button).to_have_attribute("title", name)

        await entries.nth(1).get_by_role("button", name=re.compile("^Resume")).click()
        await expect(visitor.heading("How vaccines work")).to_be_visible()
        await expect(visitor.learner).to_have_text(["A vaccine shows a harmless piece of a germ."])
        await expect(visitor.tutor).to_have_count(2)
        await visitor.typed("Antibodies fit the surface of the germ.")
        await visitor.tab("History")
        running = entries.filter(has_text=words()["inProgress"])
        await expect(running).to_contain_text("How vaccines work")

        first = entries.filter(has_text="Twenty moons")
        await first.get_by_role("button", name=re.compile("^Delete")).click()
        await expect(visitor.dialog).to_contain_text("permanently deleted")
        await expect(visitor.dialog).to_contain_text("Twenty moons")
        await visitor.dialog.get_by_role("button", name="Cancel", exact=True).click()
        await expect(visitor.dialog).to_have_count(0)
        await expect(entries).to_have_count(2)
        await first.get_by_role("button", name=re.compile("^Delete")).click()
        await visitor.dialog.get_by_role("button", name="Delete", exact=True).click()
        await expect(entries).to_have_count(1)
        await visitor.toast(words()["deleted"])
        # The running one may go too: the Chat tab is a picker again.
        await entries.get_by_role("button", name=re.compile("^Delete")).click()
        await visitor.dialog.get_by_role("button", name="Delete", exact=True).click()
        await visitor.see("No past conversations yet.")
        await visitor.tab("Chat")
        await expect(visitor.heading("What do you want to remember?")).to_be_visible()
        await page.reload()
        await visitor.tab("History")
        await visitor.see("No past conversations yet.")


@pytest.mark.req("UI-40", "UI-43")
async def test_the_chat_is_still_there_after_a_look_at_the_history(visit: Visits) -> None:
    async with visit() as visitor:
        await visitor.start()
        await visitor.composer.fill("half a sen")
        await visitor.tab("History")
        await visitor.tab("Chat")
        await expect(visitor.tutor).to_have_count(1)
        await visitor.composer.fill("half a sentence")
        await visitor.composer.press("Enter")
        await expect(visitor.tutor).to_have_count(2)

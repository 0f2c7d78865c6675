"""Every screen and dialog of the app, one after the other: what the checks of all screens walk."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

from playwright.async_api import Route, expect

from tests.browser.visit import TWENTY_POINTS, Visitor, words

# Learners' own words, wider than any label of ours.
LONG_WORD = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
NEWS = {
    "kind": "news",
    "title": "What the space telescope saw this week",
    "searchQuery": "space telescope discoveries this week",
    "description": f"Galaxies, planets and {LONG_WORD}",
}


async def outside(visitor: Visitor) -> AsyncIterator[str]:
    """Before the door, with nobody signed in; ends at the gate."""
    page = visitor.page
    await visitor.open("/")
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    yield "home"
    await visitor.open()
    await expect(page.get_by_label("E-mail")).to_be_visible()
    yield "sign-in"
    await visitor.button("Continue").click()
    await expect(page.get_by_role("alert")).to_be_visible()
    yield "sign-in-problem"
    invite = await visitor.server.admin("/api/mintInvite", {})
    await visitor.open(f"/web/#/invite/{invite['code']}")
    await visitor.see(words()["inviteNote"])
    yield "invite"
    await _google(visitor)
    await visitor.open("/web/#/signin?error=cancelled")
    await page.reload()
    await visitor.see(words()["googleCancelled"])
    yield "google"
    await page.unroute("**/api/identity")
    await visitor.join("pending", "Wanda")
    await visitor.open("/robots.txt")
    await visitor.open()
    await expect(visitor.heading(words()["pendingTitle"])).to_be_visible()
    yield "gate-pending"
    await visitor.decide("rejectUser")
    await expect(visitor.heading(words()["rejectedTitle"])).to_be_visible()
    yield "gate-rejected"


async def _google(visitor: Visitor) -> None:
    """This server as one that sends people to Google would introduce itself."""

    async def introduce(route: Route) -> None:
        answer = await route.fetch()
        known = await answer.json()
        await route.fulfill(json={**known, "mode": "firebase", "google": True})

    await visitor.page.route("**/api/identity", introduce)


async def _running(visitor: Visitor) -> AsyncIterator[str]:
    """The voice lesson of this page as its admin sees it."""
    await visitor.tab("Admin")
    await _section(visitor, "lessons", words()["lessonsTitle"])
    stop = visitor.button(re.compile(f"^{words()['stopLesson']}: "))
    await expect(stop.first).to_be_visible()
    yield "admin-lesson-running"
    await stop.first.click()
    await expect(visitor.dialog).to_be_visible()
    yield "admin-lesson-stop"
    await visitor.page.keyboard.press("Escape")
    await expect(visitor.dialog).to_have_count(0)
    await visitor.tab("Chat")


async def _section(visitor: Visitor, section: str, title: str) -> None:
    page = visitor.page
    sections = page.get_by_role("navigation", name=words()["adminSections"])
    await sections.get_by_role("button", name=words()[section], exact=True).click()
    await expect(visitor.heading(title)).to_be_visible()
    await expect(page.get_by_text(words()["loading"])).to_have_count(0)


async def inside(visitor: Visitor) -> AsyncIterator[str]:
    """Every screen of an admin, which are a learner's and more."""
    page = visitor.page
    for item in (await visitor.server.admin("/api/admin/catalog"))["items"]:
        if item["title"] == NEWS["title"]:
            break
    else:
        made = await visitor.server.admin("/api/admin/catalog", NEWS)
        await visitor.server.admin(
            f"/api/admin/catalog/{made['id']}", {"status": "active"}, "PATCH"
        )
    await visitor.open()
    await expect(visitor.heading("What do you want to remember?")).to_be_visible()
    yield "picker-core"
    await visitor.button("News — what’s current").click()
    await visitor.see(NEWS["title"])
    yield "picker-news"
    await visitor.button("Document — file or paste").click()
    yield "picker-document"
    await page.locator("input[type=file]").set_input_files(
        {"name": "picture.png", "mimeType": "", "buffer": b"x"}
    )
    await expect(page.get_by_role("alert")).to_be_visible()
    yield "picker-problem"
    await visitor.start(TWENTY_POINTS)
    await visitor.typed(f"Ariel circles its planet. {LONG_WORD} https://example.org/{'a' * 90}")
    yield "chat"
    await page.locator("summary", has_text="Grounded context").click()
    yield "chat-context"
    await page.locator("summary", has_text="Grounded context").click()
    await visitor.agenda.click()
    await expect(visitor.dialog).to_be_visible()
    yield "agenda"
    await page.keyboard.press("Escape")
    await visitor.button("Voice mode (keeps listening)").click()
    await visitor.says("Listening — speak now…")
    yield "voice"
    async for screen in _running(visitor):
        yield screen
    await visitor.button("Stop voice mode").click()
    await visitor.button("More").click()
    yield "menu"
    for item, dialog in (
        ("Preferred style…", "preferred-style"),
        ("Sound check…", "sound-check"),
        ("Sign out…", "sign-out"),
    ):
        await visitor.button(item).click()
        await expect(visitor.dialog).to_be_visible()
        yield dialog
        if dialog == "sound-check":
            await visitor.button(words()["checkStart"]).click()
            await expect(visitor.dialog.locator("meter")).to_be_visible()
            yield "sound-check-open"
        await page.keyboard.press("Escape")
        await expect(visitor.dialog).to_have_count(0)
        await visitor.button("More").click()
    await page.keyboard.press("Escape")
    await page.route("**/api/sessions?*", lambda route: route.abort())
    await visitor.tab("History")
    await visitor.see(words()["errorOffline"])
    yield "history-unloaded"
    await page.unroute("**/api/sessions?*")
    await visitor.button(words()["dismiss"]).click()
    await visitor.button(words()["retry"]).click()
    await visitor.see("Twenty moons")
    yield "history"
    await visitor.button("Delete").first.click()
    await expect(visitor.dialog).to_be_visible()
    yield "history-delete"
    await page.keyboard.press("Escape")
    await visitor.tab("Admin")
    await _section(visitor, "users", words()["users"])
    await visitor.see(re.compile(r"Approved users \(\d+\)"))
    await visitor.button(words()["invite"]).click()
    await visitor.see(words()["inviteMade"])
    yield "admin-users"
    for section, title in (
        ("news", "News topics"),
        ("usage", "Gemini calls, last 24h"),
        ("lessons", words()["lessonsTitle"]),
    ):
        await _section(visitor, section, title)
        yield f"admin-{section}"
        if section == "news":
            await visitor.button("Add news topic").click()
            await expect(visitor.dialog).to_be_visible()
            yield "admin-news-add"
            await page.keyboard.press("Escape")
            await expect(visitor.dialog).to_have_count(0)

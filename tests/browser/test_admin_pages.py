"""The admin's part: who may come in, news topics, usage, and the lessons that run."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.browser.server_process import Server
from tests.browser.visit import Visitor, Visits, words

pytestmark = [
    pytest.mark.browser,
    pytest.mark.speech,
    pytest.mark.asyncio(loop_scope="session"),
]


async def _section(visitor: Visitor, name: str) -> None:
    await visitor.tab("Admin")
    sections = visitor.page.get_by_role("navigation", name=words()["adminSections"])
    await sections.get_by_role("button", name=words()[name], exact=True).click()


async def _count(visitor: Visitor, title: str) -> int:
    heading = visitor.page.get_by_role("heading", name=re.compile(rf"^{title} \(\d+\)$"))
    found = re.search(r"\d+", await heading.inner_text())
    assert found is not None
    return int(found.group())


def _row(visitor: Visitor, text: str) -> Locator:
    return visitor.page.get_by_role("main").get_by_role("listitem").filter(has_text=text)


@pytest_asyncio.fixture(loop_scope="session")
async def no_news(server: Server) -> AsyncIterator[None]:
    """No topic is seen by learners before and after; no draft of another test waits."""

    async def clear() -> None:
        for item in (await server.admin("/api/admin/catalog"))["items"]:
            if item["status"] != "disabled":
                await _set(server, item["id"], "disabled")
        await server.admin("/api/admin/news-config", {"newsAutoPublish": False}, "PATCH")

    await clear()
    yield
    await clear()


async def _set(server: Server, topic: str, status: str) -> None:
    await server.admin(f"/api/admin/catalog/{topic}", {"status": status}, "PATCH")


async def _make(server: Server, title: str, status: str = "draft") -> dict[str, Any]:
    about = {"kind": "news", "title": title, "searchQuery": title, "description": ""}
    item = await server.admin("/api/admin/catalog", about)
    if status != "draft":
        await _set(server, item["id"], status)
    return dict(item)


@pytest.mark.req("UI-46", "UI-4", "UI-6")
@pytest.mark.parametrize("size", ["phone", "desktop"])
async def test_who_may_come_in(visit: Visits, size: str) -> None:
    async with visit("pending") as pia, visit("admin", size=size) as admin:
        await _section(admin, "users")
        row = _row(admin, pia.email)
        await expect(row).to_have_count(1)
        waiting = await _count(admin, "Pending approvals")
        approved = await _count(admin, "Approved users")
        await row.get_by_role("button", name=re.compile("^Approve")).click()
        await expect(row.get_by_role("button", name=re.compile("^Revoke"))).to_be_visible()
        assert await _count(admin, "Pending approvals") == waiting - 1
        assert await _count(admin, "Approved users") == approved + 1
        await expect(pia.heading("What do you want to remember?")).to_be_visible()

        await row.get_by_role("button", name=re.compile("^Revoke")).click()
        await expect(row.get_by_role("button", name=re.compile("^Revoke"))).to_have_count(0)
        assert await _count(admin, "Approved users") == approved
        await pia.page.reload()
        await expect(pia.page.get_by_role("navigation")).to_have_count(0)
        # The admin cannot lock themselves out.
        own = _row(admin, words()["you"]).filter(has_text=words()["adminRole"])
        await expect(own.get_by_role("button")).to_have_count(0)


@pytest.mark.req("UI-46", "UI-6")
async def test_a_person_is_declined(visit: Visits) -> None:
    async with visit("pending") as visitor, visit("admin") as admin:
        await _section(admin, "users")
        row = _row(admin, visitor.email)
        await row.get_by_role("button", name=re.compile("^Reject")).click()
        await expect(row.get_by_role("button", name=re.compile("^Reject"))).to_have_count(0)
        await expect(visitor.heading(words()["rejectedTitle"])).to_be_visible()


@pytest.mark.req("UI-46")
async def test_an_invite_is_made_and_copied(visit: Visits) -> None:
    async with visit("admin", permissions=["clipboard-read", "clipboard-write"]) as admin:
        await _section(admin, "users")
        await admin.button(words()["invite"]).click()
        field = admin.page.get_by_label(words()["inviteMade"])
        link = await field.input_value()
        assert link.startswith(admin.server.url + "/web/#/invite/")
        await admin.button(words()["copy"]).click()
        await admin.toast(words()["copied"])
        assert await admin.evaluate("() => navigator.clipboard.readText()") == link
    async with visit(None, open_page=False) as guest:
        await guest.open(link.removeprefix(guest.server.url))
        await guest.see(words()["inviteNote"])


@pytest.mark.req("UI-49", "UI-50", "UI-51", "UI-52", "UI-53", "UI-54")
@pytest.mark.usefixtures("no_news")
@pytest.mark.parametrize("size", ["phone", "desktop"])
async def test_a_news_topic_from_draft_to_hidden(visit: Visits, size: str) -> None:
    title = f"Deep sea on a {size}"
    async with visit("admin", size=size) as admin:
        page = admin.page
        await _section(admin, "news")
        await expect(admin.heading("News topics")).to_be_visible()
        for name in ("Run news pipeline now", "Add news topic"):
            await expect(admin.button(name)).to_have_attribute("title", name)
        switches = page.get_by_role("switch")
        await expect(switches).to_have_count(2)
        labels = await switches.evaluate_all(
            "(all) => all.map((one) => one.closest('label').innerText.split('\\n')[0].trim())"
        )
        assert labels == ["Daily news ingest", "Auto-publish new finds"]
        await admin.see("Gathers news topics every day at 05:00 UTC. “Run now” always works.")
        await admin.see(re.compile(r"^Themes: .+, .+"))
        await expect(admin.heading("Pipeline runs")).to_be_visible()
        await admin.see("No pipeline runs yet — run one from the toolbar.")

        await admin.button("Add news topic").click()
        await admin.dialog.get_by_role("button", name=words()["add"], exact=True).click()
        await expect(admin.dialog.get_by_role("alert")).to_be_visible()
        await admin.dialog.get_by_label(words()["title"], exact=True).fill(title)
        await admin.dialog.get_by_label(words()["searchQuery"]).fill(f"{title} discoveries")
        await admin.dialog.get_by_role("button", name=words()["add"], exact=True).click()
        await expect(admin.dialog).to_have_count(0)

        card = _row(admin, title)
        for action, then in (("Publish", "active"), ("Hide", "disabled"), ("Enable", "active")):
            await card.get_by_role("button", name=re.compile(f"^{action}")).click()
            await expect(card).to_contain_text(then)
        for chip in ("all", "draft", "active", "disabled"):
            await admin.button(chip).click()
            await expect(admin.button(chip)).to_have_attribute("aria-pressed", "true")
            await expect(card).to_have_count(1 if chip in ("all", "active") else 0)
        await admin.button("all").click()
        ingest = page.get_by_role("switch", name=re.compile("^Daily news ingest"))
        was = await ingest.is_checked()
        async with page.expect_response(lambda one: one.request.method == "PATCH"):
            await ingest.set_checked(not was)
        await page.reload()
        await _section(admin, "news")
        await expect(ingest).to_be_checked(checked=not was)
        await ingest.set_checked(was)


@pytest.mark.req("UI-55", "UI-52")
@pytest.mark.usefixtures("no_news")
async def test_drafts_are_published_when_asked(visit: Visits, server: Server) -> None:
    for title in ("First draft", "Second draft"):
        await _make(server, title)
    async with visit("admin") as admin:
        await _section(admin, "news")
        auto = admin.page.get_by_role("switch", name=re.compile("^Auto-publish new finds"))
        await auto.check()
        await expect(
            admin.page.get_by_role("dialog", name="Auto-publish new finds?")
        ).to_be_visible()
        await admin.button("No, keep drafts").click()
        await expect(admin.dialog).to_have_count(0)
        await expect(_row(admin, "First draft")).to_contain_text("draft")
        await expect(auto).to_be_checked()
        await auto.uncheck()
        await expect(admin.dialog).to_have_count(0)
        await auto.check()
        await admin.button("Publish all drafts").click()
        await admin.toast("Published 2 draft(s).")
        for title in ("First draft", "Second draft"):
            button = _row(admin, title).get_by_role("button", name=re.compile("^Hide"))
            await expect(button).to_be_visible()
        # Nothing waits any more, so nothing is asked.
        await auto.uncheck()
        await auto.check()
        await expect(admin.dialog).to_have_count(0)


@pytest.mark.req("UI-8", "UI-10", "UI-11", "UI-12", "TEST-13")
@pytest.mark.usefixtures("no_news")
async def test_every_published_topic_is_offered(visit: Visits, server: Server) -> None:
    for number in range(40):
        await _make(server, f"Topic number {number:02}", "active")
    async with visit() as visitor:
        grounded: list[Any] = []
        visitor.page.on(
            "request",
            lambda asked: (
                grounded.append(asked.post_data_json)
                if asked.url.endswith("/api/groundTopic")
                else None
            ),
        )
        await visitor.button("News — what’s current").click()
        await expect(
            visitor.heading("Suggested news topics (choose one or type your own)")
        ).to_be_visible()
        offered = visitor.button(re.compile("^Topic number"))
        await expect(offered).to_have_count(40)
        for text in await offered.all_inner_texts():
            assert re.search(r"updated (\d\d:\d\d today|\d+/\d+)", text), text
        await visitor.evaluate("() => document.querySelector('.stage').scrollTo(0, 0)")
        await offered.nth(3).click()
        await expect(visitor.button("Start Conversation")).to_be_in_viewport()
        # The local tutor has no web search and says so.
        await expect(visitor.page.get_by_role("alert")).to_be_visible()
        assert len(grounded) == 1
        assert grounded[0]["kind"] == "news"
        assert (await offered.nth(3).inner_text()).startswith(grounded[0]["topic"])


@pytest.mark.req("UI-47", "UI-48")
async def test_who_used_how_much(visit: Visits) -> None:
    async with visit() as visitor, visit("admin") as admin:
        await visitor.start()
        await _section(admin, "usage")
        await expect(admin.heading("Gemini calls, last 24h")).to_be_visible()
        rows = admin.page.get_by_role("main").get_by_role("listitem")
        await expect(rows.filter(has_text="Ada").first).to_contain_text(re.compile(r"\d+ calls"))
        await expect(rows.filter(has_text="Ada").first).to_contain_text(
            re.compile(r"[\d,]+ in · [\d,]+ out · [\d,]+ think|no token data yet")
        )


@pytest.mark.req("UI-60", "VOICE-62")
@pytest.mark.parametrize("size", ["phone", "desktop"])
async def test_a_running_lesson_is_seen_and_stopped(visit: Visits, size: str) -> None:
    async with visit(size=size) as visitor, visit("admin", size=size) as admin:
        await _section(admin, "lessons")
        await admin.see(words()["lessonsNone"])
        await visitor.start()
        await visitor.button("Voice mode (keeps listening)").click()
        await visitor.says("Listening — speak now…")
        row = _row(admin, "How vaccines work")
        await expect(row).to_contain_text("Ada")
        await expect(row).to_contain_text("listening")
        await row.get_by_role("button").click()
        await admin.dialog.get_by_role("button", name=words()["cancel"], exact=True).click()
        await expect(admin.dialog).to_have_count(0)
        await visitor.says("Listening — speak now…")
        await row.get_by_role("button").click()
        await admin.dialog.get_by_role("button", name=words()["stopLesson"], exact=True).click()
        await admin.see(words()["lessonsNone"])
        await visitor.says("Tap the mic to talk, or type below.")
        await expect(visitor.page.locator(".toasts")).not_to_be_empty()
        await visitor.typed("The conversation goes on.")

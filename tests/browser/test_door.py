"""Before the door, at the gate, and out again: who may come in, and how."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect

from tests.browser.server_process import Server
from tests.browser.visit import Visits, words

pytestmark = [
    pytest.mark.browser,
    pytest.mark.speech,
    pytest.mark.asyncio(loop_scope="session"),
]
INTRO = (
    "Pick a topic you actually want to remember, then choose how to talk about it — "
    "Socratic, Conversational, or Lecture. Pidjin asks before it tells."
)
PICKER = "What do you want to remember?"


@pytest.mark.req("UI-5", "UI-6", "AUTH-24")
@pytest.mark.parametrize("size", ["phone", "desktop"])
async def test_a_newcomer_signs_up_waits_and_is_let_in(visit: Visits, size: str) -> None:
    async with visit(None, size=size) as newcomer:
        page = newcomer.page
        await expect(newcomer.heading("Pidjin")).to_be_visible()
        await newcomer.see(INTRO)
        # Nothing is sent while something is missing; the sentence says what.
        await newcomer.button("Continue").click()
        await expect(page.get_by_role("alert")).to_have_text(words()["nameMissing"])
        await page.get_by_label("Name").fill("Nora")
        await page.get_by_label("E-mail").fill("nora")
        await newcomer.button("Continue").click()
        await expect(page.get_by_role("alert")).to_have_text(words()["emailMissing"])
        email = f"nora.{size}@example.org"
        await page.get_by_label("E-mail").fill(email)
        await page.get_by_label("E-mail").press("Enter")

        await expect(newcomer.heading(words()["pendingTitle"])).to_be_visible()
        await newcomer.see(f"Signed in as {email}")
        await expect(page.get_by_role("navigation")).to_have_count(0)
        await expect(page.get_by_role("button")).to_have_count(1)
        await expect(newcomer.button("Sign out")).to_be_visible()
        # A reload does not lose the account; an approval opens the page by itself.
        await page.reload()
        await expect(newcomer.heading(words()["pendingTitle"])).to_be_visible()
        await newcomer.server.approve(email)
        await expect(newcomer.heading(PICKER)).to_be_visible()


@pytest.mark.req("UI-6", "AUTH-24")
async def test_a_rejected_person_sees_why_and_may_only_leave(visit: Visits) -> None:
    async with visit("rejected") as visitor:
        await expect(visitor.heading(words()["rejectedTitle"])).to_be_visible()
        assert words()["rejectedTitle"] != words()["pendingTitle"]
        await expect(visitor.page.get_by_role("navigation")).to_have_count(0)
        await expect(visitor.page.get_by_role("button")).to_have_count(1)
        await visitor.button("Sign out").click()
        await visitor.see(INTRO)
        cookies = {cookie["name"] for cookie in await visitor.page.context.cookies()}
        assert not cookies & {"pidjin_session", "pidjin_csrf"}


async def _link(server: Server) -> str:
    return (await server.admin_link()).removeprefix(server.url)


@pytest.mark.req("UI-4", "AUTH-24")
async def test_a_sign_in_link_works_once(visit: Visits, server: Server) -> None:
    link = await _link(server)
    assert link.startswith("/web/#/signin/")
    async with visit(None, open_page=False) as admin:
        await admin.open(link)
        await expect(admin.heading(PICKER)).to_be_visible()
        navigation = admin.page.get_by_role("navigation", name="Main")
        await expect(navigation.get_by_role("button")).to_have_text(["Chat", "History", "Admin"])
        assert "signin" not in admin.page.url, "the code stays in the history"
    async with visit(None, open_page=False) as late:
        await late.open(link)
        await expect(late.page.get_by_role("alert")).to_have_text(words()["linkUsed"])
        await expect(late.page.get_by_label("Name")).to_be_visible()


@pytest.mark.req("UI-4", "UI-46")
async def test_an_invite_lets_one_person_in(visit: Visits, server: Server) -> None:
    invite = await server.admin("/api/mintInvite", {})
    path = f"/web/#/invite/{invite['code']}"
    async with visit(None, open_page=False) as guest:
        await guest.open(path)
        await guest.see(words()["inviteNote"])
        await guest.page.get_by_label("Name").fill("Gus")
        await guest.page.get_by_label("E-mail").fill("gus@example.org")
        await guest.button("Continue").click()
        await expect(guest.heading(PICKER)).to_be_visible()
        navigation = guest.page.get_by_role("navigation", name="Main")
        await expect(navigation.get_by_role("button")).to_have_text(["Chat", "History"])
    async with visit(None, open_page=False) as late:
        await late.open(path)
        await late.page.get_by_label("Name").fill("Late")
        await late.page.get_by_label("E-mail").fill("late@example.org")
        await late.button("Continue").click()
        await expect(late.page.get_by_role("alert")).to_have_text(words()["linkUsed"])


@pytest.mark.req("UI-2", "UI-3", "AUTH-24", "TEST-13")
async def test_signing_out_asks_first(visit: Visits) -> None:
    async with visit() as visitor:
        page = visitor.page
        await expect(page.locator("header").get_by_text("Pidjin", exact=True)).to_be_visible()
        await visitor.start()
        await visitor.menu("Sign out…")
        await expect(page.get_by_role("dialog", name="Sign out?")).to_be_visible()
        await visitor.dialog.get_by_role("button", name="Cancel", exact=True).click()
        await expect(visitor.dialog).to_have_count(0)
        await expect(visitor.tutor).to_have_count(1)

        await visitor.menu("Sign out…")
        await visitor.dialog.get_by_role("button", name="Sign out", exact=True).click()
        await visitor.see(INTRO)
        await expect(visitor.tutor).to_have_count(0)
        await page.reload()
        await visitor.see(INTRO)


@pytest.mark.req("UI-60", "AUTH-24")
async def test_a_revoked_person_is_led_to_the_gate(visit: Visits) -> None:
    async with visit() as visitor:
        await visitor.start()
        await visitor.decide("revokeUser")
        await visitor.type("A vaccine shows a harmless piece of a germ.")
        await expect(visitor.page.locator("main h1")).to_have_text(
            re.compile(f"{words()['pendingTitle']}|{words()['rejectedTitle']}")
        )
        await expect(visitor.page.get_by_role("navigation")).to_have_count(0)
        await expect(visitor.button("Sign out")).to_be_visible()


@pytest.mark.req("UI-60")
async def test_signing_out_in_one_tab_ends_the_other(visit: Visits) -> None:
    async with visit() as visitor:
        await visitor.start()
        other = await visitor.page.context.new_page()
        await other.goto(visitor.server.url + "/web/")
        await other.get_by_role("button", name="More", exact=True).click()
        await other.get_by_role("button", name="Sign out…", exact=True).click()
        await other.get_by_role("dialog").get_by_role("button", name="Sign out", exact=True).click()
        await expect(other.get_by_text(INTRO)).to_be_visible()
        if await visitor.composer.count():  # else the first tab has noticed by itself
            await visitor.type("Is anybody there?")
        await visitor.see(INTRO)

"""Whatever is refused or breaks is said in plain words, and the conversation stays."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from playwright.async_api import Route, expect

from tests.browser.server_process import Server
from tests.browser.visit import Visitor, Visits, words

pytestmark = [
    pytest.mark.browser,
    pytest.mark.speech,
    pytest.mark.asyncio(loop_scope="session"),
]
IDLE = "Tap the mic to talk, or type below."
BEES = "Bees dance to show the way to flowers. The dance tells direction."


def _refusal(
    status: int, code: str | None, message: str
) -> Callable[[Route], Coroutine[Any, Any, None]]:
    """Answers instead of the server; without a code, as a proxy on the way would."""

    async def refuse(route: Route) -> None:
        if code is None:
            await route.fulfill(status=status, body="<h1>Bad", content_type="text/html")
        else:
            await route.fulfill(status=status, json={"error": {"code": code, "message": message}})

    return refuse


async def _kept(visitor: Visitor, text: str) -> None:
    """The message stands there unanswered, with a way to send it again."""
    await expect(visitor.learner.last).to_have_text(text)
    await visitor.see(words()["notSent"])
    await expect(visitor.composer).to_be_enabled()


@pytest.mark.req("UI-60", "AUTH-20")
async def test_the_daily_limit(visit: Visits, server: Server) -> None:
    async with visit() as visitor:
        await visitor.start()
        await server.daily_cap(0)
        try:
            await visitor.type("A harmless piece of a germ.")
            await visitor.toast(re.compile("today’s limit"))
            await _kept(visitor, "A harmless piece of a germ.")
            await visitor.button("New Topic").click()
            await visitor.paste("Anything at all. It is enough for a topic.")
            await visitor.button("Start Conversation").click()
            await visitor.see(re.compile("today’s limit"))
        finally:
            await server.daily_cap(None)
        await visitor.button("Start Conversation").click()
        await expect(visitor.tutor).to_have_count(1)


@pytest.mark.req("UI-60")
async def test_each_code_has_its_sentence_and_the_turn_can_be_sent_again(visit: Visits) -> None:
    table = (
        (429, "resource-exhausted", "", "today’s limit"),
        (503, "unavailable", "", words()["errorBusy"]),
        (409, "aborted", "", words()["errorBusy"]),
        (504, "deadline-exceeded", "", words()["errorSlow"]),
        (400, "invalid-argument", "", words()["errorInput"]),
        (400, "invalid-argument", "That is too long.", "That is too long."),
        (500, "internal", "KeyError: 'x'", words()["errorOther"]),
        (502, None, "", words()["errorOther"]),
    )
    async with visit() as visitor:
        await visitor.start()
        for status, code, message, told in table:
            refuse = _refusal(status, code, message)
            await visitor.page.route("**/api/dialogueTurn", refuse, times=1)
            await visitor.type("Say it.")
            await visitor.toast(re.compile(re.escape(told)))
            await _kept(visitor, "Say it.")
            await visitor.says(IDLE)
            await visitor.button("Try again").last.click()
            await expect(visitor.page.get_by_text(words()["notSent"])).to_have_count(0)
            await visitor.says(IDLE)
        await expect(visitor.tutor).to_have_count(1 + len(table))


@pytest.mark.req("UI-60")
@pytest.mark.parametrize("size", ["phone", "desktop"])
async def test_a_failure_stays_until_it_is_read_and_a_notice_passes(
    visit: Visits, size: str
) -> None:
    async with visit(size=size, open_page=False) as visitor:
        await visitor.page.clock.install()
        await visitor.open()
        await visitor.start()
        refuse = _refusal(503, "unavailable", "")
        await visitor.page.route("**/api/dialogueTurn", refuse, times=1)
        await visitor.type("Say it.")
        await visitor.announced(words()["errorBusy"])
        await visitor.page.locator("fieldset label", has_text="Lecture").click()
        await visitor.toast("Style changes apply from the next reply.")
        await visitor.page.clock.fast_forward(20_000)
        toasts = visitor.page.locator(".toasts")
        await expect(toasts.get_by_text("Style changes apply")).to_have_count(0)
        await visitor.toast(words()["errorBusy"])
        # Neither covers what is needed to go on.
        await visitor.composer.fill("Once more")
        await visitor.button("Send").click(trial=True)
        await visitor.button(words()["dismiss"]).click()
        await expect(toasts).to_be_empty()


@pytest.mark.req("UI-60", "UI-59")
async def test_an_opening_that_fails_can_be_asked_for_again(visit: Visits) -> None:
    async with visit() as visitor:
        refuse = _refusal(503, "unavailable", "")
        await visitor.page.route("**/api/dialogueTurn", refuse, times=1)
        await visitor.paste(BEES)
        await visitor.button("Start Conversation").click()
        await visitor.see(re.compile(re.escape(words()["openingFailed"])))
        await visitor.button("Try again").click()
        await expect(visitor.tutor).to_have_count(1)


@pytest.mark.req("UI-60", "UI-14", "UI-12")
@pytest.mark.parametrize(
    ("code", "told"),
    [("unavailable", "errorBusy"), ("deadline-exceeded", "errorSlow"), ("internal", "errorOther")],
)
async def test_gathering_that_fails_can_be_tried_again(visit: Visits, code: str, told: str) -> None:
    async with visit() as visitor:
        await visitor.page.route("**/api/groundDocument", _refusal(503, code, ""), times=1)
        await visitor.paste(BEES)
        await visitor.button("Start Conversation").click()
        await visitor.announced(words()[told])
        # What was pasted is still there.
        await expect(visitor.page.get_by_placeholder("…or paste the text here")).to_have_value(BEES)
        await visitor.button("Start Conversation").click()
        await expect(visitor.tutor).to_have_count(1)


@pytest.mark.req("UI-60", "UI-42")
async def test_a_conversation_deleted_in_another_tab(visit: Visits) -> None:
    async with visit() as visitor:
        await visitor.start()
        other = Visitor(await visitor.page.context.new_page(), visitor.server)
        await other.open()
        await other.tab("History")
        await other.button("Delete").click()
        await other.dialog.get_by_role("button", name="Delete", exact=True).click()
        await other.see("No past conversations yet.")
        if await visitor.composer.count():  # else this tab has noticed by itself
            await visitor.type("Are you there?")
        await visitor.toast(re.compile("deleted"))
        await expect(visitor.button("New Topic")).to_be_visible()


@pytest.mark.req("UI-60")
async def test_offline_and_back(visit: Visits) -> None:
    async with visit() as visitor:
        await visitor.start()
        await visitor.page.context.set_offline(True)
        await visitor.says(words()["statusOffline"])
        await visitor.type("Nobody hears this.")
        await visitor.toast(words()["errorOffline"])
        await _kept(visitor, "Nobody hears this.")
        await visitor.page.context.set_offline(False)
        await visitor.says(IDLE)
        await visitor.button("Try again").last.click()
        await expect(visitor.tutor).to_have_count(2)


@pytest.mark.req("UI-60", "AUTH-24")
async def test_a_sign_in_that_ran_out_leads_to_the_door(visit: Visits) -> None:
    async with visit() as visitor:
        await visitor.start()
        await visitor.page.context.clear_cookies()
        await visitor.type("Who am I?")
        await expect(visitor.page.get_by_label("E-mail")).to_be_visible()


@pytest.mark.req("UI-60")
async def test_a_server_out_of_reach_at_the_start(visit: Visits) -> None:
    async with visit("approved", open_page=False) as visitor:
        away = True

        async def gone(route: Route) -> None:
            await (route.abort() if away else route.continue_())

        await visitor.page.route("**/api/**", gone)
        await visitor.open()
        await expect(visitor.page.get_by_role("alert")).to_have_text(words()["errorOffline"])
        away = False
        await visitor.button("Try again").click()
        await expect(visitor.heading("What do you want to remember?")).to_be_visible()


@pytest.mark.req("UI-60", "VOICE-62")
async def test_the_server_restarts_under_a_voice_lesson(visit: Visits, server: Server) -> None:
    async with visit() as visitor:
        await visitor.start()
        await visitor.button("Voice mode (keeps listening)").click()
        await visitor.says("Listening — speak now…")
        await asyncio.to_thread(server.halt)
        try:
            # A server that says goodbye ends voice mode; one that vanishes is looked for.
            await visitor.says(
                re.compile(f"{re.escape(words()['statusReconnecting'])}|{re.escape(IDLE)}")
            )
            await expect(visitor.tutor).to_have_count(1)
        finally:
            await asyncio.to_thread(server.boot)
        if await visitor.button("Voice mode (keeps listening)").count():
            await visitor.button("Voice mode (keeps listening)").click()
        await visitor.says("Listening — speak now…")
        await visitor.button("Stop voice mode").click()
        await visitor.says(IDLE)
        await visitor.typed("A harmless piece of a germ.")

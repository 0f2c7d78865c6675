"""The typed conversation: opening, loop, agenda, grounded context, styles, and its end."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Route, expect

from tests.browser.visit import TWENTY_POINTS, Visitor, Visits
from tests.rig import DOCUMENT

pytestmark = [
    pytest.mark.browser,
    pytest.mark.speech,
    pytest.mark.asyncio(loop_scope="session"),
]
IDLE = "Tap the mic to talk, or type below."
POINTS = [line.split(". ", 1)[1] for line in DOCUMENT.splitlines() if re.match(r"\d", line)]
INTERNAL = re.compile(
    r"TUTOR STATE|revealState|coveredAngles|discrepancy|Next point to teach|\bMETA\b|"
    r"\b(probe|reveal|concede|redirect|conclude)\b",
)


async def _style(visitor: Visitor, name: str) -> None:
    """As a person does: the label is what is tapped, the radio inside is out of sight."""
    await visitor.page.locator("fieldset label", has_text=name).first.click()


async def _chosen(visitor: Visitor, name: str) -> None:
    await expect(visitor.page.get_by_role("radio", name=name, exact=True).first).to_be_checked()


@pytest.mark.req("UI-32", "UI-39", "UI-56", "UI-59", "TEST-13")
@pytest.mark.parametrize("size", ["phone", "desktop"])
async def test_the_typed_loop(visit: Visits, size: str) -> None:
    async with visit(size=size) as visitor:
        await visitor.start()
        assert "?" in await visitor.tutor.first.inner_text()
        await expect(visitor.learner).to_have_count(0)

        async def late(route: Route) -> None:
            await visitor.says("Thinking…")
            await expect(visitor.learner).to_have_text(["A germ is blocked."])
            await expect(visitor.tutor).to_have_count(1)
            await expect(visitor.button("Send")).to_be_disabled()
            await route.continue_()

        await visitor.page.route("**/api/dialogueTurn", late)
        await visitor.type("A germ is blocked.")
        await expect(visitor.composer).to_have_value("")
        await expect(visitor.tutor).to_have_count(2)
        await visitor.says(IDLE)
        await expect(visitor.composer).to_be_focused()
        await visitor.page.unroute("**/api/dialogueTurn")

        # An empty message is none; Shift+Enter is a new line.
        await visitor.composer.press("Enter")
        await visitor.composer.fill("one")
        await visitor.composer.press("Shift+Enter")
        await visitor.composer.press_sequentially("two")
        await expect(visitor.composer).to_have_value("one\ntwo")
        await expect(visitor.learner).to_have_count(1)
        await visitor.composer.press("Enter")
        await expect(visitor.tutor).to_have_count(3)

        for _ in range(3):
            await visitor.typed("Please tell me more about that, I do not know it yet. " * 6)
        assert await visitor.evaluate(
            """() => { const log = document.querySelector('[role=log]');
               return log.scrollHeight > log.clientHeight
                 && log.scrollHeight - log.scrollTop - log.clientHeight < 40; }"""
        ), "the newest message is out of sight"
        shown = await visitor.page.get_by_role("log").inner_text()
        assert INTERNAL.search(shown) is None, shown


@pytest.mark.req("UI-16", "UI-17", "UI-18", "UI-19", "UI-44", "UI-45", "AGND-16", "TEST-13")
async def test_the_agenda_from_nothing_to_complete(visit: Visits) -> None:
    async with visit() as visitor:

        async def late(route: Route) -> None:
            await expect(visitor.agenda).to_have_attribute(
                "title", "The agenda appears once the conversation starts"
            )
            await expect(visitor.agenda).to_have_attribute("aria-disabled", "true")
            await visitor.agenda.click(force=True)
            await expect(visitor.dialog).to_have_count(0)
            await route.continue_()

        await visitor.page.route("**/api/dialogueTurn", late, times=1)
        await visitor.start()
        await expect(visitor.agenda).to_have_attribute("title", "Agenda")
        await visitor.agenda.click()
        await expect(visitor.page.get_by_role("dialog", name="Agenda")).to_be_visible()
        await expect(visitor.dialog).to_contain_text("0 of 4 points covered")
        points = visitor.dialog.get_by_role("listitem")
        await expect(points).to_have_count(4)
        titles = await points.all_inner_texts()
        await expect(visitor.dialog.locator(".radio_button_unchecked")).to_have_count(4)
        await expect(visitor.dialog.get_by_role("heading", name=re.compile("^Part"))).to_have_count(
            0
        )
        await visitor.dialog.get_by_role("button", name="Close", exact=True).click()
        await expect(visitor.dialog).to_have_count(0)

        partly = False
        for turn in range(12):
            await visitor.typed(POINTS[turn % 4])
            await visitor.agenda.click()
            header = await visitor.dialog.get_by_text("points covered").inner_text()
            done = await visitor.dialog.locator(".check_circle").count()
            assert header == f"{done} of 4 points covered"
            assert await points.all_inner_texts() == titles, "the order of the points changed"
            await visitor.page.keyboard.press("Escape")
            await expect(visitor.dialog).to_have_count(0)
            partly = partly or 0 < done < 4
            if done == 4:
                break
        assert partly, "no state between nothing and everything was seen"
        await expect(visitor.agenda).to_have_attribute("title", "Agenda — all points covered")
        green = await visitor.agenda.evaluate("(e) => getComputedStyle(e).backgroundColor")
        red, lime, blue = (int(part) for part in re.findall(r"\d+", green)[:3])
        assert lime > red, green
        assert lime > blue, green
        radius = await visitor.agenda.evaluate("(e) => getComputedStyle(e).borderRadius")
        assert radius in ("50%", "999px", "9999px"), radius
        # Nothing ends: no options, everything stays usable, the summary is a plain message.
        await expect(visitor.composer).to_be_enabled()
        await visitor.says(IDLE)
        await expect(visitor.button(re.compile("end session|finish", re.I))).to_have_count(0)
        await visitor.typed("Thank you. Is there anything to add?")


@pytest.mark.req("UI-20", "UI-21")
async def test_twenty_points_come_in_four_parts(visit: Visits) -> None:
    async with visit() as visitor:
        await visitor.start(TWENTY_POINTS)
        await visitor.agenda.click()
        await expect(visitor.dialog).to_contain_text("0 of 20 points covered")
        parts = visitor.dialog.get_by_role("heading", level=3)
        await expect(parts).to_have_text(["Part 1", "Part 2", "Part 3", "Part 4"])
        counts = await visitor.dialog.locator("ul").evaluate_all(
            "(lists) => lists.map((list) => list.children.length)"
        )
        assert counts == [5, 5, 5, 5]
        box = await visitor.dialog.bounding_box()
        assert box is not None
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 844, "the dialog is higher than the screen"
        await visitor.dialog.get_by_text("Umbriel").scroll_into_view_if_needed()
        await expect(visitor.dialog.get_by_role("button", name="Close")).to_be_in_viewport()


@pytest.mark.req("UI-38", "UI-41", "UI-21", "AGND-13", "TEST-13")
async def test_context_and_agenda_are_there_again_after_resume(visit: Visits) -> None:
    async with visit() as visitor:
        await visitor.start()
        await visitor.typed(POINTS[0])
        said = await visitor.page.get_by_role("log").inner_text()
        await visitor.agenda.click()
        before = await visitor.dialog.inner_text()
        await visitor.page.keyboard.press("Escape")

        async def context() -> list[str]:
            body = visitor.page.get_by_role("region", name="Grounded context")
            await expect(body).to_have_count(0)
            await visitor.page.locator("summary", has_text="Grounded context").click()
            await expect(body).to_be_visible()
            shown = [await body.locator(".digest").inner_text()]
            shown += await body.get_by_role("listitem").all_inner_texts()
            await visitor.page.locator("summary", has_text="Grounded context").click()
            return shown

        first = await context()
        assert "harmless piece" in first[0]
        assert len(first) > 1, "no source is named"
        await visitor.button("New Topic").click()
        await visitor.tab("History")
        await visitor.button("Resume").first.click()
        await expect(visitor.tutor).to_have_count(2)
        assert await visitor.page.get_by_role("log").inner_text() == said
        assert await context() == first
        await visitor.agenda.click()
        assert await visitor.dialog.inner_text() == before


@pytest.mark.req("UI-35", "UI-36", "VOICE-54", "TEST-13")
async def test_a_style_chosen_early_is_kept(visit: Visits) -> None:
    async with visit() as visitor:
        sent: list[str | None] = []

        async def record(route: Route) -> None:
            sent.append(route.request.post_data_json.get("style"))
            await route.continue_()

        await visitor.page.route("**/api/dialogueTurn", record)
        await _style(visitor, "Lecture")
        await visitor.start()
        assert sent == ["lecture"], "the first turn did not use the chosen style"
        await _chosen(visitor, "Lecture")
        # Stored with the conversation: another browser state shows it after resume.
        await visitor.page.reload()
        await visitor.tab("History")
        await visitor.button("Resume").first.click()
        await _chosen(visitor, "Lecture")

        async with visitor.page.expect_response("**/api/setSessionStyle"):
            await _style(visitor, "Conversational")
        await visitor.toast("Style changes apply from the next reply.")
        await _chosen(visitor, "Conversational")


@pytest.mark.req("UI-35", "UI-36")
async def test_the_preferred_style_is_where_a_new_conversation_begins(visit: Visits) -> None:
    async with visit() as visitor:
        await visitor.menu("Preferred style…")
        dialog = visitor.page.get_by_role("dialog", name="Preferred style")
        await dialog.locator("label", has_text="Conversational").click()
        await expect(dialog.get_by_role("radio", name="Conversational")).to_be_checked()
        await dialog.get_by_role("button", name="Close", exact=True).click()
        await _chosen(visitor, "Conversational")
        await visitor.page.reload()
        await _chosen(visitor, "Conversational")
        await visitor.start()
        await _chosen(visitor, "Conversational")
        await _style(visitor, "Lecture")
        await visitor.toast("Style changes apply from the next reply.")
        await visitor.button("New Topic").click()
        await _chosen(visitor, "Conversational")


@pytest.mark.req("UI-22", "UI-23", "UI-58", "VOICE-66")
async def test_the_voice_cluster_stands_above_the_composer(visit: Visits) -> None:
    async with visit() as visitor:
        await visitor.start()
        order = await visitor.evaluate(
            """() => [...document.querySelectorAll('.voice, .composer, [role=log], .styles')]
               .map((e) => e.getAttribute('role') ?? e.classList[0])"""
        )
        assert order.index("log") < order.index("voice") < order.index("composer")
        names = await visitor.cluster.get_by_role("button").evaluate_all(
            "(buttons) => buttons.map((button) => button.title)"
        )
        assert names == ["Voice mode (keeps listening)", "Reply speech: on", "Agenda"]
        await visitor.button("Reply speech: on").click()
        await expect(visitor.button("Reply speech: off")).to_be_visible()
        # Kept for the next visit of this browser.
        await visitor.page.reload()
        await visitor.tab("History")
        await visitor.button("Resume").first.click()
        await visitor.button("Reply speech: off").click()
        await expect(visitor.button("Reply speech: on")).to_be_visible()

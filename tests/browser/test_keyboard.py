"""A lesson without a pointer: Tab reaches every step and shows it, nothing loses the keyboard."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.browser.visit import Visitor, Visits, words

pytestmark = [
    pytest.mark.browser,
    pytest.mark.speech,
    pytest.mark.asyncio(loop_scope="session"),
]


async def _focus(visitor: Visitor) -> str:
    """Name of what has the keyboard."""
    return str(
        await visitor.evaluate(
            """() => { const e = document.activeElement;
               return e.getAttribute('aria-label') ?? e.closest('label')?.textContent
                 ?? e.textContent.trim(); }"""
        )
    )


async def _walk(visitor: Visitor, wanted: str, steps: int = 25) -> None:
    """Tab until `wanted` has the keyboard, and shows it."""
    seen = []
    for _ in range(steps):
        await visitor.page.keyboard.press("Tab")
        seen.append(await _focus(visitor))
        if seen[-1].startswith(wanted):
            outline = """() => { const e = document.activeElement;
              const of = e.matches('input[type=radio], input[type=file]') ? e.closest('label') : e;
              return [of, ...of.querySelectorAll('*')].map((each) => getComputedStyle(each))
                .some((s) => s.outlineStyle !== 'none' || s.boxShadow !== 'none'); }"""
            assert await visitor.evaluate(outline), f"nothing shows that {wanted} has the keyboard"
            return
    raise AssertionError(f"{wanted} was not reached: {seen}")


async def _dialog(visitor: Visitor, opener: str) -> None:
    """The dialog that is open keeps the keyboard, and gives it back to `opener`."""
    await expect(visitor.dialog).to_be_visible()
    for _ in range(4):
        await visitor.page.keyboard.press("Tab")
        assert await visitor.evaluate(
            "() => document.activeElement === document.body"
            " || document.activeElement.closest('dialog[open]') !== null"
        )
    await visitor.page.keyboard.press("Escape")
    await expect(visitor.dialog).to_have_count(0)
    back = await _focus(visitor)
    assert back.startswith(opener), f"the keyboard went to {back}, not back to {opener}"


async def _top(visitor: Visitor) -> None:
    """As after a click into nothing: Tab starts anew."""
    await visitor.evaluate("() => document.activeElement.blur()")


@pytest.mark.req("UI-57", "UI-3", "UI-5", "UI-19", "UI-22", "UI-42", "TEST-13")
async def test_a_lesson_from_the_door_to_the_end(visit: Visits) -> None:
    async with visit(None, size="desktop") as visitor:
        press, type_ = visitor.page.keyboard.press, visitor.page.keyboard.type
        await _walk(visitor, "Name")
        await type_("Kay")
        await _walk(visitor, "E-mail", 1)
        await type_("kay@example.org")
        await press("Enter")
        await expect(visitor.heading(words()["pendingTitle"])).to_be_visible()
        await visitor.server.approve("kay@example.org")
        await expect(visitor.heading("What do you want to remember?")).to_be_visible()

        await _walk(visitor, "Document — file or paste")
        await press("Enter")
        await _walk(visitor, "…or paste the text here")
        await visitor.page.keyboard.insert_text("Bees dance. The dance tells where flowers are.")
        await _walk(visitor, "Socratic")
        await press("ArrowRight")
        await expect(visitor.page.get_by_role("radio", name="Conversational")).to_be_checked()
        await _walk(visitor, "Start Conversation")
        await press("Enter")
        await expect(visitor.tutor).to_have_count(1)

        await _top(visitor)
        await _walk(visitor, "Agenda")
        await press("Enter")
        await _dialog(visitor, "Agenda")
        await _walk(visitor, "Message")
        await type_("They dance.")
        await press("Enter")
        await expect(visitor.tutor).to_have_count(2)

        # Voice, all of it.
        await _top(visitor)
        await _walk(visitor, "Voice mode (keeps listening)")
        await press("Enter")
        await visitor.says("Listening — speak now…")
        assert await _focus(visitor) == "Stop voice mode", "the button lost the keyboard"
        await _walk(visitor, "Message")
        await type_("The dance tells where flowers are.")
        await press("Enter")
        await visitor.says("Tutor is speaking — you may interrupt.")
        await visitor.says("Listening — speak now…")
        await _top(visitor)
        await _walk(visitor, words()["replay"])
        await press("Enter")
        await visitor.says("Tutor is speaking — you may interrupt.")
        await _walk(visitor, "Stop voice mode")
        await press("Enter")
        await visitor.says("Tap the mic to talk, or type below.")

        await _top(visitor)
        await _walk(visitor, "More")
        for item in ("Preferred style…", "Sound check…", "Sign out…"):
            await press("Enter")
            await _walk(visitor, item, 6)
            await press("Enter")
            await _dialog(visitor, "More")
        await _walk(visitor, "History")
        await press("Enter")
        await expect(visitor.heading("Past conversations")).to_be_visible()
        await _walk(visitor, "Delete")
        await press("Enter")
        await _dialog(visitor, "Delete")
        await press("Enter")
        dialog = visitor.dialog
        await expect(dialog).to_be_visible()
        await _walk(visitor, "Delete", 6)
        await press("Enter")
        await visitor.see("No past conversations yet.")
        # Its row is gone, so the heading has the keyboard.
        await expect(visitor.heading("Past conversations")).to_be_focused()
        await _walk(visitor, "Chat")
        await press("Enter")
        await expect(visitor.heading("What do you want to remember?")).to_be_visible()

"""What holds on every screen: readable by everybody, on any width, in any direction, calmly."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page, Route, expect

from tests.browser import tour
from tests.browser.visit import Visits

pytestmark = [
    pytest.mark.browser,
    pytest.mark.speech,
    pytest.mark.asyncio(loop_scope="session"),
]
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
NARROW = {"width": 360, "height": 740}

OVERFLOW = """() => {
  const wide = document.documentElement.scrollWidth > innerWidth;
  const past = [...document.querySelectorAll('body *')].filter((e) => {
    const box = e.getBoundingClientRect();
    if (!box.width || !box.height || (box.right <= innerWidth + 1 && box.left >= -1)) return false;
    for (let up = e; up && up !== document.body; up = up.parentElement)
      if (up.classList.contains('visually-hidden')
          || (up !== e && getComputedStyle(up).overflowX !== 'visible')) return false;
    return true;
  });
  return [...(wide ? ['the page scrolls sideways'] : []),
    ...past.map((e) => `${e.tagName}.${e.className} ${e.textContent.slice(0, 40)}`)];
}"""
# WCAG 2.5.5 of what is tapped; a link inside a sentence is as high as its line.
SMALL = """() => {
  const of = (e) => (e.matches('input[type=radio], input[type=checkbox], input[type=file]')
    ? e.closest('label') ?? e : e);
  const hidden = 'dialog:not([open]), p, li > a';
  return [...document.querySelectorAll('button, a[href], input, textarea, select, summary')]
    .filter((e) => !e.closest(hidden) && e.checkVisibility())
    .map((e) => [of(e), of(e).getBoundingClientRect()])
    .filter(([, box]) => box.width && Math.min(box.width, box.height) < 43.5)
    .map(([e, { width, height }]) =>
      `${Math.round(width)}x${Math.round(height)} ${e.outerHTML.slice(0, 120)}`);
}"""


async def _violations(page: Page) -> list[str]:
    found = await Axe().run(page, options={"runOnly": RULES, "resultTypes": ["violations"]})
    return [
        f"{rule['id']}: {node['html'][:140]} {node['failureSummary'][:160]}"
        for rule in found.response["violations"]
        for node in rule["nodes"]
    ]


async def _settled(page: Page) -> None:
    """Transitions are over: a colour half way is nobody's contrast."""
    await page.evaluate(
        """() => Promise.all(document.getAnimations()
           .filter((a) => a.effect.getComputedTiming().endTime !== Infinity)
           .map((a) => a.finished.catch(() => undefined)))"""
    )


class Findings:
    """Collects over all screens, so that one run tells everything."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.all: list[str] = []

    async def look(self, screen: str, check: str, found: Any) -> None:
        self.all += [f"{screen}, {check}: {one}" for one in found]

    async def accessible(self, screen: str) -> None:
        await _settled(self._page)
        await self.look(screen, "axe", await _violations(self._page))

    async def fits(self, screen: str) -> None:
        page = self._page
        await self.look(screen, "360 px", await page.evaluate(OVERFLOW))
        await self.look(screen, "targets", await page.evaluate(SMALL))
        root = "document.documentElement"
        await page.evaluate(f"() => {{ {root}.style.fontSize = '200%'; }}")
        await self.look(screen, "text at 200 %", await page.evaluate(OVERFLOW))
        await page.evaluate(f"() => {{ {root}.style.fontSize = ''; {root}.dir = 'rtl'; }}")
        await self.look(screen, "right to left", await page.evaluate(OVERFLOW))
        await page.evaluate(f"() => {{ {root}.dir = 'ltr'; }}")


@pytest.mark.req("UI-57", "TEST-13")
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_screens_outside_are_for_everybody(visit: Visits, scheme: str) -> None:
    async with visit(None, scheme=scheme, viewport=NARROW, open_page=False) as visitor:
        findings = Findings(visitor.page)
        async for screen in tour.outside(visitor):
            await findings.accessible(screen)
            await findings.fits(screen)
        assert findings.all == [], "\n".join(findings.all)


@pytest.mark.req("UI-57", "TEST-13")
@pytest.mark.parametrize(("scheme", "size"), [("light", "phone"), ("dark", "desktop")])
async def test_the_screens_inside_are_for_everybody(visit: Visits, scheme: str, size: str) -> None:
    narrow = {"viewport": NARROW} if size == "phone" else {}
    async with visit("admin", scheme=scheme, size=size, open_page=False, **narrow) as visitor:
        findings = Findings(visitor.page)
        async for screen in tour.inside(visitor):
            await findings.accessible(screen)
            if size == "phone":
                await findings.fits(screen)
            else:
                await findings.look(screen, "1280 px", await visitor.evaluate(OVERFLOW))
        assert findings.all == [], "\n".join(findings.all)


@pytest.mark.req("UI-39", "UI-57")
async def test_changes_are_told_to_a_screen_reader(visit: Visits) -> None:
    async with visit() as visitor:
        toasts = visitor.page.locator("[role=status][aria-live=polite].toasts")
        await expect(toasts).to_be_attached()  # a live region must be there before its first words
        await visitor.start()
        log = visitor.page.get_by_role("log", name="Conversation")
        assert await log.get_attribute("aria-relevant") == "additions"
        await expect(visitor.status).to_have_attribute("role", "status")
        await visitor.page.locator("fieldset label", has_text="Lecture").click()
        await expect(toasts).to_have_text("Style changes apply from the next reply.")
        interim_is_silent = await visitor.evaluate(
            "() => document.querySelector('.status')?.getAttribute('role') === null"
        )
        assert interim_is_silent, "each interim word would be read aloud"
        titles = await visitor.evaluate("() => document.title")
        assert "Pidjin" in titles
        assert await visitor.evaluate("() => document.documentElement.lang") == "en"


@pytest.mark.req("UI-57")
async def test_nothing_moves_for_those_who_ask_for_calm(visit: Visits) -> None:
    async with visit(reduced_motion="reduce") as visitor:
        moving = """() => document.getAnimations()
          .filter((a) => a.playState === 'running' && a.effect.getComputedTiming().duration > 20)
          .map((a) => `${a.animationName ?? a.transitionProperty} ${a.effect.target?.className}`)"""
        found: list[str] = []

        async def late(route: Route) -> None:
            found.extend(await visitor.evaluate(moving))
            await route.continue_()

        await visitor.page.route("**/api/groundDocument", late)
        await visitor.page.route("**/api/dialogueTurn", late)
        await visitor.start()
        await visitor.button("Voice mode (keeps listening)").click()
        await visitor.says("Listening — speak now…")
        found.extend(await visitor.evaluate(moving))
        await visitor.agenda.click()
        found.extend(await visitor.evaluate(moving))
        assert found == []


@pytest.mark.req("UI-57")
async def test_text_of_either_direction_reads_its_own_way(visit: Visits) -> None:
    async with visit() as visitor:
        await visitor.start()
        await visitor.typed("مرحبا، ما هو اللقاح؟")
        direction = "(e) => getComputedStyle(e).direction"
        assert await visitor.learner.last.evaluate(direction) == "rtl"
        assert await visitor.tutor.first.evaluate(direction) == "ltr"
        await visitor.evaluate("() => { document.documentElement.dir = 'rtl'; }")
        assert await visitor.tutor.first.evaluate(direction) == "ltr"
        await visitor.typed("Antibodies fit the surface.")

"""The page itself: the home page, the weight, the first paint, the address, the policy."""

from __future__ import annotations

import asyncio
import re

import pytest
from playwright.async_api import Response, Route, expect

from tests.browser.visit import Visits

pytestmark = [
    pytest.mark.browser,
    pytest.mark.speech,
    pytest.mark.asyncio(loop_scope="session"),
]
BUNDLE_MAX = 60_000
SUB = (
    "Pidjin talks through what’s happening in the world with you — asking before it tells, "
    "so you remember what you learn."
)
CLAIM = (
    "Most learning apps optimize for your next scroll. "
    "This one optimizes for what you remember next week."
)


@pytest.mark.req(
    "HOME-1", "HOME-2", "HOME-3", "HOME-4", "HOME-5", "HOME-6", "HOME-7", "HOME-8", "HOME-9"
)
@pytest.mark.parametrize("size", ["phone", "desktop"])
async def test_the_home_page(visit: Visits, size: str) -> None:
    async with visit(None, size=size, open_page=False) as visitor:
        page = visitor.page
        answer = await page.goto(visitor.server.url + "/")
        assert answer is not None
        assert answer.status == 200
        assert "x-robots-tag" not in answer.headers
        titles = await page.get_by_role("heading").all_text_contents()
        assert titles == [
            "Stop scrolling the news. Start thinking about it.",
            "Remember", "Topics", "News", "Documents",
            "One agent, three ways to learn",
            "Socratic — the default", "Conversational", "Lecture",
            "Pick your mode. Start talking.",
        ]  # fmt: skip
        await expect(page.get_by_role("heading", level=1)).to_have_text(titles[0])
        await visitor.see(SUB)
        await visitor.see(CLAIM)
        hrefs = {
            await link.inner_text(): await link.get_attribute("href")
            for link in await page.get_by_role("link").all()
        }
        assert hrefs["Start a conversation"] == hrefs["Try Pidjin"] == "/web/"
        assert hrefs["Design & technical spec"] == "/SPEC.md"
        await page.get_by_role("link", name="Start a conversation").click()
        await expect(page.get_by_label("E-mail")).to_be_visible()
        await page.go_back()
        await expect(page.get_by_role("heading", level=1)).to_have_text(titles[0])


@pytest.mark.req("HOME-12", "HOME-13", "HOME-14", "HOME-15", "HOME-16")
async def test_the_address_stays_the_same_over_releases(visit: Visits) -> None:
    async with visit() as visitor:
        await expect(visitor.heading("What do you want to remember?")).to_be_visible()
        assert visitor.page.url == visitor.server.url + "/web/"
        length = await visitor.evaluate("() => history.length")
        await visitor.open("/web/0.0.0/")
        await expect(visitor.heading("What do you want to remember?")).to_be_visible()
        assert visitor.page.url == visitor.server.url + "/web/"
        assert await visitor.evaluate("() => history.length") <= length + 1
        script = await visitor.evaluate("() => document.querySelector('script[src]').src")
        assert re.search(r"/web/(\d+\.\d+\.\d+[^/]*/)?app", script), script


async def test_the_app_is_light(visit: Visits) -> None:
    """Everything that a first visit loads, as it travels."""
    async with visit(None, open_page=False) as visitor:
        answers: dict[str, Response] = {}
        visitor.page.on("response", lambda answer: answers.update({answer.url: answer}))
        await visitor.open()
        await expect(visitor.page.get_by_label("E-mail")).to_be_visible()
        sizes: dict[str, int] = {}
        for url, answer in list(answers.items()):
            if "/web/" in url:
                sizes[url] = (await answer.request.sizes())["responseBodySize"]
                packed = answer.headers.get("content-encoding") == "gzip"
                assert packed or answer.status != 200, f"{url} travels unpacked"
        assert any(url.endswith(".js") for url in sizes)
        assert any(url.endswith(".css") for url in sizes)
        assert 0 < sum(sizes.values()) <= BUNDLE_MAX, sizes


async def test_something_is_seen_before_the_server_knows_who_comes(visit: Visits) -> None:
    async with visit(open_page=False) as visitor:
        answered = asyncio.Event()

        async def late(route: Route) -> None:
            await answered.wait()
            await route.continue_()

        await visitor.page.route("**/api/**", late)
        await visitor.open()
        await expect(visitor.page.locator("body")).to_contain_text(re.compile("Pidjin"))
        drawn = await visitor.evaluate(
            "() => performance.getEntriesByName('first-contentful-paint').length"
        )
        assert drawn == 1
        answered.set()
        await expect(visitor.heading("What do you want to remember?")).to_be_visible()


async def test_a_foreign_script_or_style_does_nothing(visit: Visits) -> None:
    """The visit also fails on any breach of the policy by the app itself: the console tells it."""
    async with visit(expected=lambda error: "Content Security Policy" in error) as visitor:
        await visitor.evaluate(
            """() => {
              window.breaches = [];
              document.addEventListener('securitypolicyviolation',
                (breach) => window.breaches.push(breach.effectiveDirective));
              const script = document.createElement('script');
              script.textContent = 'window.ran = true';
              document.body.append(script);
              document.body.insertAdjacentHTML('beforeend',
                '<p id="evil" style="color: red" onclick="window.ran = true">x</p>');
              document.querySelector('#evil').click();
            }"""
        )
        await visitor.page.wait_for_function("() => window.breaches.length >= 3")
        assert await visitor.evaluate("() => window.ran === undefined")


async def test_what_people_write_stays_text(visit: Visits) -> None:
    markup = "<img src=x onerror='window.ran=1'> **bold** [link](javascript:window.ran=1)"
    async with visit() as visitor:
        await visitor.start(f"# Tags {markup}\n\n1. {markup} is one point.\n2. Nothing more.")
        await visitor.typed(markup)
        await expect(visitor.learner).to_have_text([markup])
        await visitor.agenda.click()
        await visitor.page.keyboard.press("Escape")
        await visitor.tab("History")
        await expect(visitor.page.locator("main img")).to_have_count(0)
        assert await visitor.evaluate("() => window.ran === undefined")


async def test_a_dialog_keeps_up_with_fast_fingers(visit: Visits) -> None:
    """It opens before the next key is read; opened again at once, it stays open."""
    async with visit() as visitor:
        await visitor.start("# Bees\n\n1. Bees dance.\n2. The dance tells where flowers are.")
        seen = await visitor.evaluate(
            """async () => {
              const dialog = document.querySelector('dialog.agenda');
              const opener = dialog.previousElementSibling;
              const rendered = async () => { for (let i = 0; i < 9; i++) await null; };
              const seen = [];
              opener.click();
              await rendered();
              seen.push(dialog.open);
              dialog.dispatchEvent(new Event('cancel', { cancelable: true }));
              await rendered();
              seen.push(dialog.open);
              opener.click();
              await rendered();
              await new Promise((done) => setTimeout(done, 100));
              seen.push(dialog.open);
              return seen;
            }"""
        )
        assert seen == [True, False, True]

"""Pictures of every screen into screenshots/: phone and desktop, light and dark.

Starts a server of its own (embedded default, local tutor, scratch data) and drives Debian's
Chromium through it as a learner and as an admin would.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.async_api import Browser, Page, async_playwright

ROOT = Path(__file__).parent.parent
OUT = ROOT / "screenshots"
TOKEN = "screenshots-admin-bearer"  # noqa: S105  a loopback server that lives for a minute
READY_S = 60.0
SIZES = {"phone": (390, 844), "desktop": (1280, 800)}
SCHEMES = ("light", "dark")
DOCUMENT = """\
How vaccines train the immune system

A vaccine shows the immune system a harmless piece of a germ, such as a protein from its surface.
Because the piece cannot cause the disease, the body can practise without danger.

When immune cells meet the piece, some of them make antibodies. Antibodies fit the surface of the
germ like a key fits a lock, and they block it from entering cells.

After the first response is over, memory cells remain for years. If the real germ arrives later,
they start the defence within hours instead of days.

When enough people in a community are immune, a germ cannot find new hosts and stops spreading.
"""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running_server() -> Iterator[str]:
    port = _free_port()
    with tempfile.TemporaryDirectory() as home:
        environment = {
            **os.environ,
            "PIDJIN_PORT": str(port),
            "PIDJIN_DATA_DIR": home,
            "PIDJIN_DEV_TOKEN": TOKEN,
            "PIDJIN_LOG_LEVEL": "ERROR",
        }
        process = subprocess.Popen([sys.executable, "-m", "server"], cwd=ROOT, env=environment)
        try:
            end = time.monotonic() + READY_S
            while True:
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=2):
                        break
                except (urllib.error.URLError, ConnectionError):
                    if process.poll() is not None or time.monotonic() > end:
                        raise RuntimeError("the server did not become ready") from None
                    time.sleep(0.2)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(30)


class Gallery:
    """One pass through the product at one size and colour scheme."""

    def __init__(self, page: Page, url: str, suffix: str) -> None:
        self._page, self._url, self._suffix = page, url, suffix
        self._count = 0

    async def shot(self, name: str) -> None:
        self._count += 1
        await self._page.wait_for_timeout(350)  # transitions
        path = OUT / f"{self._count:02}-{name}-{self._suffix}.png"
        await self._page.screenshot(path=path)

    async def home(self) -> None:
        await self._page.goto(self._url + "/")
        await self.shot("home")

    async def sign_in(self, email: str) -> None:
        page = self._page
        await page.goto(self._url + "/web/")
        await page.wait_for_selector("input[name=name]")
        await self.shot("sign-in")
        await page.fill("input[name=name]", "Ada")
        await page.fill("input[name=email]", email)
        await page.click("form .button")
        await page.wait_for_selector(".gate-card")
        await self.shot("gate")
        await self._approve(email)
        await page.wait_for_selector("#picker-title", timeout=15_000)
        await self.shot("picker")

    async def _approve(self, email: str) -> None:
        request, headers = self._page.request, {"Authorization": f"Bearer {TOKEN}"}
        listed = await request.get(f"{self._url}/api/admin/users", headers=headers)
        users = (await listed.json())["users"]
        uid = next(user["uid"] for user in users if user["email"] == email)
        path = f"{self._url}/api/admin/users/{uid}/approve"
        assert (await request.post(path, headers=headers, data={})).ok

    async def lesson(self) -> None:
        page = self._page
        await page.click("text=Document — file or paste")
        await self.shot("picker-document")
        await page.fill("textarea.paste", DOCUMENT)
        await page.click("text=Start Conversation")
        await page.wait_for_selector(".said.tutor .words", timeout=15_000)
        await self.shot("chat")
        tutor = page.locator(".said.tutor .words")
        for number, answer in enumerate(
            ("A vaccine shows the body a harmless piece of the germ.", "I don't know."), 2
        ):
            await page.fill(".composer textarea", answer)
            await page.keyboard.press("Enter")
            await tutor.nth(number - 1).wait_for(timeout=15_000)
        await self.shot("chat-typed")
        await page.click('.voice button[title^="Agenda"]')
        await self.shot("agenda")
        await page.keyboard.press("Escape")

    async def history(self) -> None:
        page = self._page
        await page.click(".nav button:nth-of-type(2)")
        await page.wait_for_selector("button[title=Delete]")
        await self.shot("history")
        await page.click("button[title=Delete]")
        await self.shot("history-delete")
        await page.keyboard.press("Escape")


async def _one(browser: Browser, url: str, size: str, scheme: str) -> None:
    width, height = SIZES[size]
    context = await browser.new_context(
        viewport={"width": width, "height": height},
        device_scale_factor=2 if size == "phone" else 1,
        color_scheme="dark" if scheme == "dark" else "light",
    )
    gallery = Gallery(await context.new_page(), url, f"{size}-{scheme}")
    await gallery.home()
    await gallery.sign_in(f"ada.{size}.{scheme}@example.org")
    await gallery.lesson()
    await gallery.history()
    await context.close()


async def main() -> None:
    OUT.mkdir(exist_ok=True)
    with running_server() as url:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
            )
            for size in SIZES:
                for scheme in SCHEMES:
                    await _one(browser, url, size, scheme)
            await browser.close()
    print(f"{len(list(OUT.glob('*.png')))} pictures in {OUT.relative_to(ROOT)}/")


if __name__ == "__main__":
    asyncio.run(main())

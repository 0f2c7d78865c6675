"""Real browsers, and what a person does with a page in each of them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, ConsoleMessage, Page, Playwright

from tests.browser.sound import SoundCard
from tests.browser.waiting import need, until
from tests.browser.webkit import MINI_BROWSER, WebKit, webkit

HERE = Path(__file__).parent
SHOTS = HERE.parent.parent / "screenshots"
CHROMIUM = "/usr/bin/chromium"
FIREFOX = "/usr/bin/firefox-esr"
# Answers every question for the microphone with yes, before it is asked.
CONSENT = "--use-fake-ui-for-media-stream"
CHROMIUM_FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--allow-loopback-in-peer-connection", CONSENT,
]  # fmt: skip
FIREFOX_PREFERENCES: dict[str, str | float | bool] = {
    "media.navigator.permission.disabled": True,
    "media.peerconnection.ice.loopback": True,
    "media.peerconnection.ice.obfuscate_host_addresses": False,
    "app.normandy.enabled": False,
}
PARTS = {
    "chromium": [CHROMIUM],
    # The same, asking for the microphone as on anybody's machine.
    "chromium-asking": [CHROMIUM],
    "firefox": [FIREFOX],
    "webkit": ["WebKitWebDriver", MINI_BROWSER, "Xvfb"],
}


class Launcher:
    """Starts each browser once, when first asked for; another card means another browser."""

    def __init__(self, playwright: Playwright) -> None:
        self._playwright = playwright
        self._running: dict[tuple[str, str], Browser] = {}

    async def __call__(self, kind: str, card: SoundCard | None = None) -> Browser:
        key = kind, str(card.home) if card else ""
        if key not in self._running:
            need(*PARTS[kind])
            environment = card.environment if card else dict(os.environ)
            self._running[key] = await self._start(kind, environment)
        return self._running[key]

    async def _start(self, kind: str, environment: dict[str, str]) -> Browser:
        env: dict[str, str | float | bool] = {**environment}
        if kind.startswith("chromium"):
            flags = CHROMIUM_FLAGS if kind == "chromium" else [*set(CHROMIUM_FLAGS) - {CONSENT}]
            return await self._playwright.chromium.launch(
                executable_path=CHROMIUM,
                args=flags,
                ignore_default_args=["--mute-audio"],
                env=env,
            )
        return await self._playwright.firefox.launch(
            channel="moz-firefox",
            executable_path=FIREFOX,
            firefox_user_prefs=FIREFOX_PREFERENCES,
            timeout=120_000,
            env=env,
        )

    async def close(self) -> None:
        for browser in self._running.values():
            await browser.close()


class Device:
    """What a person does with a page, the same in every browser."""

    def __init__(self, page: Page) -> None:
        self.page = page

    async def open(self, url: str) -> None:
        await self.page.goto(url)

    async def tap(self, css: str) -> None:
        await self.page.click(css)

    async def fill(self, css: str, text: str) -> None:
        await self.page.fill(css, text)

    async def evaluate(self, expression: str) -> Any:
        return await self.page.evaluate(expression)

    async def reload(self) -> None:
        await self.page.reload()

    async def shot(self, path: Path) -> None:
        await self.page.screenshot(path=path)

    async def texts(self, css: str) -> list[str]:
        """The visible text of every match, in document order."""
        found = await self.evaluate(
            f"[...document.querySelectorAll({css!r})].map((e) => e.innerText.trim())"
        )
        return [str(text) for text in found]

    async def text(self, css: str) -> str:
        found = await self.texts(css)
        return found[-1] if found else ""


def complains(said: ConsoleMessage) -> bool:
    """A refused call (401 before the sign-in) is told by the browser itself, not by the page."""
    return said.type == "error" and not said.text.startswith("Failed to load resource")


class WebKitDevice(Device):
    def __init__(self, browser: WebKit) -> None:
        self.browser = browser

    async def open(self, url: str) -> None:
        await self.browser.goto(url)
        await self.browser.run((HERE / "rtc_shim.js").read_text())

    async def tap(self, css: str) -> None:
        await self.browser.click(css)

    async def fill(self, css: str, text: str) -> None:
        await self.browser.fill(css, text)

    async def evaluate(self, expression: str) -> Any:
        return await self.browser.evaluate(expression)

    async def reload(self) -> None:
        await self.browser.run("location.reload()")
        await until(lambda: self.evaluate("document.readyState === 'complete'"), "reloaded")
        await self.browser.run((HERE / "rtc_shim.js").read_text())

    async def shot(self, path: Path) -> None:
        await self.browser.screenshot(path)


@contextlib.asynccontextmanager
async def _pictured(page: Device, kind: str) -> AsyncIterator[Device]:
    """A test that fails leaves a picture of its page: screenshots/failed-<browser>.png."""
    try:
        yield page
    except BaseException:
        SHOTS.mkdir(exist_ok=True)
        with contextlib.suppress(Exception):  # the browser itself may be what failed
            await page.shot(SHOTS / f"failed-{kind}.png")
        raise


@contextlib.asynccontextmanager
async def device(
    kind: str,
    launch: Launcher,
    *,
    card: SoundCard | None = None,
    width: int = 390,
    height: int = 844,
) -> AsyncIterator[Device]:
    """A fresh browser profile: nobody is signed in."""
    if kind == "webkit":
        need(*PARTS[kind])
        async with webkit() as browser:
            await browser.size(width, height)
            async with _pictured(WebKitDevice(browser), kind) as page:
                yield page
        return
    context = await (await launch(kind, card)).new_context(
        viewport={"width": width, "height": height}, device_scale_factor=2
    )
    context.set_default_timeout(20_000)
    try:
        tab = await context.new_page()
        errors: list[str] = []
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.on("console", lambda said: errors.append(said.text) if complains(said) else None)
        async with _pictured(Device(tab), kind) as page:
            yield page
        assert errors == []
    finally:
        await context.close()

"""Real browsers, a real sound card's stand-in, and the server in a process of its own.

A missing browser is a skip that says what to install; in CI it is a failure.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
import wave
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
import pytest_asyncio
from playwright.async_api import Browser, ConsoleMessage, Page, Playwright, async_playwright

from tests.browser.sound import SoundCard
from tests.browser.webkit import MINI_BROWSER, WebKit, free_port, webkit
from tests.rig import DEV_TOKEN, spoken

if TYPE_CHECKING:
    from tests.browser.visit import Visits

HERE = Path(__file__).parent
SHOTS = HERE.parent.parent / "screenshots"
READY_S = 120.0
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


def need(*programs: str) -> None:
    """Skips (in CI: fails) when a program is missing, with the line that installs it."""
    _need([program for program in programs if shutil.which(program) is None])


def need_file(file: Path) -> None:
    """The same for data."""
    _need([] if file.exists() else [str(file)])


def _need(missing: list[str]) -> None:
    if missing:
        reason = f"not installed: {', '.join(missing)} (make system-deps)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)


@pytest.fixture(scope="session")
def card() -> Iterator[SoundCard]:
    """The card of the only learner; programs of this process use it unless told otherwise."""
    need("pulseaudio", "pactl", "parec", "paplay")
    with SoundCard() as card, pytest.MonkeyPatch.context() as patch:
        for name in ("PULSE_SERVER", "XDG_RUNTIME_DIR"):
            patch.setenv(name, card.environment[name])
        yield card


@pytest.fixture
def other_card() -> Iterator[SoundCard]:
    """Another learner's, in another room."""
    need("pulseaudio", "pactl", "parec", "paplay")
    with SoundCard() as card:
        yield card


@dataclass
class Server:
    """The process under test: what an operator does with it."""

    url: str
    log: Path
    environment: dict[str, str]
    process: subprocess.Popen[bytes] | None = None

    def boot(self) -> None:
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.browser.serve"],
                env=self.environment, stdout=out, stderr=subprocess.STDOUT, cwd=HERE.parent.parent,
            )  # fmt: skip
        _await_ready(self.url + "/readyz", self.process, self.log)

    def halt(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(30)

    def kill(self) -> None:
        """As a power cut: no goodbye to anybody."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(30)

    async def daily_cap(self, calls: int | None) -> None:
        """Calls of a model that a person may make a day; None is the default again."""
        key = "dailyGeminiCallCap"
        if calls is None:
            await self.command("config", "unset", key)
        else:
            await self.command("config", "set", key, str(calls))
        wanted = 1000 if calls is None else calls

        async def known() -> bool:
            return bool((await self.admin("/api/config"))[key] == wanted)

        await until(known, "the configuration is read again")

    async def command(self, *words: str) -> str:
        """What `pidjin WORDS` prints, beside the running server."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "server", *words, env=self.environment, cwd=HERE.parent.parent,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, error = await process.communicate()
        assert process.returncode == 0, error.decode()
        return out.decode().strip()

    async def admin_link(self) -> str:
        """A one-time sign-in link of the bootstrap admin."""
        return (await self.command("link", "--url", self.url)).splitlines()[-1]

    async def admin(self, path: str, body: Any = None, method: str = "") -> Any:
        headers = {"Authorization": f"Bearer {DEV_TOKEN}"}
        method = method or ("GET" if body is None else "POST")
        async with (
            aiohttp.ClientSession() as http,
            http.request(method, self.url + path, headers=headers, json=body) as response,
        ):
            answer = await response.json()
            assert response.status == 200, answer
            return answer

    async def approve(self, email: str) -> str:
        users = (await self.admin("/api/admin/users?role=pending"))["users"]
        uid = next(user["uid"] for user in users if user["email"] == email)
        await self.admin("/api/approveUser", {"uid": uid})
        return str(uid)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, card: SoundCard) -> Iterator[Server]:
    """The whole product on the embedded default: local tutor, local speech, SQLite."""
    home = tmp_path_factory.mktemp("server")
    port = free_port()
    log = home / "server.log"
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("PIDJIN_", "GEMINI_"))},
        "PIDJIN_DATA_DIR": str(home / "data"),
        "PIDJIN_PORT": str(port),
        "PIDJIN_DEV_TOKEN": DEV_TOKEN,
    }
    server = Server(f"http://127.0.0.1:{port}", log, environment)
    try:
        server.boot()
        yield server
    finally:
        server.halt()
    # Whatever happened on the pages, the server did not complain about itself.
    text = log.read_text()
    assert "Traceback" not in text, text[-4000:]
    assert "never retrieved" not in text, text[-4000:]


def _await_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + READY_S
    while True:
        with (
            contextlib.suppress(urllib.error.URLError, ConnectionError, TimeoutError),
            urllib.request.urlopen(url, timeout=2) as response,
        ):
            if response.status == 200:
                return
        assert process.poll() is None, log.read_text()[-4000:]
        assert time.monotonic() < end, "the server did not become ready"
        time.sleep(0.1)


@pytest.fixture(scope="session")
def visit(launch: Launcher, server: Server) -> Visits:
    from tests.browser.visit import Visits

    return Visits(launch, server)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def playwright(card: SoundCard) -> AsyncIterator[Playwright]:
    async with async_playwright() as running:
        yield running


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


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def launch(playwright: Playwright) -> AsyncIterator[Launcher]:
    launcher = Launcher(playwright)
    yield launcher
    await launcher.close()


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


async def until(probe: Callable[[], Awaitable[Any]], what: str, within: float = 30.0) -> Any:
    """The first true answer of `probe`; a loaded two-core machine needs generous limits."""
    end = time.monotonic() + within
    while True:
        answer = await probe()
        if answer:
            return answer
        assert time.monotonic() < end, f"not within {within} s: {what}"
        await asyncio.sleep(0.1)


@pytest.fixture(scope="session")
def line(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A WAV file of a learner saying a sentence (48 kHz mono)."""
    folder = tmp_path_factory.mktemp("lines")

    def make(text: str) -> Path:
        path = folder / f"{abs(hash(text))}.wav"
        if not path.exists():
            with wave.open(str(path), "wb") as out:
                out.setnchannels(1)
                out.setsampwidth(2)
                out.setframerate(48_000)
                out.writeframes(spoken(text))
        return path

    return make

"""A person at a page in Chromium, found by what is read and heard: roles, names, visible words.

Every visit also checks what holds on all pages: no error in the console (a breach of the content
security policy is one), and no request to another origin.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, BrowserContext, Locator, Page, Request, expect

from tests.browser.devices import SHOTS, complains
from tests.browser.server_process import Server
from tests.npm import NODE
from tests.rig import DOCUMENT

SIZES = {"phone": (390, 844), "desktop": (1280, 800)}
WAIT_MS = 30_000
LIVE = "[role=status], [role=alert], [role=log], [aria-live=polite], [aria-live=assertive]"
MOONS = """\
Ariel Bianca Cupid Desdemona Elara Fenrir Ganymede Helene Io Juliet
Kale Larissa Mimas Nereid Oberon Pandora Rhea Setebos Titan Umbriel"""
TWENTY_POINTS = "# Twenty moons\n\n" + "\n".join(
    f"{days}. Moon {name} circles its planet once in {days} days."
    for days, name in enumerate(MOONS.split(), 1)
)
# A breach in the console of its own words, also where a browser would only report it.
BREACHES = """document.addEventListener('securitypolicyviolation', (breach) =>
  console.error(`Content Security Policy: ${breach.violatedDirective} ${breach.blockedURI}`));"""
_addresses = itertools.count(1)
_emails = itertools.count(1)
ROOT = Path(__file__).parent.parent.parent

expect.set_options(timeout=WAIT_MS)


@cache
def words() -> dict[str, Any]:
    """The client's own table of strings, for texts that no requirement fixes word by word."""
    source = ROOT / "client" / "src" / "strings.ts"
    script = f"console.log(JSON.stringify((await import({json.dumps(source.as_uri())})).S))"
    out = subprocess.run(
        [NODE, "--no-warnings", "--input-type=module", "-e", script],
        capture_output=True,
        check=True,
    )
    return dict(json.loads(out.stdout))


class Visitor:
    def __init__(self, page: Page, server: Server) -> None:
        self.page, self.server = page, server
        self.uid = self.email = ""

    # --- arriving -----------------------------------------------------------------------------

    async def join(self, role: str, name: str = "Ada") -> None:
        """Signs this browser up over HTTP; `role` is what an admin made of it."""
        request = self.page.context.request
        if role == "admin":
            code = (await self.server.admin_link()).rsplit("/", 1)[-1]
            answer = await request.post(self.server.url + "/api/redeemLink", data={"code": code})
            assert answer.ok, await answer.text()
            return
        self.email = f"{name.lower()}.{next(_emails)}@example.org"
        answer = await request.post(
            self.server.url + "/api/signUp", data={"displayName": name, "email": self.email}
        )
        assert answer.ok, await answer.text()
        self.uid = str((await answer.json())["user"]["uid"])
        if role != "pending":
            await self.decide({"approved": "approveUser", "rejected": "rejectUser"}[role])

    async def decide(self, operation: str) -> None:
        await self.server.admin(f"/api/{operation}", {"uid": self.uid})

    async def open(self, path: str = "/web/") -> None:
        await self.page.goto(self.server.url + path)

    # --- finding ------------------------------------------------------------------------------

    def button(self, name: str | re.Pattern[str]) -> Locator:
        return self.page.get_by_role("button", name=name, exact=isinstance(name, str))

    def text(self, text: str | re.Pattern[str]) -> Locator:
        return self.page.get_by_text(text, exact=isinstance(text, str)).first

    def heading(self, name: str) -> Locator:
        return self.page.get_by_role("heading", name=name, exact=True)

    @property
    def tutor(self) -> Locator:
        return self.page.get_by_role("article", name="Pidjin", exact=True).locator(".words")

    @property
    def learner(self) -> Locator:
        return self.page.get_by_role("article", name="You", exact=True).locator(".words")

    @property
    def dialog(self) -> Locator:
        return self.page.get_by_role("dialog")

    @property
    def cluster(self) -> Locator:
        return self.page.get_by_role("region", name="Voice", exact=True)

    @property
    def status(self) -> Locator:
        return self.cluster.locator(".status-line")

    @property
    def composer(self) -> Locator:
        return self.page.get_by_role("textbox", name="Message", exact=True)

    @property
    def agenda(self) -> Locator:
        return self.cluster.get_by_role("button", name=re.compile(r"^(Agenda|The agenda)"))

    async def see(self, text: str | re.Pattern[str]) -> None:
        await expect(self.text(text)).to_be_visible()

    async def says(self, status: str | re.Pattern[str]) -> None:
        """Waits for the status line of the voice cluster."""
        await expect(self.status).to_have_text(status)

    async def toast(self, text: str | re.Pattern[str]) -> None:
        shown = self.page.locator(".toasts").get_by_text(text, exact=isinstance(text, str))
        await expect(shown.first).to_be_visible()

    async def announced(self, text: str | re.Pattern[str]) -> None:
        """It is seen, and in a place that a screen reader reads out by itself."""
        await expect(self.page.locator(LIVE).filter(has_text=text).first).to_be_visible()

    async def hung_up(self) -> None:
        """Voice is off and the microphone with it."""
        await self.page.wait_for_function("() => !document.querySelector('#tutor-voice').srcObject")

    # --- doing --------------------------------------------------------------------------------

    async def tab(self, name: str) -> None:
        navigation = self.page.get_by_role("navigation", name="Main", exact=True)
        await navigation.get_by_role("button", name=name, exact=True).click()

    async def paste(self, text: str) -> None:
        await self.button("Document — file or paste").click()
        await self.page.get_by_role("textbox", name="…or paste the text here").fill(text)

    async def start(self, text: str = DOCUMENT) -> None:
        """A conversation about a pasted document, up to the tutor's opening turn."""
        await self.paste(text)
        await self.button("Start Conversation").click()
        await expect(self.tutor).to_have_count(1)
        await self.says("Tap the mic to talk, or type below.")

    async def type(self, text: str) -> None:
        await self.composer.fill(text)
        await self.composer.press("Enter")

    async def typed(self, text: str) -> str:
        """A typed turn and the tutor's answer to it."""
        before = await self.tutor.count()
        await self.type(text)
        await expect(self.tutor).to_have_count(before + 1)
        await expect(self.status).not_to_have_text("Thinking…")
        return await self.tutor.last.inner_text()

    async def menu(self, item: str) -> None:
        await self.button("More").click()
        await self.button(item).click()

    async def evaluate(self, script: str, argument: Any = None) -> Any:
        return await self.page.evaluate(script, argument)


class Visits:
    """Opens pages in contexts of one browser; each is another person with another address."""

    def __init__(self, launch: Callable[[str], Awaitable[Browser]], server: Server) -> None:
        self._launch, self._server = launch, server
        self._admin: Any = None

    @contextlib.asynccontextmanager
    async def __call__(
        self,
        role: str | None = "approved",
        *,
        size: str = "phone",
        scheme: str = "light",
        expected: Callable[[str], bool] = lambda error: False,
        open_page: bool = True,
        browser: Browser | None = None,
        **more: Any,
    ) -> AsyncIterator[Visitor]:
        """`role` None is somebody unknown; `expected` lets console errors of a test's own pass;
        `browser` is another one than all visits share."""
        width, height = SIZES[size]
        options: dict[str, Any] = {
            "viewport": {"width": width, "height": height},
            "has_touch": size == "phone",
            "color_scheme": scheme,
            "permissions": ["microphone"],
            # One address per person: the sign-in limit counts addresses.
            "extra_http_headers": {"X-Forwarded-For": f"10.0.0.{next(_addresses)}"},
        }
        browser = browser or await self._launch("chromium")
        context = await browser.new_context(**{**options, **more})
        context.set_default_timeout(WAIT_MS)
        await context.add_init_script(BREACHES)
        problems: list[str] = []
        strangers = _watch(context, self._server.url)
        try:
            page = await context.new_page()
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.on("console", lambda said: problems.append(said.text) if complains(said) else None)
            visitor = Visitor(page, self._server)
            try:
                if role == "admin" and self._admin is not None:
                    await context.add_cookies(self._admin)
                elif role is not None:
                    await visitor.join(role)
                if role == "admin":
                    self._admin = await context.cookies()
                if open_page:
                    await visitor.open()
                yield visitor
            except BaseException:
                SHOTS.mkdir(exist_ok=True)
                with contextlib.suppress(Exception):  # the browser itself may be what failed
                    await page.screenshot(path=SHOTS / "failed-chromium.png")
                raise
            assert [problem for problem in problems if not expected(problem)] == []
            assert strangers == [], "the page asked another origin"
        finally:
            await context.close()


def _watch(context: BrowserContext, origin: str) -> list[str]:
    strangers: list[str] = []

    def asked(request: Request) -> None:
        own = request.url.startswith((origin + "/", "data:", "blob:"))
        if not own:
            strangers.append(request.url)

    context.on("request", asked)
    return strangers

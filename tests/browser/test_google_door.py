"""In and out through Google in real browsers: another site's page lies between, cookies hold."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from playwright.async_api import Page, expect

from server.app import build_app
from server.local_model import ModelAccess
from server.pages import CLIENT_DIST
from server.settings import Settings
from tests.browser.devices import Launcher
from tests.browser.visit import words
from tests.browser.webkit import free_port
from tests.fake_identity import API_KEY, PROJECT, FakeIdentity, fake_identity

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


@asynccontextmanager
async def no_models() -> AsyncIterator[ModelAccess]:
    yield ModelAccess(lambda: "a-key", "https://127.0.0.1:9", None, local=False)


@asynccontextmanager
async def house(folder: Path, google: FakeIdentity) -> AsyncIterator[str]:
    """A server whose people sign in with Google, and its address."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    settings = Settings(
        data_dir=folder,
        port=port,
        identity="firebase",
        firebase_project=PROJECT,
        firebase_api_key=API_KEY,
        public_url=url,
        admin_email="ada@example.org",
    )
    app = build_app(settings, models=no_models, client=CLIENT_DIST)
    async with TestServer(app, host="127.0.0.1", port=port):
        yield url


def consent_page(google: FakeIdentity) -> web.AbstractRouteDef:
    """Google's own page."""

    async def page(request: web.Request) -> web.Response:
        here = str(request.url)
        return web.Response(
            text=f'<h1>Choose an account</h1><a href="{google.consent(here)}">Ada</a>'
            f'<a href="{google.deny(here)}">Cancel</a>',
            content_type="text/html",
        )

    return web.get("/o/oauth2/auth", page)


@asynccontextmanager
async def page_of(launch: Launcher, kind: str) -> AsyncIterator[Page]:
    context = await (await launch(kind)).new_context()
    try:
        yield await context.new_page()
    finally:
        await context.close()


@pytest.mark.req("AUTH-1", "AUTH-4", "AUTH-24", "AUTH-25", "UI-5")
@pytest.mark.parametrize("kind", ["chromium", "firefox"])
async def test_in_and_out_through_google(
    launch: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Google's page is on another site (localhost), so that cookies show what they are."""
    async with fake_identity(monkeypatch, page=consent_page) as google:
        google.url = google.url.replace("127.0.0.1", "localhost")
        async with house(tmp_path, google) as url, page_of(launch, kind) as page:
            await page.goto(f"{url}/web/")
            await page.get_by_role("link", name=words()["googleContinue"]).click()
            await page.get_by_role("link", name="Cancel").click()
            await expect(page.get_by_role("alert")).to_have_text(words()["googleCancelled"])

            await page.get_by_role("link", name=words()["googleContinue"]).click()
            await expect(page.get_by_role("heading", name="Choose an account")).to_be_visible()
            await page.get_by_role("link", name="Ada").click()
            await expect(page.get_by_role("navigation")).to_be_visible()
            cookies = {one["name"]: one for one in await page.context.cookies(url)}
            assert set(cookies) == {"pidjin_session", "pidjin_csrf"}
            assert cookies["pidjin_session"]["httpOnly"]
            assert cookies["pidjin_session"]["sameSite"] == "Strict"

            await page.reload()
            await expect(page.get_by_role("navigation")).to_be_visible()
            await page.get_by_role("button", name="More").click()
            await page.get_by_text("Sign out…").click()
            await page.get_by_role("dialog").get_by_role("button", name="Sign out").click()
            await expect(page.get_by_role("link", name=words()["googleContinue"])).to_be_visible()
            assert await page.context.cookies(url) == []

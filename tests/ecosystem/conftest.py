"""A page with the stock client of the ecosystem, bundled once, served by the real server."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

from hatch_build import npm
from tests.browser.conftest import line
from tests.browser.devices import CHROMIUM, CHROMIUM_FLAGS
from tests.browser.server_process import Server, await_ready
from tests.browser.sound import SoundCard
from tests.browser.waiting import need
from tests.browser.webkit import free_port
from tests.npm import install
from tests.rig import DEV_TOKEN, DOCUMENT

__all__ = ["line"]

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's script: our few lines and the published packages, byte for byte."""
    script = tmp_path_factory.mktemp("stock") / "page.js"
    install(HERE)
    npm(HERE, "run", "--silent", "build", "--", f"--outfile={script}")
    return script


@pytest.fixture(scope="module")
def card() -> Iterator[SoundCard]:
    need("pulseaudio", "pactl", "parec", "paplay")
    with SoundCard() as card:
        yield card


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, bundle: Path) -> Iterator[Server]:
    """The product on its embedded default, with `/stock/` beside it."""
    home = tmp_path_factory.mktemp("server")
    port, log = free_port(), home / "server.log"
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("PIDJIN_", "GEMINI_"))},
        "PIDJIN_DATA_DIR": str(home / "data"),
        "PIDJIN_PORT": str(port),
        "PIDJIN_DEV_TOKEN": DEV_TOKEN,
    }
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.ecosystem.serve", str(bundle)],
            env=environment, stdout=out, stderr=subprocess.STDOUT, cwd=HERE.parent.parent,
        )  # fmt: skip
        try:
            await_ready(f"http://127.0.0.1:{port}/readyz", process, log)
            yield Server(f"http://127.0.0.1:{port}", log, environment)
        finally:
            process.terminate()
            process.wait(30)
    text = log.read_text()
    assert "Traceback" not in text, text[-4000:]
    assert "never retrieved" not in text, text[-4000:]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chromium(card: SoundCard) -> AsyncIterator[Browser]:
    need(CHROMIUM)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=CHROMIUM_FLAGS,
            ignore_default_args=["--mute-audio"],
            env={**card.environment},
        )
        try:
            yield browser
        finally:
            await browser.close()


class Learner:
    """An approved person with a bearer token and a document to talk about."""

    def __init__(self, url: str, token: str) -> None:
        self.url, self.token = url, token
        self.topic_id = ""

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        async with (
            aiohttp.ClientSession() as http,
            http.request(method, self.url + path, headers=headers, json=body) as response,
        ):
            answer = await response.json()
            assert response.status == 200, answer
            return answer


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def learner(server: Server) -> Learner:
    email = "visitor@example.org"
    signed = await Learner(server.url, "").ask(
        "POST", "/api/signUp", {"displayName": "Visitor", "email": email}
    )
    await server.approve(email)
    learner = Learner(server.url, signed["token"])
    body = {"title": "Vaccines", "text": DOCUMENT}
    learner.topic_id = (await learner.ask("POST", "/api/groundDocument", body))["topicId"]
    return learner

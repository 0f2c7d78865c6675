"""Real browsers, a real sound card's stand-in, and the server in a process of its own.

A missing browser is a skip that says what to install; in CI it is a failure.
"""

from __future__ import annotations

import os
import wave
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from playwright.async_api import Playwright, async_playwright

from tests.browser.devices import Launcher
from tests.browser.server_process import Server
from tests.browser.sound import SoundCard
from tests.browser.waiting import need
from tests.browser.webkit import free_port
from tests.rig import DEV_TOKEN, spoken

if TYPE_CHECKING:
    from tests.browser.visit import Visits


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


@pytest.fixture(scope="session")
def visit(launch: Launcher, server: Server) -> Visits:
    from tests.browser.visit import Visits

    return Visits(launch, server)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def playwright(card: SoundCard) -> AsyncIterator[Playwright]:
    async with async_playwright() as running:
        yield running


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def launch(playwright: Playwright) -> AsyncIterator[Launcher]:
    launcher = Launcher(playwright)
    yield launcher
    await launcher.close()


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

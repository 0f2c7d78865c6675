"""The product as somebody starts it: one process with its defaults, on a scratch data folder."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest

from tests.rig import Person

READY_S = 120.0
EXIT_S = 30.0


@dataclass
class Product:
    """A running process. `url` and `code` are what it printed until it was ready (`printed`)."""

    url: str
    code: str
    printed: str
    environment: dict[str, str]

    async def type(self, *words: str) -> str:
        """stdout of an operator's command beside it, which must succeed."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "server"),
            *words,
            env=self.environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        out, _ = await asyncio.wait_for(process.communicate(), READY_S)
        assert process.returncode == 0, out.decode()
        return out.decode()


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """No key, no account: the local tutor. It must stop in order, and without a trace of errors."""
    folder = tmp_path_factory.mktemp("smoke")
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    environment = {**kept, "PIDJIN_PORT": "0", "PIDJIN_DATA_DIR": str(folder / "data")}
    printed = folder / "printed.txt"
    with printed.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "server"], env=environment, stdout=out, stderr=out
        )
    try:
        url, code = _link(process, printed).split("/web/#/signin/")
        yield Product(url, code, printed.read_text(), environment)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(EXIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    text = printed.read_text()
    assert process.returncode == 0, text
    assert "Traceback" not in text, text
    assert " ERROR " not in text, text


def _link(process: subprocess.Popen[bytes], printed: Path) -> str:
    end = time.monotonic() + READY_S
    while time.monotonic() < end:
        for line in printed.read_text().splitlines():
            if "/signin/" in line:
                return line.strip()
        assert process.poll() is None, printed.read_text()
        time.sleep(0.05)
    raise AssertionError(f"not ready within {READY_S} s: {printed.read_text()}")


@dataclass
class Door:
    """What the rig's Person needs of a house: an address and a client."""

    url: str
    http: aiohttp.ClientSession


class Town:
    """People who come to the product, by HTTP alone."""

    def __init__(self, door: Door) -> None:
        self.door = door

    async def sign_up(self, name: str) -> Person:
        body = {"displayName": name, "email": f"{name.lower()}@example.org"}
        async with self.door.http.post(self.door.url + "/api/signUp", json=body) as response:
            answer = await response.json()
            assert response.status == 200, answer
        return Person(self.door, answer["user"]["uid"], answer["token"])  # type: ignore[arg-type]

    async def learner(self, name: str, admin: Person) -> Person:
        person = await self.sign_up(name)
        await admin.ok("approveUser", uid=person.uid)
        return person


@asynccontextmanager
async def town_of(product: Product) -> AsyncIterator[Town]:
    jar = aiohttp.DummyCookieJar()
    async with aiohttp.ClientSession(cookie_jar=jar) as http:
        yield Town(Door(product.url, http))


@pytest.fixture
async def town(product: Product) -> AsyncIterator[Town]:
    async with town_of(product) as opened:
        yield opened


@pytest.fixture
async def admin(product: Product, town: Town) -> Person:
    """Signed in by a link of the operator's; the printed one works only once."""
    link = await product.type("link", "--url", product.url)
    code = link.strip().rpartition("/")[2]
    url = product.url + "/api/redeemLink"
    async with town.door.http.post(url, json={"code": code}) as response:
        answer = await response.json()
        assert answer["user"]["role"] == "admin", answer
    return Person(town.door, answer["user"]["uid"], answer["token"])  # type: ignore[arg-type]

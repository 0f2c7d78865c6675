"""The whole product in a process of its own, as an operator has it."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from tests.browser.waiting import until
from tests.rig import DEV_TOKEN

ROOT = Path(__file__).parent.parent.parent
READY_S = 120.0


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
                env=self.environment, stdout=out, stderr=subprocess.STDOUT, cwd=ROOT,
            )  # fmt: skip
        await_ready(self.url + "/readyz", self.process, self.log)

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
            sys.executable, "-m", "server", *words, env=self.environment, cwd=ROOT,
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


def await_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
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

"""The operator's commands as processes, beside a server that runs on the same data."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from local_gemini.scripted import ScriptedEngine
from local_gemini.server import LocalGemini
from tests.server.test_process import READY_S, environment

DEADLINE_S = 10.0


class Running:
    """A server process, and the commands that an operator types beside it."""

    def __init__(self, variables: dict[str, str], origin: str, code: str) -> None:
        self._variables, self.origin, self.code = variables, origin, code

    async def type(self, *words: str) -> str:
        """stdout of `python -m server <words>`, which must succeed."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "server",
            *words,
            env=environment(**self._variables),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await asyncio.wait_for(process.communicate(), READY_S)
        assert process.returncode == 0, err.decode() + out.decode()
        return out.decode()


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Running]:
    async with LocalGemini(ScriptedEngine()) as gemini:
        certificate = tmp_path / "ca.pem"
        certificate.write_text(gemini.certificate_pem)
        variables = {
            "PIDJIN_PORT": "0",
            "PIDJIN_DATA_DIR": str(tmp_path / "data"),
            "GEMINI_API_KEY": "canary-key-never-printed",
            "GEMINI_API_BASE": gemini.base_url,
            "SSL_CERT_FILE": str(certificate),
        }
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "server", "serve"),
            env=environment(**variables),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        assert process.stdout is not None
        try:
            line = b""
            async with asyncio.timeout(READY_S):
                while b"/signin/" not in line:
                    line = await process.stdout.readline()
                    assert line, "the server ended"
            origin, _, code = line.decode().strip().partition("/web/#/signin/")
            yield Running(variables, origin, code)
        finally:
            process.kill()
            await process.communicate()


async def until_config(http: aiohttp.ClientSession, key: str, value: object) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while True:
            async with http.get("/api/config") as response:
                if (await response.json()).get(key) == value:
                    return
            await asyncio.sleep(0.1)


@pytest.mark.req("CARD-15", "AUTH-9", "API-39")
async def test_a_running_server_follows_the_operator(running: Running) -> None:
    async with aiohttp.ClientSession(running.origin) as http:
        body = {"displayName": "Ada", "email": "ada@example.org"}
        async with http.post("/api/signUp", json=body) as response:
            answer = await response.json()
        http.cookie_jar.clear()
        http.headers["Authorization"] = f"Bearer {answer['token']}"
        async with http.get("/api/config") as response:
            assert response.status == 403
        assert "is approved now" in await running.type("users", "approve", "ada@example.org")
        await until_config(http, "liveNativeReply", True)
        await running.type("config", "set", "liveNativeReply", "false")
        await until_config(http, "liveNativeReply", False)
        await running.type("users", "revoke", answer["user"]["uid"])
        async with http.get("/api/config") as response:
            assert response.status == 403
        link = await running.type("link", "--url", running.origin)
        async with http.post("/api/redeemLink", json={"code": running.code}) as response:
            assert response.status == 400
        code = link.strip().rpartition("/")[2]
        async with http.post("/api/redeemLink", json={"code": code}) as response:
            assert (await response.json())["user"]["role"] == "admin"


async def test_the_doctor_finds_a_running_server_in_order(running: Running) -> None:
    out = await running.type("doctor")
    assert "FAIL" not in out
    assert "liveModel gemini-3.8-live is reachable" in out
    assert "canary" not in out

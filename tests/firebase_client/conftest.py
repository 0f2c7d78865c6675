"""The published Firebase JavaScript SDK under Node, and a stand-in for where it signs in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.npm import NODE, install
from tests.server.world import World, open_world

HERE = Path(__file__).parent
RUN_S = 60.0


@pytest.fixture(scope="session")
def sdk() -> Path:
    """The folder with the SDK; CI may not go without it."""
    install(HERE)
    return HERE


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path) as world:
        yield world


class SignInService:
    """Of Firebase Auth as much as a sign-in with a custom token asks for.

    The SDK keeps the answer's `idToken` and sends it along as bearer; here it is the token itself.
    """

    def application(self) -> web.Application:
        app = web.Application()
        app.router.add_post("/{service}/v1/accounts:signInWithCustomToken", self._sign_in)
        app.router.add_post("/{service}/v1/accounts:lookup", self._lookup)
        return app

    async def _sign_in(self, request: web.Request) -> web.Response:
        body = await request.json()
        return web.json_response(
            {"idToken": body["token"], "refreshToken": "none", "expiresIn": "3600"}
        )

    async def _lookup(self, request: web.Request) -> web.Response:
        return web.json_response({"users": [{"localId": "someone", "providerUserInfo": []}]})


@dataclass
class FirebaseApp:
    """An app that uses the SDK; each call of `call` is a run of it."""

    sdk: Path
    server: str
    auth: str

    async def call(self, token: str | None, *calls: tuple[str, Any]) -> list[dict[str, Any]]:
        given = {"server": self.server, "auth": self.auth, "token": token, "calls": calls}
        process = await asyncio.create_subprocess_exec(
            NODE,
            "client.js",
            json.dumps(given),
            cwd=self.sdk,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(RUN_S):
                out, errors = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        assert process.returncode == 0, errors.decode()
        results: list[dict[str, Any]] = json.loads(out)
        return results


@pytest.fixture
async def firebase_app(sdk: Path, world: World) -> AsyncIterator[FirebaseApp]:
    async with TestServer(SignInService().application()) as service:
        server = str(world.client.make_url("/")).rstrip("/")
        yield FirebaseApp(sdk, server, str(service.make_url("/")).rstrip("/"))

"""A Live service on a real TLS websocket whose every frame the test decides."""

from __future__ import annotations

import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

from local_gemini.certificate import self_signed
from media.live.gemini import GeminiConnector
from media.live.port import (
    LiveClosed,
    LiveEvent,
    LiveSession,
    LiveSetup,
    Seed,
)

SEEDS = (Seed("user", "q"), Seed("model", "a"))
SETUP = LiveSetup(model="gemini-3.8-live", instruction="Be kind.")
Behaviour = Callable[["Wire"], Awaitable[None]]


@dataclass
class Wire:
    """One connection as the server sees it."""

    socket: ServerConnection
    first: dict[str, Any]

    async def ready(self) -> None:
        await self.socket.send(b'{"setupComplete":{"sessionId":"s"}}')

    async def next(self) -> str:
        frame = await self.socket.recv()
        assert isinstance(frame, str)
        return frame


@dataclass
class Service:
    base_url: str
    context: ssl.SSLContext
    keys: list[str | None] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    extensions: list[str | None] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)

    def connector(self, key: Callable[[], str] = lambda: "key") -> GeminiConnector:
        return GeminiConnector(api_key=key, base_url=self.base_url, ssl_context=self.context)


async def ready(wire: Wire) -> None:
    await wire.ready()
    await wire.socket.wait_closed()


@asynccontextmanager
async def served(
    behave: Behaviour = ready, status: HTTPStatus | None = None
) -> AsyncIterator[Service]:
    certificate = self_signed()
    service: Service

    def admit(socket: ServerConnection, request: Request) -> Response | None:
        service.keys.append(request.headers.get("x-goog-api-key"))
        service.paths.append(request.path)
        service.extensions.append(request.headers.get("Sec-WebSocket-Extensions"))
        return socket.respond(status, "Quota exceeded for requests") if status else None

    async def handle(socket: ServerConnection) -> None:
        wire = Wire(socket, json.loads(await socket.recv()))
        service.wires.append(wire)
        await behave(wire)

    async with serve(
        handle, "127.0.0.1", 0, ssl=certificate.server_context, process_request=admit
    ) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        service = Service(f"https://127.0.0.1:{port}", certificate.client_context())
        yield service


async def everything(session: LiveSession) -> tuple[list[LiveEvent], LiveClosed]:
    """All events until the session ends, and how it ended."""
    heard: list[LiveEvent] = []
    while True:
        try:
            heard += await session.receive()
        except LiveClosed as closed:
            return heard, closed

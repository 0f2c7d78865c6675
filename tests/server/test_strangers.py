"""What strangers send to the port: nothing, half a request, no HTTP at all."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from server import __main__ as process
from server.log import NoHttp
from tests.server.world import World

HOST = b"Host: 127.0.0.1\r\n"


@asynccontextmanager
async def listening() -> AsyncIterator[int]:
    """The port of a small server, run as the product runs its own."""

    async def hello(request: web.Request) -> web.Response:
        return web.Response(text="hello")

    app = web.Application()
    app.router.add_get("/", hello)
    runner = process.runner_of(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


async def answer(port: int, sent: bytes, within_s: float = 5.0) -> bytes:
    """All that comes back until the server closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(sent)
        return await asyncio.wait_for(reader.read(), within_s)
    finally:
        writer.close()


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: x\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /",
    ],
    ids=["nothing", "half", "one", "one and a half"],
)
async def test_a_connection_without_requests_is_closed(
    monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(process, "IDLE_S", 0.2)
    async with listening() as port:
        got = await answer(port, sent)
    assert got.count(b"hello") == sent.count(b"\r\n\r\n")


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\x00\xff\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"a" * 20_000 + b"\r\n\r\n",
        b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"X: a\r\n" * 20_000 + b"\r\n",
        b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\n"
        + HOST
        + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ids=lambda sent: repr(sent)[:30],
)
async def test_what_is_no_http_is_refused_without_versions_and_without_a_line_in_the_log(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    keep = NoHttp()
    logging.getLogger("aiohttp.server").addFilter(keep)
    try:
        async with listening() as port:
            got = await answer(port, sent)
    finally:
        logging.getLogger("aiohttp.server").removeFilter(keep)
    assert got.split(b"\r\n")[0].endswith(b"400 Bad Request")
    assert b"aiohttp" not in got
    assert b"Python" not in got
    assert caplog.records == []


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (b"TRACE /api/me", 405),
        (b"CONNECT evil.example:443", 404),
        (b"GET http://evil.example/api/me", 401),
        (b"GET //api//me", 404),
        (b"GET /api/sessions/%00", 401),
        (b"GET /api/topics/%ff%fe", 401),
        (b"GET /api/%2e%2e/metrics", 404),
        (b"OPTIONS /api/me", 405),
    ],
)
async def test_odd_requests_are_refused_like_any_other(
    world: World, line: bytes, status: int
) -> None:
    server = world.client.server
    sent = line + b" HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"
    got = await answer(int(server.port or 0), sent)
    assert got.startswith(b"HTTP/1.1 %d " % status)
    assert b"Content-Security-Policy: default-src 'none'" in got
    assert b"Access-Control-" not in got


@pytest.mark.parametrize(
    "header",
    [
        b"Cookie: pidjin_session=\xff\xfe; ;;=",
        b"Authorization: Bearer \xff\xfe",
        b"Authorization: Bearer",
        b"Authorization: Basic YTpi",
        b"Cookie: " + b"pidjin_session=x; " * 300,
        b"Authorization: Bearer " + b"x" * 8000,
    ],
    ids=lambda header: repr(header)[:40],
)
async def test_odd_credentials_are_nobody(world: World, header: bytes) -> None:
    sent = b"GET /api/me HTTP/1.1\r\n" + HOST + header + b"\r\nConnection: close\r\n\r\n"
    got = await answer(int(world.client.server.port or 0), sent)
    assert got.startswith(b"HTTP/1.1 401 ")

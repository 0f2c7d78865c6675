"""What stands before every route: hosts, origins, envelopes, headers."""

from __future__ import annotations

import asyncio
import gzip
import json
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http_exceptions import TransferEncodingError
from aiohttp.streams import StreamReader
from aiohttp.test_utils import make_mocked_request

from server.bodies import read_json
from server.context import Context
from server.errors import HTTP_STATUS, Code, Refused
from tests.server.world import World, open_world

FORM = {"displayName": "Ada", "email": "a@b.org"}


# --- hosts and origins --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("localhost:8080", 200),
        ("LOCALHOST:1", 200),
        ("127.0.0.1:8080", 200),
        ("[::1]:8080", 200),
        ("[::1]", 200),
        ("pidjin.localhost:8080", 200),
        ("evil.example", 403),
        ("evil.example:8080", 403),
        ("localhost.evil.example", 403),
        ("127.0.0.1.evil.example:80", 403),
        ("", 403),
    ],
)
async def test_a_loopback_server_answers_to_its_own_names_only(
    world: World, host: str, status: int
) -> None:
    async with world.client.get("/api/identity", headers={"Host": host}) as response:
        assert response.status == status


async def test_a_named_proxy_host_is_served_and_a_public_bind_checks_none(tmp_path: Path) -> None:
    async with open_world(tmp_path, allowed_hosts=("tutor.example",)) as world:
        for host, status in (("tutor.example", 200), ("other.example", 403)):
            async with world.client.get("/healthz", headers={"Host": host}) as response:
                assert response.status == status
    async with (
        open_world(tmp_path, host="0.0.0.0") as world,
        world.client.get("/healthz", headers={"Host": "any.example"}) as response,
    ):
        assert response.status == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": "http://localhost:99"}, 200),
        ({"Origin": "http://localhost:98"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
async def test_other_sites_cannot_change_anything(
    world: World, headers: dict[str, str], status: int
) -> None:
    headers = {**headers, "Host": "localhost:99"}
    async with world.client.post("/api/signUp", json=FORM, headers=headers) as response:
        assert response.status == status
    async with world.client.get("/api/identity", headers=headers) as response:
        assert response.status == 200


async def test_a_form_of_another_site_is_never_read(world: World) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        headers = {"Content-Type": kind}
        async with world.client.post(
            "/api/signUp", data=b'{"displayName":"A","email":"a@b.org"}', headers=headers
        ) as response:
            assert response.status == 400
    assert await world.ctx.store.query("users") == []


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "GZIP", "identity, gzip"])
async def test_a_compressed_body_is_refused(world: World, encoding: str) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": encoding}
    body = gzip.compress(json.dumps(FORM).encode())
    async with world.client.post("/api/signUp", data=body, headers=headers) as response:
        assert response.status == 400
        if response.content_type == "application/json":
            assert (await response.json())["error"]["code"] == "invalid-argument"
    assert await world.ctx.store.query("users") == []


@pytest.mark.parametrize(
    "error",
    [
        ConnectionResetError("Connection lost"),
        web.RequestPayloadError("broken"),
        TransferEncodingError("zz"),
    ],
    ids=repr,
)
async def test_a_body_that_breaks_off_is_no_bug(error: Exception) -> None:
    body = StreamReader(BaseProtocol(asyncio.get_running_loop()), 2**16)
    body.set_exception(error)
    headers = {"Content-Type": "application/json"}
    request = make_mocked_request("POST", "/api/signUp", headers, payload=body)
    with pytest.raises(Refused, match="did not arrive whole") as caught:
        await read_json(request, 1000)
    assert caught.value.code is Code.INVALID_ARGUMENT


# --- envelopes and headers ----------------------------------------------------------------------


def faulty(app: web.Application, ctx: Context) -> None:
    async def bug(request: web.Request) -> web.Response:
        raise KeyError("secret-detail")

    async def gone(request: web.Request) -> web.Response:
        raise Refused(Code.RESOURCE_EXHAUSTED, "Later.", retry_after_s=7)

    async def unstorable(request: web.Request) -> web.Response:
        return web.json_response(await ctx.store.get("users/__x__") is None)

    app.router.add_get("/api/unstorable", unstorable)
    app.router.add_get("/api/bug", bug)
    app.router.add_get("/api/gone", gone)


@pytest.mark.req("API-1")
async def test_a_bug_is_an_envelope_and_its_trace_is_in_the_log_only(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_world(tmp_path, extras=(faulty,)) as world:
        status, answer = await world.get("/api/bug")
        assert status == 500
        assert answer["error"]["code"] == "internal"
        assert "secret-detail" not in str(answer)
        assert "request_failed" in caplog.messages
        async with world.client.get("/api/gone") as response:
            assert (response.status, response.headers["Retry-After"]) == (429, "7")
        _, text = await world.text("/metrics")
        assert 'pidjin_errors_total{code="internal"} 1' in text


async def test_what_no_store_takes_is_the_callers_mistake(tmp_path: Path) -> None:
    async with open_world(tmp_path, extras=(faulty,)) as world:
        status, answer = await world.get("/api/unstorable")
        assert (status, answer["error"]["code"]) == (400, "invalid-argument")


@pytest.mark.req("API-1")
def test_every_code_has_its_status() -> None:
    expected = {
        "invalid-argument": 400,
        "failed-precondition": 400,
        "unauthenticated": 401,
        "permission-denied": 403,
        "not-found": 404,
        "aborted": 409,
        "resource-exhausted": 429,
        "internal": 500,
        "unavailable": 503,
        "deadline-exceeded": 504,
    }
    assert {code.value: status for code, status in HTTP_STATUS.items()} == expected


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/nothing", 404),
        ("POST", "/callable/nothing", 404),
        ("GET", "/api/groundTopic", 405),
    ],
)
async def test_unknown_addresses_are_told_as_json(
    world: World, method: str, path: str, status: int
) -> None:
    async with world.client.request(method, path) as response:
        assert response.status == status
        assert (await response.json())["error"]["message"]


SEEN_EVERYWHERE = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Server": "pidjin",
}


@pytest.mark.parametrize(
    "path", ["/", "/web/", "/web/none.js", "/api/me", "/api/identity", "/api/none", "/none"]
)
async def test_every_answer_is_hardened(world: World, path: str) -> None:
    async with world.client.get(path) as response:
        for name, value in SEEN_EVERYWHERE.items():
            assert response.headers[name] == value
        policy = response.headers["Content-Security-Policy"]
        assert "unsafe" not in policy
        assert "script-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "microphone=(self)" in response.headers["Permissions-Policy"]
        assert "Access-Control-Allow-Origin" not in response.headers
        if path.startswith("/api/"):
            assert response.headers["Cache-Control"] == "no-store"

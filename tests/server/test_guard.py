"""What stands before every route: hosts, origins, limits, envelopes, headers."""

from __future__ import annotations

import asyncio
import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http_exceptions import TransferEncodingError
from aiohttp.streams import StreamReader
from aiohttp.test_utils import make_mocked_request
from hypothesis import given
from hypothesis import strategies as st

from server.bodies import read_json
from server.context import Context
from server.errors import HTTP_STATUS, Code, PidjinError, Refused
from server.operations.topics import GROUND_TOPIC
from server.rate import RateLimit
from server.registry import MODEL_DEADLINE_S, PLAIN_DEADLINE_S, perform
from server.security import ADDRESS_BURST, SIGN_IN_BURST, network_of
from server.store.port import StoreDown
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


# --- rates --------------------------------------------------------------------------------------


async def test_guessing_codes_is_slowed_down(world: World) -> None:
    for _ in range(int(SIGN_IN_BURST)):
        assert (await world.post("/api/redeemLink", {"code": "guess"}))[0] == 400
    status, answer = await world.post("/api/redeemLink", {"code": "guess"})
    assert (status, answer["error"]["code"]) == (429, "resource-exhausted")
    assert (await world.get("/api/identity"))[0] == 200


async def test_one_address_cannot_flood_and_another_is_not_held_up(world: World) -> None:
    async def ask(address: str) -> tuple[int, str | None]:
        async with world.client.get(
            "/api/me", headers={"X-Forwarded-For": f"198.51.100.9, {address}"}
        ) as response:
            return response.status, response.headers.get("Retry-After")

    statuses = [(await ask("203.0.113.1"))[0] for _ in range(int(ADDRESS_BURST) + 60)]
    assert statuses[:400] == [401] * 400
    assert 429 in statuses
    assert (await ask("203.0.113.2"))[0] == 401


async def test_somebody_on_ipv6_is_one_whatever_their_last_half(world: World) -> None:
    statuses = []
    for number in range(int(ADDRESS_BURST) + 60):
        headers = {"X-Forwarded-For": f"2001:db8:1:2::{number:x}"}
        async with world.client.get("/api/me", headers=headers) as response:
            statuses.append(response.status)
    assert 429 in statuses
    headers = {"X-Forwarded-For": "2001:db8:1:3::1"}
    async with world.client.get("/api/me", headers=headers) as response:
        assert response.status == 401


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("unknown", "unknown"),
        ("", ""),
    ],
)
def test_whom_a_limit_is_for(address: str, network: str) -> None:
    assert network_of(address) == network


async def test_looking_whether_it_is_ready_is_limited_too(world: World) -> None:
    headers = {"X-Forwarded-For": "203.0.113.77"}
    statuses = []
    for _ in range(int(ADDRESS_BURST) + 60):
        async with world.client.get("/readyz", headers=headers) as response:
            statuses.append(response.status)
    assert (statuses[0], statuses[-1]) == (200, 429)
    assert (await world.get("/healthz"))[0] == 200


async def test_a_person_is_limited_whatever_the_address(world: World) -> None:
    learner = await world.learner()
    statuses = []
    for number in range(160):
        headers = {
            "Authorization": f"Bearer {learner.token}",
            "X-Forwarded-For": f"203.0.113.{number}",
        }
        async with world.client.get("/api/me", headers=headers) as response:
            statuses.append(response.status)
    assert statuses[0] == 200
    assert 429 in statuses


def test_a_bucket_admits_its_burst_then_its_rate() -> None:
    limit = RateLimit(per_s=2, burst=3)
    assert [limit.take("a", 10.0) for _ in range(3)] == [0, 0, 0]
    assert limit.take("a", 10.0) == pytest.approx(0.5)
    assert limit.take("b", 10.0) == 0
    assert limit.take("a", 10.5) == 0
    assert limit.take("a", 10.5) > 0
    assert [limit.take("a", 99.0) for _ in range(4)][:3] == [0, 0, 0]


@given(st.lists(st.tuples(st.integers(0, 30), st.floats(0, 1)), max_size=200))
def test_memory_is_bounded_and_nobody_gets_more_than_the_rate(
    steps: list[tuple[int, float]],
) -> None:
    limit = RateLimit(per_s=1, burst=5, keys_max=10)
    at, admitted = 0.0, 0
    for key, pause in steps:
        at += pause
        admitted += limit.take("same", at) == 0
        limit.take(str(key), at)
        assert len(limit) <= 10
    assert admitted <= 5 + at + 1


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
        _, text = await read_text(world, "/metrics")
        assert 'pidjin_errors_total{code="internal"} 1' in text


async def read_text(world: World, path: str, **headers: str) -> tuple[int, str]:
    async with world.client.get(path, headers=headers) as response:
        return response.status, await response.text()


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


# --- health -------------------------------------------------------------------------------------


async def test_health_says_what_is_missing(world: World) -> None:
    assert (await world.get("/healthz"))[0] == 200
    assert (await world.get("/readyz")) == (200, {"status": "ready", "waiting": {}})

    async def cold() -> str | None:
        return "still loading"

    world.ctx.readiness["voice"] = cold
    assert await world.get("/readyz") == (
        503,
        {"status": "waiting", "waiting": {"voice": "still loading"}},
    )


async def test_a_store_that_is_gone_makes_the_server_not_ready(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(*_: Any) -> Any:
        raise OSError("disk on fire")

    with monkeypatch.context() as broken:
        broken.setattr(world.ctx.store, "_open", down)
        await check_down(world)
    assert (await world.get("/readyz"))[0] == 200


async def test_a_full_disk_makes_the_server_not_ready(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes: list[str] = []
    whole = world.ctx.store.set

    async def full(path: str, data: dict[str, Any]) -> None:
        raise StoreDown("database or disk is full")

    async def counted(path: str, data: dict[str, Any]) -> None:
        writes.append(path)
        await whole(path, data)

    monkeypatch.setattr(world.ctx.store, "set", full)
    for _ in range(2):
        status, answer = await world.get("/readyz")
        assert (status, answer["waiting"]) == (503, {"store": "cannot be written"})
    monkeypatch.setattr(world.ctx.store, "set", counted)
    for _ in range(3):
        assert (await world.get("/readyz"))[0] == 200
    assert writes == ["health/readyz"]


async def check_down(world: World) -> None:
    status, answer = await world.get("/readyz")
    assert (status, answer["waiting"]) == (503, {"store": "cannot be reached"})
    status, answer = await world.post("/api/signUp", FORM)
    assert (status, answer["error"]["code"]) == (503, "unavailable")
    assert "disk" not in str(answer)


async def test_metrics_are_for_this_machine_or_the_dev_token(tmp_path: Path) -> None:
    async with open_world(tmp_path, dev_token="sesame") as world:
        world.ctx.metrics.add_source(lambda: [("pidjin_lessons", (("state", 'a"b'),), 2.0)])
        status, text = await read_text(world, "/metrics")
        assert status == 200
        assert '# TYPE pidjin_lessons gauge\npidjin_lessons{state="a\\"b"} 2\n' in text
        away = {"X-Forwarded-For": "203.0.113.1"}
        assert (await read_text(world, "/metrics", **away))[0] == 403
        token = {"Authorization": "Bearer sesame"}
        assert (await read_text(world, "/metrics", **away, **token))[0] == 200


@pytest.mark.req("API-49")
async def test_a_stuck_operation_ends_at_its_deadline(world: World) -> None:
    assert (MODEL_DEADLINE_S, PLAIN_DEADLINE_S) == (60, 30)

    async def stuck(*_: Any) -> Any:
        await asyncio.Event().wait()

    learner = await world.learner()
    signed_in = await world.ctx.identity.verify(learner.token)
    caller = await world.ctx.callers.caller_of(signed_in)
    with pytest.raises(PidjinError) as caught:
        await perform(
            world.ctx,
            replace(GROUND_TOPIC, run=stuck, deadline_s=0.01),
            caller,
            {"topic": "Tides"},
        )
    assert caught.value.code is Code.DEADLINE_EXCEEDED

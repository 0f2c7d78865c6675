"""Every route there is, whoever asks: a new one cannot be forgotten here."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from server.voice import voice
from tests.fake_identity import API_KEY, PROJECT
from tests.server.world import Person, World, open_world

# Anybody: pages, what a page must know before a sign-in, and the ways in.
PUBLIC = {
    ("GET", "/"),
    ("GET", "/robots.txt"),
    ("GET", "/SPEC.md"),
    ("GET", "/design.md"),
    ("GET", "/web"),
    ("GET", "/web/{path}"),
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),  # this machine or the dev token: its own test
    ("GET", "/api/identity"),
    ("GET", "/api/openapi.json"),
    ("POST", "/api/signUp"),
    ("POST", "/api/redeemLink"),
    ("GET", "/api/google/start"),
    ("GET", "/api/google/callback"),
}
# Whoever is signed in, without access too: who am I, and the way out.
SIGNED_IN = {("GET", "/api/me"), ("POST", "/api/signOut")}
ADMIN = re.compile(
    r"/api/(?:v1/)?admin/|/(?:api|callable)/"
    r"(?:admin\w+|approveUser|rejectUser|revokeUser|mint\w+|\w+NewsPipeline)\Z"
)
PLACE = {"uid": "u1", "id": "0" * 64, "topicId": "0" * 64, "sessionId": "s1", "key": "scope"}


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[World]:
    """With the routes of voice as well."""
    async with open_world(tmp_path, extras=(voice,), port=0) as opened:
        yield opened


def routes(app: web.Application) -> set[tuple[str, str]]:
    found = set()
    for route in app.router.routes():
        resource = route.resource
        assert resource is not None
        if route.method != "HEAD":
            found.add((route.method, resource.canonical))
    return found


def filled(path: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda name: PLACE.get(name[1], "x"), path)


async def status(world: World, who: Person | None, method: str, path: str) -> tuple[int, str]:
    headers = {"Authorization": f"Bearer {who.token}"} if who else {}
    body = None if method == "GET" else {"data": {}}
    async with world.client.request(
        method, filled(path), json=body, headers=headers, allow_redirects=False
    ) as response:
        json = response.content_type == "application/json"
        answer = await response.json() if json else {}
        return response.status, str(answer.get("error", {}).get("code", ""))


@pytest.mark.req("AUTH-7", "AUTH-8", "AUTH-10", "AUTH-12", "AUTH-26")
async def test_every_route_asks_who_it_is(house: World) -> None:
    everything = routes(house.client.app)  # type: ignore[arg-type]
    private = everything - PUBLIC
    assert len(private) > 60
    learner, pending, rejected = (
        await house.learner("Ada", "ada@example.org"),
        await house.sign_up("Bo", "bo@example.org"),
        await house.sign_up("Cy", "cy@example.org"),
    )
    await house.ctx.store.update(f"users/{rejected.uid}", {"role": "rejected"})
    for method, path in sorted(private):
        got = await status(house, None, method, path)
        assert got == (401, "unauthenticated"), (method, path, got)
    for person in (pending, rejected):
        for method, path in sorted(private - SIGNED_IN):
            got = await status(house, person, method, path)
            assert got == (403, "permission-denied"), (method, path, got)
    for method, path in sorted(private - SIGNED_IN):
        code = (await status(house, learner, method, path))[1]
        assert (code == "permission-denied") is bool(ADMIN.match(path)), (method, path, code)
    assert house.model.requests == []


@pytest.mark.req("AUTH-12")
async def test_routes_that_change_something_are_posts_and_the_like(house: World) -> None:
    for method, path in routes(house.client.app):  # type: ignore[arg-type]
        assert method in ("GET", "POST", "PATCH", "PUT"), (method, path)


@pytest.mark.req("AUTH-10")
async def test_a_house_with_google_has_no_other_open_doors(tmp_path: Path) -> None:
    async with open_world(
        tmp_path,
        identity="firebase",
        firebase_project=PROJECT,
        firebase_api_key=API_KEY,
        public_url="http://localhost:8080",
    ) as world:
        everything = routes(world.client.app)  # type: ignore[arg-type]
        for method, path in sorted(everything - PUBLIC | {("POST", "/api/redeemLink")}):
            got = await status(world, None, method, path)
            assert got == (401, "unauthenticated"), (method, path, got)
        assert await status(world, None, "POST", "/api/signUp") == (403, "permission-denied")

"""Static pages: home, the built client, what a missing build says, and no way out of the folder."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path

import pytest
from aiohttp import ClientSession
from yarl import URL

from tests.server.world import World


async def get(world: World, path: str, **headers: str) -> tuple[int, str, Mapping[str, str]]:
    async with world.client.get(path, headers=headers, allow_redirects=False) as response:
        return response.status, await response.text(), response.headers


def build(tmp_path: Path) -> Path:
    client = tmp_path / "client"
    (client / "assets").mkdir(parents=True)
    (client / "index.html").write_text("<title>Pidjin</title>")
    (client / "assets" / "app.js").write_text("export {}")
    (tmp_path / "secret.txt").write_text("outside")
    return client


@pytest.mark.req("HOME-1", "HOME-2", "HOME-3", "HOME-4", "HOME-7", "HOME-9", "CARD-14")
async def test_the_home_page_is_public_and_indexable(world: World, tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "client" / "src" / "home.html"
    (build(tmp_path) / "home.html").write_bytes(page.read_bytes())
    status, text, headers = await get(world, "/")
    assert status == 200
    assert "<h1>Stop scrolling the news. Start thinking about it.</h1>" in text
    assert 'href="/web/"' in text
    assert '<a href="/SPEC.md">Design &amp; technical spec</a>' in text
    assert "X-Robots-Tag" not in headers
    assert "<script" not in text
    assert "style=" not in text


@pytest.mark.req("HOME-11")
async def test_robots_may_see_the_home_page(world: World) -> None:
    status, text, headers = await get(world, "/robots.txt")
    assert status == 200
    assert headers["Content-Type"].startswith("text/plain")
    assert "Disallow: /api/" in text
    assert "Disallow: /web" not in text


async def test_without_a_build_the_page_says_how_to_make_one(world: World) -> None:
    assert (await get(world, "/"))[0] == 503
    status, text, headers = await get(world, "/web/")
    assert status == 503
    assert "pip install" in text
    assert headers["X-Robots-Tag"] == "noindex,nofollow"


@pytest.mark.req("HOME-12", "HOME-16")
async def test_the_built_client_is_served_validated_and_unindexed(
    world: World, tmp_path: Path
) -> None:
    client = build(tmp_path)
    for path, kind in (
        ("/web/", "text/html"),
        ("/web/index.html", "text/html"),
        ("/web/assets/app.js", "text/javascript"),
    ):
        status, text, headers = await get(world, path)
        assert status == 200
        assert headers["Content-Type"].startswith(kind)
        assert headers["X-Robots-Tag"] == "noindex,nofollow"
        assert headers["Cache-Control"] == "no-cache"
        assert (await get(world, path, **{"If-None-Match": headers["ETag"]}))[:2] == (304, "")
    (client / "index.html").write_text("<title>New</title>")
    status, text, _ = await get(world, "/web/", **{"If-None-Match": headers["ETag"]})
    assert (status, text) == (200, "<title>New</title>")
    assert (await get(world, "/web"))[0] == 308
    assert (await get(world, "/web/0.0.0/"))[0] == 302
    status, _, headers = await get(world, "/web/none.js")
    assert (status, headers["X-Robots-Tag"]) == (404, "noindex,nofollow")


@pytest.mark.parametrize("taken", ["gzip", "identity"])
async def test_text_travels_packed_to_whoever_takes_it(
    world: World, tmp_path: Path, taken: str
) -> None:
    client = build(tmp_path)
    (client / "assets" / "app.js").write_text("export {};\n" * 1000)
    url = world.client.make_url("/web/assets/app.js")
    async with ClientSession(auto_decompress=False) as http:
        async with http.get(url, headers={"Accept-Encoding": taken}) as response:
            body, headers = await response.read(), response.headers
        assert headers.get("Content-Encoding") == ("gzip" if taken == "gzip" else None)
        assert headers["Vary"] == "Accept-Encoding"
        assert (gzip.decompress(body) if taken == "gzip" else body) == b"export {};\n" * 1000
        assert (len(body) < 1000) is (taken == "gzip")
        known = {"If-None-Match": headers["ETag"]}
        async with http.get(url, headers=known) as again:
            assert again.status == 304


@pytest.mark.parametrize(
    "path",
    [
        "/web/../secret.txt",
        "/web/%2e%2e/secret.txt",
        "/web/..%2fsecret.txt",
        "/web/assets/..%2f..%2fsecret.txt",
        "/web//etc/passwd",
        "/web/%2fetc/passwd",
        "/web/%00",
        "/web/" + "a" * 5000,
        "/web/assets",
    ],
)
async def test_nothing_outside_the_folder_is_served(
    world: World, tmp_path: Path, path: str
) -> None:
    build(tmp_path)
    url = URL(f"{world.client.make_url('/')}".rstrip("/") + path, encoded=True)
    async with world.client.session.get(url) as response:
        assert response.status in (400, 404)
        assert "outside" not in await response.text()


async def test_a_link_out_of_the_folder_is_not_followed(world: World, tmp_path: Path) -> None:
    client = build(tmp_path)
    (client / "link.txt").symlink_to(tmp_path / "secret.txt")
    assert (await get(world, "/web/link.txt"))[0] == 404


@pytest.mark.req("HOME-10")
@pytest.mark.parametrize(
    ("path", "title"), [("/SPEC.md", "the contract"), ("/design.md", "design")]
)
async def test_the_documents_are_published(world: World, path: str, title: str) -> None:
    status, text, headers = await get(world, path)
    assert status == 200
    assert headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert title in text.splitlines()[0].lower()
    assert "X-Robots-Tag" not in headers

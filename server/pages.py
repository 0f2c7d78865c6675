"""Static pages: home, the web client under `/web/`, robots, and the published documents.

Files are read per request and validated by ETag (`no-cache`), so a rebuilt client is seen at once.
"""

from __future__ import annotations

import asyncio
import functools
import gzip
import hashlib
import mimetypes
import re
from pathlib import Path

from aiohttp import hdrs, web

from server.errors import missing

ROOT = Path(__file__).resolve().parent.parent
STATIC = Path(__file__).resolve().parent / "static"
CLIENT_DIST = ROOT / "client" / "dist"
DOCS = ROOT / "docs"
_VERSIONED = re.compile(r"\d+\.\d+[^/]*(/|\Z)")
# Extensions that the platform's table may lack.
_TYPES = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".map": "application/json",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
    ".svg": "image/svg+xml",
    ".md": "text/markdown",
    ".wav": "audio/wav",
}


class Pages:
    def __init__(self, client: Path = CLIENT_DIST, docs: Path = DOCS) -> None:
        self._client = client.resolve()
        self._docs = docs

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/", self.home),
            web.get("/robots.txt", self.robots),
            web.get("/SPEC.md", self.spec),
            web.get("/design.md", self.design),
            web.get("/web", self.to_web),
            web.get("/web/{path:.*}", self.web_client),
        ]

    async def home(self, request: web.Request) -> web.Response:
        return await self._built(request, "home.html")

    async def robots(self, request: web.Request) -> web.Response:
        return await _file(request, STATIC / "robots.txt")

    async def spec(self, request: web.Request) -> web.Response:
        return await _file(request, self._docs / "SPEC.md")

    async def design(self, request: web.Request) -> web.Response:
        return await _file(request, self._docs / "design.md")

    async def to_web(self, request: web.Request) -> web.Response:
        raise web.HTTPPermanentRedirect("/web/")

    async def web_client(self, request: web.Request) -> web.Response:
        path = request.match_info["path"] or "index.html"
        if path == "index.html":
            return await self._built(request, path)
        file = _inside(self._client, path)
        if file is None and _VERSIONED.match(path):
            raise web.HTTPFound("/web/")  # a bookmark of an earlier release (HOME-16)
        if file is None:
            raise missing("There is nothing at this address.")
        return await _file(request, file)

    async def _built(self, request: web.Request, name: str) -> web.Response:
        """A page of the client, or the page that says how to build it."""
        if not (self._client / name).is_file():
            return await _file(request, STATIC / "unbuilt.html", status=503)
        return await _file(request, self._client / name)


def _inside(folder: Path, path: str) -> Path | None:
    """The existing file `path` of `folder`; None for anything else or anywhere else."""
    try:
        file = (folder / path).resolve()
        return file if file.is_relative_to(folder) and file.is_file() else None
    except (OSError, ValueError):
        return None


async def _file(request: web.Request, file: Path, *, status: int = 200) -> web.Response:
    """The file whole (they are small), text packed for whoever takes it, or 304. Raises
    `not-found`."""
    try:
        body = await asyncio.to_thread(file.read_bytes)
    except (OSError, ValueError):
        raise missing("There is nothing at this address.") from None
    etag = hashlib.sha256(body).hexdigest()[:32]
    # Weak: the same content, packed or not.
    headers = {hdrs.ETAG: f'W/"{etag}"', hdrs.CACHE_CONTROL: "no-cache"}
    known = request.if_none_match or ()
    if status == 200 and any(tag.value in (etag, "*") for tag in known):
        return web.Response(status=304, headers=headers)
    suffix = file.suffix.lower()
    content_type = _TYPES.get(suffix) or mimetypes.guess_type(file.name)[0]
    text = content_type is not None and (
        content_type.startswith("text/") or content_type.endswith(("json", "xml"))
    )
    if text or content_type == "image/svg+xml":
        headers[hdrs.VARY] = hdrs.ACCEPT_ENCODING
        if "gzip" in request.headers.get(hdrs.ACCEPT_ENCODING, ""):
            headers[hdrs.CONTENT_ENCODING] = "gzip"
            body = await asyncio.to_thread(_packed, body)
    return web.Response(
        body=body,
        status=status,
        headers=headers,
        content_type=content_type or "application/octet-stream",
        charset="utf-8" if text else None,
    )


@functools.lru_cache(maxsize=32)
def _packed(body: bytes) -> bytes:
    """As gzip, packed once for each content."""
    return gzip.compress(body, mtime=0)

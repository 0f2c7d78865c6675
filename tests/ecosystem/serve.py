"""The real server in a process of its own, plus a page with a client that is not ours.

`python -m tests.ecosystem.serve BUNDLE`: the page's script is the file BUNDLE; settings come from
the environment as for `python -m server`.
"""

import sys
from pathlib import Path

from aiohttp import web

from server.__main__ import main
from server.app import Extra
from server.context import Context
from server.voice import voice

PAGE = Path(__file__).parent / "page.html"
# The stock media manager records through an AudioWorklet that it makes from a blob.
POLICY = "default-src 'self'; script-src 'self' blob:; img-src data:; media-src 'self' blob:"


def page(script: Path) -> Extra:
    files = {"/stock/": PAGE, "/stock/page.js": script}

    async def file(request: web.Request) -> web.StreamResponse:
        return web.FileResponse(files[request.path], headers={"Content-Security-Policy": POLICY})

    def add(app: web.Application, ctx: Context) -> None:
        for address in files:
            app.router.add_get(address, file)

    return add


if __name__ == "__main__":
    sys.exit(main([], extras=(voice, page(Path(sys.argv[1])))))

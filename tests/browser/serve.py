"""The real server in a process of its own, plus the one route that WebKit's stand-in needs.

`python -m tests.browser.serve`: settings from the environment as for `python -m server`.
"""

import sys

from aiohttp import web

from server.__main__ import main
from server.context import Context
from server.voice import voice
from tests.browser.gateway import gateway


def with_gateway(app: web.Application, ctx: Context) -> None:
    app.router.add_get("/__rtc", gateway)


if __name__ == "__main__":
    import aioice.ice

    # The gateway's own peer: aioice leaves loopback out, the tests stay on it.
    aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: ["127.0.0.1"]
    sys.exit(main(extras=(voice, with_gateway)))

"""`pidjin link`: a new one-time sign-in link of the bootstrap admin."""

from __future__ import annotations

import argparse

from server.commands.console import CommandFailed, opened
from server.context import Context
from server.settings import Settings
from server.sign_in import mint_admin_link


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "link", help="print a new one-time admin sign-in link; earlier ones stop working"
    )
    add_url(parser)
    parser.set_defaults(run=run)


def add_url(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--url", metavar="ADDRESS", help="where people reach the server (PIDJIN_PUBLIC_URL)"
    )


def address(ctx: Context, options: argparse.Namespace) -> str:
    """What a printed link begins with. Raises CommandFailed where links are of no use."""
    settings = ctx.settings
    if ctx.local_identity is None:
        raise CommandFailed(
            f"with PIDJIN_IDENTITY={settings.identity} people sign in there, without links"
        )
    if options.url:
        return str(options.url).rstrip("/")
    if settings.public_url:
        return settings.public_url
    if not settings.port:
        raise CommandFailed("PIDJIN_PORT is 0, so name the address of the server with --url")
    return origin(settings, settings.port)


async def run(options: argparse.Namespace) -> int:
    async with opened() as ctx:
        where = address(ctx, options)
        code = await mint_admin_link(ctx)
    print(f"{where}/web/#/signin/{code}")
    return 0


def origin(settings: Settings, port: object) -> str:
    """The address under which this machine reaches its own server."""
    host = "localhost" if settings.host in ("0.0.0.0", "::") else settings.host
    scheme = "https" if settings.tls_cert else "http"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"

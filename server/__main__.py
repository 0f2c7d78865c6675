"""`python -m server` (installed as `pidjin`): starts the server and stops it in order, or runs one
of the operator's commands."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import logging
import signal
import ssl
import sys
from collections.abc import Sequence

from aiohttp import web, web_response

from server import log as logs
from server.app import CONTEXT, Extra, build_app
from server.commands.link import origin
from server.commands.nouns import EXIT_USAGE, add_commands, run_command
from server.context import Context, Drain
from server.identity.local import SecretDamaged
from server.identity.port import SignInUnusable
from server.local_model import LocalTutorMissing
from server.news.schedule import news_schedule
from server.ports import taken_ports
from server.security import SERVER
from server.settings import Settings, SettingsInvalid, gemini_api_key, load_settings
from server.sign_in import mint_admin_link
from server.store.port import CannotOpen, StoreDown
from server.version import VERSION
from server.voice import voice

log = logging.getLogger("server")

# CARD-17: finished exchanges are stored before exit; nothing may hold the exit for longer.
DRAIN_S = 10.0
SHUTDOWN_S = 5.0
# A connection that brings no whole request for so long is closed: silent ones cost a file each.
IDLE_S = 75.0

EXTRAS: Sequence[Extra] = (voice, news_schedule)

_ENVIRONMENT = """\
environment:
  PIDJIN_HOST           address to listen on (127.0.0.1)
  PIDJIN_PORT           TCP port (8080)
  PIDJIN_UDP_HOST       address that lessons listen on (that of PIDJIN_HOST)
  PIDJIN_UDP_PORT       UDP port of all voice lessons (the number of PIDJIN_PORT)
  PIDJIN_PUBLIC_IP      address(es) that peers reach this machine under, comma-separated
  PIDJIN_ALLOWED_HOSTS  host names served behind a proxy on a loopback address, comma-separated
  PIDJIN_DATA_DIR       where everything is stored (./.pidjin)
  PIDJIN_STORE          sqlite, or firestore
  PIDJIN_IDENTITY       local, or firebase
  PIDJIN_FIREBASE_PROJECT        id of the project of both (GOOGLE_CLOUD_PROJECT)
  PIDJIN_FIREBASE_CHECK_REVOKED  1: asks Firebase each minute whether a sign-in was revoked
  PIDJIN_FIREBASE_API_KEY        its web API key: people sign in with Google on the page
  PIDJIN_PUBLIC_URL     the address in the address bar, where Google sends people back to
  PIDJIN_ADMIN_EMAIL    e-mail of the first admin
  PIDJIN_DEV_TOKEN      a fixed admin bearer for scripts, on loopback only
  PIDJIN_ICE_SERVERS    JSON list of ICE servers for browsers
  PIDJIN_TURN_URL       TURN server, with PIDJIN_TURN_SECRET for time-limited credentials
  PIDJIN_TLS_CERT       certificate and PIDJIN_TLS_KEY, its key: serves https
  PIDJIN_LOG_LEVEL      DEBUG, INFO, WARNING or ERROR (INFO); PIDJIN_LOG_JSON=1 for JSON lines
  OTEL_EXPORTER_OTLP_ENDPOINT  sends traces there; needs opentelemetry-exporter-otlp-proto-http
  PIDJIN_TURN_LOGS      1: keeps a log of the turns of each lesson, without words
  PIDJIN_LOCAL_LLM_URL  OpenAI-compatible endpoint that words the local tutor's answers
  GEMINI_API_KEY        without it the local tutor answers
  GEMINI_API_BASE       another address of the Gemini API
"""


_LOADING = (
    f"Pidjin {VERSION} loads its local tutor (its ear, voice and reading): some seconds, "
    "up to a minute the first time."
)


class CannotStart(Exception):
    """One sentence on why the server does not run."""


async def serve(settings: Settings, extras: Sequence[Extra] = EXTRAS) -> None:
    """Runs until SIGTERM or SIGINT; then drains, closes, and returns. Raises CannotStart."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    tls = _tls_context(settings)
    if taken := "; ".join(taken_ports(settings)):
        raise CannotStart(taken)
    try:
        app = build_app(settings, extras=extras)
    except (OSError, SecretDamaged) as error:
        raise CannotStart(f"cannot use {settings.data_dir}: {error}") from error
    runner = runner_of(app)
    if not gemini_api_key():
        print(_LOADING, flush=True)
    try:
        await _set_up(runner, settings)
        site = web.TCPSite(runner, settings.host, settings.port, ssl_context=tls)
        await _listen(site, settings)
        # What lives for the whole process is not looked at again: a full collection would stop
        # every lesson for a tenth of a second.
        gc.collect()
        gc.freeze()
        await _greet(app[CONTEXT], runner.addresses[0])
        await stop.wait()
        log.info("stopping")
        await site.stop()
        await drain(app[CONTEXT].drain)
    finally:
        await runner.cleanup()


def runner_of(app: web.Application) -> web.AppRunner:
    """aiohttp's own part, as careful as ours."""
    # What aiohttp answers by itself, to a request that is none, names no versions either.
    web_response.SERVER_SOFTWARE = SERVER  # type: ignore[attr-defined]
    return web.AppRunner(
        app,
        access_log=None,
        shutdown_timeout=SHUTDOWN_S,
        # Compressed bodies are refused by `bodies.read_json`, in our own words.
        auto_decompress=False,
        keepalive_timeout=IDLE_S,
    )


async def _set_up(runner: web.AppRunner, settings: Settings) -> None:
    try:
        await runner.setup()
    except LocalTutorMissing as error:
        raise CannotStart(str(error)) from error
    except (CannotOpen, SignInUnusable) as error:
        raise CannotStart(str(error)) from error
    except StoreDown as error:
        where = settings.data_dir if settings.store == "sqlite" else settings.store
        raise CannotStart(f"cannot use the store in {where}: {error}") from error
    except OSError as error:
        raise CannotStart(f"cannot open a socket: {error}") from error


async def _listen(site: web.TCPSite, settings: Settings) -> None:
    try:
        await site.start()
    except OSError as error:
        where = f"{settings.host}:{settings.port}"
        raise CannotStart(f"cannot listen on {where}: {error.strerror}") from error


def _tls_context(settings: Settings) -> ssl.SSLContext | None:
    if settings.tls_cert is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        # Without an answer OpenSSL would ask the terminal for the passphrase of a locked key.
        context.load_cert_chain(settings.tls_cert, settings.tls_key, password=lambda: "")
    except OSError as error:  # ssl.SSLError is one
        reason = getattr(error, "reason", None) or error.strerror or error
        raise CannotStart(
            "PIDJIN_TLS_CERT and PIDJIN_TLS_KEY: cannot use "
            f"{settings.tls_cert} with {settings.tls_key}: {reason}"
        ) from error
    return context


async def _greet(ctx: Context, address: Sequence[object]) -> None:
    where = ctx.settings.public_url or origin(ctx.settings, address[1])
    if ctx.local_identity is None:
        admin = (await ctx.config.load()).admin_email
        who = f"{admin} is the first admin" if admin else "set PIDJIN_ADMIN_EMAIL for a first admin"
        way = "there" if ctx.google else "with bearer tokens (no PIDJIN_FIREBASE_API_KEY)"
        print(
            f"\nPidjin {VERSION} runs at {where}/\nPeople sign in with Google {way}; {who}.\n",
            flush=True,
        )
        return
    code = await mint_admin_link(ctx)
    # Not a log line: the link is a secret, and logs are kept.
    print(
        f"\nPidjin {VERSION} runs at {where}/\n"
        f"Sign in as admin, once, within a day:\n\n    {where}/web/#/signin/{code}\n",
        flush=True,
    )


async def drain(hooks: Sequence[Drain]) -> None:
    """All hooks together, DRAIN_S in all; one that fails holds up no other."""
    results: list[BaseException | None] = []
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_S):
            results = list(
                await asyncio.gather(*(hook() for hook in hooks), return_exceptions=True)
            )
    for result in results:
        if isinstance(result, Exception):
            log.error("drain_failed", exc_info=result)


def main(argv: Sequence[str] | None = None, extras: Sequence[Extra] = EXTRAS) -> int:
    """Exit codes: 0 after an orderly stop, 2 when the server cannot start as it is set up; those of
    the commands are in `server/commands`."""
    parser = argparse.ArgumentParser(
        prog="pidjin",
        description="Pidjin: a voice tutor that asks before it tells.",
        epilog=_ENVIRONMENT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=VERSION)
    commands = parser.add_subparsers(metavar="COMMAND", dest="command")
    commands.add_parser("serve", help="start the server (the default)")
    add_commands(commands)
    options = parser.parse_args(argv)
    if options.command not in (None, "serve"):
        return run_command(options)
    try:
        settings = load_settings()
    except SettingsInvalid as error:
        for mistake in error.mistakes:
            print(f"pidjin: {mistake}", file=sys.stderr)
        return EXIT_USAGE
    logs.set_up(settings)
    try:
        asyncio.run(serve(settings, extras))
    except CannotStart as error:
        print(f"pidjin: {error}", file=sys.stderr)
        return EXIT_USAGE
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Is this machine fit to serve: Python, Opus, clock, disk, ports, addresses, the built client."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import platform
import shutil
import socket
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from media.mux import host_addresses, ipv4
from media.opus import Encoder
from server.commands.finding import Finding, broken, doubtful, fine
from server.commands.link import origin
from server.pages import CLIENT_DIST
from server.settings import Settings

PYTHON = (3, 11)
FREE_MIN_BYTES = 200 << 20
ANSWER_S = 2.0
CLOCK_SLACK = timedelta(minutes=5)
FUTURE = timedelta(days=365 * 20)


def python() -> Finding:
    found = f"Python {platform.python_version()} on {platform.platform()}"
    if sys.version_info < PYTHON:
        return broken("python", found, "Install Python 3.11 or newer and make the venv anew.")
    return fine("python", found)


def opus() -> Finding:
    try:
        Encoder(24_000).close()
    except (OSError, RuntimeError) as error:
        return broken("opus", f"no sound can be encoded: {error}", "Reinstall PyAV: pip install av")
    return fine("opus", "the audio codec is there")


def client(dist: Path = CLIENT_DIST) -> Finding:
    missing = [name for name in ("index.html", "app.js") if not (dist / name).is_file()]
    if missing:
        return broken(
            "client",
            f"the web client is not built ({', '.join(missing)} missing in {dist})",
            "Run python hatch_build.py in a checkout, or install the package again.",
        )
    return fine("client", "the web client is built")


def clock(settings: Settings, now: datetime) -> Finding:
    """Credentials, tokens and relay passwords live by the clock; files tell how early it is."""
    written = [_written(Path(__file__))]
    written += [_written(file) for file in settings.data_dir.glob("pidjin.sqlite3*")]
    newest = max(written)
    if now + CLOCK_SLACK < newest or now > newest + FUTURE:
        return broken(
            "clock",
            f"the clock says {now:%Y-%m-%d %H:%M} UTC, but files here are of {newest:%Y-%m-%d}",
            "Set the clock, and let a time service (chrony, systemd-timesyncd) keep it.",
        )
    return fine("clock", f"{now:%Y-%m-%d %H:%M} UTC")


def _written(file: Path) -> datetime:
    return datetime.fromtimestamp(file.stat().st_mtime, UTC)


def data_dir(settings: Settings) -> Iterator[Finding]:
    folder = settings.data_dir
    fix = f"Make {folder.absolute()} a folder of the user who runs Pidjin, or set PIDJIN_DATA_DIR."
    if not folder.exists():
        yield _to_be_made(folder, fix)
        return
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"x")
    except OSError as error:
        yield broken("data", f"cannot write into {folder}: {error.strerror}", fix)
        return
    yield fine("data", f"{folder.absolute()} can be written")
    free = shutil.disk_usage(folder).free
    if free < FREE_MIN_BYTES:
        yield doubtful("disk", f"only {free >> 20} MiB are free", "Free some disk space.")
    secret = folder / "signing-secret"
    if os.name == "posix" and secret.exists():
        mode = secret.stat().st_mode & 0o777
        if mode & 0o077:
            yield broken(
                "secret",
                f"others on this machine may read the signing secret (mode {mode:o})",
                f"Run chmod 600 {secret}; if others had access, delete it to sign everybody out.",
            )
        else:
            yield fine("secret", "only its owner may read the signing secret")


def _to_be_made(folder: Path, fix: str) -> Finding:
    """A doctor makes nothing: whether the first start can, the nearest folder there is tells."""
    above = next(parent for parent in folder.absolute().parents if parent.exists())
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        return broken("data", f"cannot make {folder}: {above} is not for this user to write", fix)
    where = folder.absolute()
    return fine("data", f"there is no Pidjin in {where} yet; pidjin serve begins one")


def ports(settings: Settings) -> Iterator[Finding]:
    """Bindable, or held by the Pidjin that runs already."""
    running = answers(settings)
    for check, kind, host, port, name in (
        ("tcp", socket.SOCK_STREAM, settings.host, settings.port, "PIDJIN_PORT"),
        ("udp", socket.SOCK_DGRAM, settings.udp_host, settings.udp_port, "PIDJIN_UDP_PORT"),
    ):
        where = f"{check.upper()} {host}:{port}"
        try:
            _bind(host, port, kind)
        except OSError as error:
            if running:
                yield fine(check, f"{where} is served by a running Pidjin")
                continue
            yield broken(
                check,
                f"{where} cannot be used: {error.strerror or error}",
                f"Stop what holds it, or set {name} (and PIDJIN_HOST) to what is free.",
            )
        else:
            yield fine(check, f"{where} is free")


def _bind(host: str, port: int, kind: socket.SocketKind) -> None:
    ip6 = ":" in host and kind is socket.SOCK_STREAM
    address = host if ip6 else ipv4(host)
    with socket.socket(socket.AF_INET6 if ip6 else socket.AF_INET, kind) as probe:
        if kind is socket.SOCK_STREAM:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((address, port))


def answers(settings: Settings) -> bool:
    """Whether a Pidjin with these settings is up."""
    if not settings.port:
        return False
    with contextlib.suppress(OSError, ValueError):
        url = origin(settings, settings.port) + "/healthz"
        with urllib.request.urlopen(url, timeout=ANSWER_S) as response:
            return bool(response.status == 200)
    return False


def addresses(settings: Settings) -> Iterator[Finding]:
    """Whether peers can reach the addresses that lessons are offered under."""
    fix = "Set PIDJIN_PUBLIC_IP to the IPv4 address(es) that browsers reach this machine under."
    odd = [text for text in settings.public_ip if _unusable(text, settings)]
    if odd:
        yield broken("address", f"browsers cannot use PIDJIN_PUBLIC_IP {', '.join(odd)}", fix)
    elif settings.public_ip and settings.loopback:
        text = f"PIDJIN_PUBLIC_IP is set, but PIDJIN_HOST {settings.host} takes nobody from outside"
        yield doubtful("address", text, "Set PIDJIN_HOST to 0.0.0.0, or drop PIDJIN_PUBLIC_IP.")
    elif settings.loopback:
        yield fine("address", "this machine only")
    else:
        offered = settings.public_ip or _own(settings)
        if all(not ipaddress.ip_address(text).is_global for text in offered):
            text = f"lessons are offered under {', '.join(offered)}: inside this network only"
            yield doubtful("address", text, fix)
        else:
            yield fine("address", f"lessons are offered under {', '.join(offered)}")
    if not settings.loopback and settings.tls_cert is None:
        yield doubtful(
            "tls",
            "browsers give the microphone to https pages only, and this server speaks http",
            "Set PIDJIN_TLS_CERT and PIDJIN_TLS_KEY, or put a proxy with a certificate in front.",
        )


def _own(settings: Settings) -> tuple[str, ...]:
    address = ipv4(settings.host)
    return host_addresses() if address == "0.0.0.0" else (address,)


def _unusable(text: str, settings: Settings) -> bool:
    address = ipaddress.ip_address(text)
    if address.version != 4 or address.is_unspecified or address.is_multicast:
        return True
    return address.is_loopback and not settings.loopback

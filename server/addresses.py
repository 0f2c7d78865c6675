"""Hosts, addresses and origins as settings name them. Pure."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
_HOST = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9])?\Z")
_HOST_AND_PORT = re.compile(r"[^\s/@]+:\d{1,5}\Z")


def is_loopback(host: str) -> bool:
    """Whether binding to `host` is reachable from this machine only."""
    if host in LOOPBACK_NAMES:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def names(value: object) -> object:
    """The parts of a comma-separated text; anything else as it is."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def ipv4_addresses(value: tuple[str, ...]) -> tuple[str, ...]:
    """Raises ValueError."""
    for address in value:
        try:
            ipaddress.IPv4Address(address)
        except ValueError:
            raise ValueError(f"{address!r} is not an IPv4 address") from None
    return value


def host_names(value: tuple[str, ...]) -> tuple[str, ...]:
    """In lower case. Raises ValueError."""
    for name in value:
        if not _HOST.match(name) and not _is_address(name):
            raise ValueError(f"{name!r} is not a host name: no scheme, port or path")
    return tuple(name.lower() for name in value)


def host_and_port(value: str) -> str:
    """Raises ValueError."""
    if not _HOST_AND_PORT.match(value):
        raise ValueError("must be host:port")
    return value


def web_address(value: str) -> str:
    """Raises ValueError."""
    if not value.startswith(("http://", "https://")):
        raise ValueError("must start with http:// or https://")
    return value


def web_origin(text: str) -> str:
    """`https://host[:port]`, or http on this machine; no slash at the end. Raises ValueError."""
    parts = urlsplit(text)
    try:
        name, _ = parts.hostname, parts.port
    except ValueError:
        name = None
    extra = parts.username or parts.query or parts.fragment or parts.path not in ("", "/")
    if parts.scheme not in ("http", "https") or not name or extra or not _plain(text):
        raise ValueError("must be an address without a path, such as https://tutor.example.org")
    if parts.scheme == "http" and not (is_loopback(name) or name.endswith(".localhost")):
        raise ValueError("must start with https:// unless it names this machine")
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and not any(char in " ?#@\\" for char in text)

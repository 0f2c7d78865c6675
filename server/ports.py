"""Whether the ports of the server are free: told before anything that takes time is loaded."""

from __future__ import annotations

import socket
from collections.abc import Iterator

from media.mux import ipv4
from server.settings import Settings


def taken_ports(settings: Settings) -> Iterator[str]:
    """A sentence for each port that cannot be bound, with the settings that choose it."""
    try:
        _try_tcp(settings.host, settings.port)
    except OSError as error:
        where = f"{settings.host}:{settings.port}"
        yield f"cannot listen on {where} (PIDJIN_HOST, PIDJIN_PORT): {error.strerror}"
    try:
        _try_udp(settings.udp_host, settings.udp_port)
    except OSError as error:
        where = f"UDP {settings.udp_host}:{settings.udp_port}"
        yield f"cannot listen on {where} (PIDJIN_UDP_HOST, PIDJIN_UDP_PORT): {error.strerror}"


def _try_tcp(host: str, port: int) -> None:
    """As the event loop binds: every address of the name."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    for family, kind, protocol, _, address in dict.fromkeys(found):
        with socket.socket(family, kind, protocol) as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            sock.bind(address)


def _try_udp(host: str, port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind((ipv4(host), port))

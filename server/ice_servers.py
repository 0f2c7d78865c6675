"""The shape of ICE servers that browsers are told: what `new RTCPeerConnection` would refuse, the
server's start refuses. Pure."""

from __future__ import annotations

import json
import re
from typing import Any

_ICE = re.compile(r"(?:stun|turn)s?:[^\s/,]+\Z")
_TURN = re.compile(r"turns?:[^\s/,]+\Z")


def parsed(value: object) -> object:
    """A setting's text as the JSON it must be. Raises ValueError."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        raise ValueError("must be a JSON list of ICE servers") from None


def checked_ice_servers(servers: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
    """`servers` as they are. Raises ValueError unless each names STUN or TURN addresses."""
    for server in servers:
        if "urls" not in server:
            raise ValueError('every entry needs "urls"')
        urls = server["urls"]
        urls = [urls] if isinstance(urls, str) else urls
        if not isinstance(urls, list) or not urls:
            raise ValueError('"urls" must be an address or a list of addresses')
        for url in urls:
            if not isinstance(url, str) or not _ICE.match(url):
                raise ValueError(f"{url!r} is not a stun:, turn: or turns: address")
    return servers


def checked_turn_urls(value: str) -> str:
    """`value` as it is. Raises ValueError unless it lists TURN addresses, comma-separated."""
    for url in value.split(","):
        if not _TURN.match(url.strip()):
            raise ValueError(f"{url.strip()!r} is not a turn: or turns: address")
    return value

"""Reads a JSON body: bounded, UTF-8, standard JSON only."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from aiohttp import hdrs, web
from aiohttp.http_exceptions import HttpProcessingError

from server.errors import Code, Refused, invalid

JSON_TYPE = "application/json"
# Decompressing would let a small request become a large one.
IDENTITY = "identity"
# A body that trickles in would hold its connection forever.
BODY_DEADLINE_S = 30.0
# Millions of small values take seconds to read, in which no sound is sent. The longest text that is
# taken may consist of commas only, or of characters that are escaped twice.
SIMPLE_BYTES = 64 * 1024
PARTS_MAX = 120_100
ESCAPES_MAX = 240_000
INTEGER_MAX_CHARS = 30
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def _too_large(limit: int) -> Refused:
    most = f"{limit // 2**20} MB" if limit >= 2**20 else f"{limit // 2**10} kB"
    return invalid(
        f"This is too large to send: at most {most} are taken. Please send a smaller part of it.",
        reason="too-large",
    )


async def read_json(request: web.Request, limit: int) -> Any:
    """The parsed body; never holds more than `limit` bytes of it. Raises `invalid-argument`.

    Requiring the JSON content type keeps HTML forms of other sites from reaching any handler.
    """
    if request.content_type != JSON_TYPE:
        raise invalid(f"Send the request as {JSON_TYPE}.")
    if request.headers.get(hdrs.CONTENT_ENCODING, IDENTITY).strip().lower() != IDENTITY:
        raise invalid("Send the request uncompressed.")
    if request.content_length is not None and request.content_length > limit:
        raise _too_large(limit)
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_DEADLINE_S):
            async for chunk in request.content.iter_any():
                body += chunk
                if len(body) > limit:
                    raise _too_large(limit)
    except TimeoutError:
        raise Refused(Code.DEADLINE_EXCEEDED, "The request took too long to arrive.") from None
    except (ConnectionResetError, web.RequestPayloadError, HttpProcessingError):
        raise invalid("The request did not arrive whole.") from None
    return parse_json(bytes(body))


def parse_json(body: bytes) -> Any:
    """Raises `invalid-argument` for anything but standard JSON text without lone surrogates, and
    for what is made of so many parts that reading it would hold up everybody's lessons."""
    if len(body) > SIMPLE_BYTES and (_parts(body) > PARTS_MAX or body.count(b"\\") > ESCAPES_MAX):
        raise invalid("The request has too many parts.", reason="too-large")
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_no_constant, parse_int=_integer)
    except (ValueError, RecursionError):
        raise invalid("The request is not valid JSON.") from None
    if _SURROGATE.search(body) and not all(map(_encodable, _texts(value))):
        raise invalid("The request contains broken characters.")
    return value


def _texts(value: object) -> Iterator[str]:
    """All texts in a parsed body, keys included."""
    left = [value]
    while left:
        match left.pop():
            case str(text):
                yield text
            case list(items):
                left += items
            case dict(fields):
                left += [*fields, *fields.values()]


def _encodable(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _parts(body: bytes) -> int:
    """At least as many as the values in it; marks inside of texts count too."""
    return body.count(b",") + body.count(b"[") + body.count(b"{")


def _integer(digits: str) -> int:
    if len(digits) > INTEGER_MAX_CHARS:
        raise ValueError("no number of ours is so long")
    return int(digits)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")

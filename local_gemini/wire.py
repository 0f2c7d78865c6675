"""The wire's small print: key casing, base64, mime types, contents, refusals. No I/O.

Clients mix camelCase and snake_case in one message (proto JSON allows both) and send url-safe
base64, which Python's default decoder silently corrupts.
"""

from __future__ import annotations

import binascii
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

Json = dict[str, Any]

AUDIO_OUT = "audio/pcm;rate=24000"
TTS_OUT = "audio/L16;codec=pcm;rate=24000"

# Objects whose keys belong to the user, not to the protocol: never renamed.
OPAQUE = frozenset(
    {
        "args",
        "response",
        "labels",
        "parameters",
        "parametersJsonSchema",
        "responseSchema",
        "responseJsonSchema",
    }
)

_SNAKE = re.compile(r"_([a-z0-9])")
_URL_SAFE = bytes.maketrans(b"-_", b"+/")


class WireError(Exception):
    """A message the service refuses. `code` is a close code (1007 invalid, 1008 policy)."""

    def __init__(self, reason: str, code: int = 1007) -> None:
        super().__init__(reason)
        self.code, self.reason = code, reason


def camel_key(key: str) -> str:
    return _SNAKE.sub(lambda match: match.group(1).upper(), key)


def camel(value: Any) -> Any:
    """Protocol keys in camelCase at every level; user-defined objects are left alone."""
    if isinstance(value, dict):
        out: Json = {}
        for key, item in value.items():
            name = camel_key(key)
            out[name] = item if name in OPAQUE else camel(item)
        return out
    if isinstance(value, list):
        return [camel(item) for item in value]
    return value


def message_of(data: str | bytes) -> Json:
    """One client message. Raises WireError unless it is a JSON object."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise WireError("Request contains an invalid argument: not JSON.") from error
    if not isinstance(value, dict):
        raise WireError("Request contains an invalid argument: not an object.")
    return value


def unbase64(text: object) -> bytes:
    """Bytes of base64 in either alphabet, with or without padding. Raises WireError."""
    if not isinstance(text, str):
        raise WireError("Request contains an invalid argument: data must be base64.")
    try:
        raw = text.encode("ascii").translate(_URL_SAFE)
        return binascii.a2b_base64(raw + b"=" * (-len(raw) % 4), strict_mode=True)
    except (ValueError, binascii.Error) as error:
        raise WireError("Request contains an invalid argument: data is not base64.") from error


def base64(data: bytes) -> str:
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def pcm_rate(mime: object) -> int:
    """The rate of `audio/pcm;rate=N` (16000 when not stated). Raises WireError."""
    kind, _, rest = str(mime).replace(" ", "").lower().partition(";")
    if kind not in ("audio/pcm", "audio/l16"):
        raise WireError(f"Unsupported mime type {mime!r}: send audio/pcm;rate=16000.")
    rate = dict(part.partition("=")[::2] for part in rest.split(";")).get("rate", "16000")
    if not rate.isdigit() or not 8_000 <= int(rate) <= 48_000:
        raise WireError(f"Unsupported sample rate in {mime!r}.")
    return int(rate)


def audio_frame(pcm: bytes) -> bytes:
    """The server message that carries a piece of the reply, as the service sends it: binary."""
    return (
        b'{"serverContent":{"modelTurn":{"parts":[{"inlineData":{"mimeType":"audio/pcm;rate=24000",'
        b'"data":"' + binascii.b2a_base64(pcm, newline=False) + b'"}}]}}}'
    )


def text_of(content: object) -> str:
    """The non-thought text of a Content (or of a bare string, or of a list of parts)."""
    if isinstance(content, str):
        return content
    parts: Iterable[Any] = ()
    if isinstance(content, Mapping):
        parts = content.get("parts") or ()
        if isinstance(parts, Mapping):
            parts = (parts,)
    elif isinstance(content, list):
        parts = content
    return "\n".join(
        str(part["text"])
        for part in parts
        if isinstance(part, Mapping) and part.get("text") and not part.get("thought")
    )


def unknown_field(name: str, where: str) -> WireError:
    return WireError(
        f"Invalid JSON payload received. Unknown name \"{name}\" at '{where}': Cannot find field."
    )


def check_fields(value: object, known: Mapping[str, Any], where: str) -> None:
    """Refuses what proto JSON refuses: unknown names, and a scalar where a message belongs.

    `known` maps a name to None (anything), to a nested table, or to a one-element list of a table
    (repeated). Raises WireError.
    """
    if not isinstance(value, Mapping):
        raise WireError(f"Invalid value at '{where}': a message was expected.")
    for name, item in value.items():
        if name not in known:
            raise unknown_field(name, where)
        inner = known[name]
        path = f"{where}.{name}"
        if item is None or inner is None:
            continue
        if isinstance(inner, list):
            if not isinstance(item, list):
                raise WireError(f"Invalid value at '{path}': a list was expected.")
            for position, element in enumerate(item):
                check_fields(element, inner[0], f"{path}[{position}]")
        else:
            check_fields(item, inner, path)

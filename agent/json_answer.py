"""Finds the JSON object in what a model wrote around it. Pure; refuses the huge before parsing."""

from __future__ import annotations

import json
from typing import Any, NoReturn

MAX_CHARS = 200_000
# Prose may hold braces of its own; this many openings are tried before giving up.
MAX_OPENINGS = 32


class NotJson(ValueError):
    """No JSON object in the text. The message never repeats the text."""


def parse_object(text: str, *, key: str, max_chars: int = MAX_CHARS) -> dict[str, Any]:
    """The first JSON object in `text` that has `key`, whatever fences or prose surround it.

    Raises NotJson: too long, no object, or none with `key`.
    """
    if len(text) > max_chars:
        raise NotJson(f"the answer is {len(text)} characters long")
    decoder = json.JSONDecoder(parse_constant=_refuse_constant)
    at = text.find("{")
    for _ in range(MAX_OPENINGS):
        if at < 0:
            break
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at = text.find("{", at + 1)
            continue
        if isinstance(value, dict) and key in value:
            return value
        at = text.find("{", end)
    raise NotJson(f'no JSON object with "{key}" in the answer')


def salvage_object(text: str, *, key: str, max_chars: int = MAX_CHARS) -> dict[str, Any]:
    """As `parse_object`, for an answer that hit its token limit: keeps every finished member.

    Raises NotJson when not even `key` was finished.
    """
    try:
        return parse_object(text, key=key, max_chars=max_chars)
    except NotJson:
        if len(text) > max_chars or (start := text.find("{")) < 0:
            raise
        cut, closers = _last_finished(text, start)
        return parse_object(text[start:cut] + closers, key=key, max_chars=max_chars)


def _refuse_constant(name: str) -> NoReturn:
    raise NotJson(f"{name} is not JSON")


def _last_finished(text: str, start: int) -> tuple[int, str]:
    """Where the last complete value ends, and the brackets still open there."""
    closing = {"{": "}", "[": "]"}
    stack: list[str] = []
    in_string = escaped = False
    best = (start, "")
    for at in range(start, len(text)):
        char = text[at]
        if in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                in_string = False
        elif char == '"':
            in_string = True
        elif char in closing:
            stack.append(closing[char])
        elif char in "}]":
            if not stack:
                break
            stack.pop()
            best = (at + 1, "".join(reversed(stack)))
        elif char == ",":
            best = (at, "".join(reversed(stack)))
    return best

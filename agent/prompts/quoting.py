"""Puts foreign text into a prompt so that it can never pose as one of our own lines. Pure.

Every line of data starts with `| `; every title is one line behind a label (PROMPT-39, GRND-24).
"""

from __future__ import annotations

import json
import unicodedata
from typing import Any

MARK = "| "
ONE_LINE_CHARS = 500


def quote(text: str) -> str:
    """`text` with `| ` before each of its lines; the empty text is one empty quoted line."""
    lines = [_printable(line).rstrip() for line in text.splitlines()] or [""]
    return "\n".join(MARK + line for line in lines)


def one_line(text: str, limit: int = ONE_LINE_CHARS) -> str:
    """`text` on a single line of at most `limit` characters, runs of white space collapsed."""
    flat = " ".join(_printable(" ".join(text.split())).split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def one_line_json(value: Any) -> str:
    """Compact JSON without any character that some reader takes for a line end."""
    text = json.dumps(value, ensure_ascii=False, separators=(", ", ": "), allow_nan=False)
    return "".join(f"\\u{ord(c):04x}" if _breaks_line(c) else c for c in text)


def _breaks_line(char: str) -> bool:
    # The line ends of str.splitlines; JSON has escaped everything below U+0020.
    return char in "\x7f\x85\u2028\u2029"


def _printable(line: str) -> str:
    """Without control characters (a tab becomes a space) and without bidirectional overrides."""
    if line.isascii() and line.isprintable():
        return line
    kept = []
    for char in line:
        if char == "\t":
            kept.append(" ")
        elif unicodedata.category(char) in ("Cc", "Cs") or char in "\u202a\u202b\u202c\u202d\u202e":
            continue
        else:
            kept.append(char)
    return "".join(kept)

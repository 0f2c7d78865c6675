"""Puts foreign text into a prompt so that it can never pose as one of our own lines. Pure.

Every line of data starts with `| `; every title is one line behind a label (PROMPT-39, GRND-24).
"""

from __future__ import annotations

import json
import unicodedata
from typing import Any

MARK = "| "
# Zero-width space and joiners of no script, bidirectional overrides and isolates, soft hyphen,
# annotations, tag letters, selectors beyond the emoji. The joiners that Persian, Indic scripts and
# emoji need (U+200C, U+200D) stay.
_INVISIBLE = (
    ("\u00ad", "\u00ad"),
    ("\u180e", "\u180e"),
    ("\u200b", "\u200b"),
    ("\u202a", "\u202e"),
    ("\u2060", "\u206f"),
    ("\ufeff", "\ufeff"),
    ("\ufff9", "\ufffb"),
    ("\U000e0000", "\U000e0fff"),
)
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
    """Compact JSON; what ends a line for some reader, or hides from a person, is escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(", ", ": "), allow_nan=False)
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(c) if _breaks_line(c) or _hides(c) else c for c in text)


def _breaks_line(char: str) -> bool:
    # JSON has escaped everything below U+0020.
    return unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")


def _escaped(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _printable(line: str) -> str:
    """What a person would see of `line`: no control characters (a tab becomes a space), nothing
    that hides or turns letters, no invisible alphabet that only a model reads."""
    if line.isascii() and line.isprintable():
        return line
    kept = []
    for char in line:
        if char == "\t":
            kept.append(" ")
        elif not _breaks_line(char) and not _hides(char):
            kept.append(char)
    return "".join(kept)


def _hides(char: str) -> bool:
    return any(low <= char <= high for low, high in _INVISIBLE)

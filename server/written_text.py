"""Text as somebody typed or said it, without what no keyboard writes. Pure."""

from __future__ import annotations

import unicodedata

from agent.prompts.quoting import one_line

# Of the control characters these belong to text.
_KEPT = "\n\t"


def written(text: str) -> str:
    """`text` without control characters; empty when nobody could see it."""
    kept = "".join(char for char in text if char in _KEPT or unicodedata.category(char) != "Cc")
    return kept if one_line(kept) else ""


def worded(text: str) -> str:
    """`written`, for a field that may be empty. Raises ValueError for text without words in it."""
    kept = written(text)
    if text.strip() and not kept:
        raise ValueError("must hold words, not control characters alone")
    return kept

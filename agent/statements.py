"""Counts the separate statements a learner has written down as a list. Pure (GRND-8)."""

from __future__ import annotations

import re

_NUMBERED = re.compile(r"\d{1,3}(?:\.\d{1,3})*[.)]\s+\S")
_BULLET = re.compile(r"[-*+•◦‣▪]\s+\S")
_HEADING = re.compile(r"#{1,6}\s+\S")
_LABEL = re.compile(r"([^\W\d_]{2,20})\s+\d{1,3}\s*:(?:\s|$)")
_RULE = re.compile(r"(?:[-*_]\s*){3,}$")
_FENCE = ("```", "~~~")
# Captions, not statements of the text.
_CAPTIONS = frozenset({"fig", "figure", "table", "page", "eq", "equation"})


def count_list_items(text: str) -> int:
    """Numbered lines, bulleted lines, headings and labels such as `Statement 3:`, outside code."""
    items, _ = _count(text)
    return items


def expected_points(text: str) -> int:
    """How many outline points the list asks for; a lone heading is the title, not a point."""
    items, headings = _count(text)
    points = items - 1 if headings == 1 else items
    return points if points >= 2 else 0


def _count(text: str) -> tuple[int, int]:
    items = headings = 0
    fence = ""
    for raw in text.splitlines():
        line = raw.strip()
        if line.startswith(_FENCE):
            mark = line[:3]
            fence = "" if fence == mark else (fence or mark)
            continue
        if fence or not line or _RULE.match(line):
            continue
        if _HEADING.match(line):
            headings += 1
            items += 1
        elif _NUMBERED.match(line) or _BULLET.match(line) or _is_label(line):
            items += 1
    return items, headings


def _is_label(line: str) -> bool:
    match = _LABEL.match(line)
    return match is not None and match.group(1).casefold() not in _CAPTIONS

"""Counts the separate statements a learner has written down as a list. Pure (GRND-8).

An item is a line with a mark (`agent.list_marks`), or a title that is underlined. Each level of a
nested list counts. Not counted: code, tables, quoted mail, front matter, dialogue, dates, and a
number with which a wrapped line of prose happens to begin.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent.list_marks import TITLE_CHARS, Kind, Mark, Trust, mark_of

_FENCE = ("```", "~~~")
_RULE = re.compile(r"(?:[-*_]\s*){3,}$")
_UNDERLINE = re.compile(r"(?:={3,}|-{3,})$")
_INDENTED = re.compile(r" {0,3}(?:\t| {4})")
_INVISIBLE = str.maketrans("", "", "\ufeff\u200b\u200e\u200f\u2060")
_SENTENCE_END = ".!?:;…。！？：；،؟।"
# "– Home, – she said": a dash after the speech, before what is told about it.
_SPOKEN = re.compile(r"\S[,.?!…]\s[-–—]\s")
_ASKED_OR_CALLED = re.compile(r"[?!…][\"”»]?$")
# Turns that talk: so many dashed lines of which this share asks or exclaims.
SPEECH_LINES = 2
SPEECH_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class _Line:
    """A line outside code; `after_text`: the line before it is prose that has not ended."""

    text: str
    mark: Mark | None
    after_text: bool


def count_list_items(text: str) -> int:
    """Numbered lines, bulleted lines, headings and labels such as `Statement 3:`."""
    items, _ = _count(text)
    return items


def expected_points(text: str) -> int:
    """How many outline points the list asks for; a lone heading is the title, not a point."""
    items, headings = _count(text)
    points = items - 1 if headings == 1 else items
    return points if points >= 2 else 0


def is_item(line: str) -> bool:
    """Whether this line by itself starts an item."""
    mark = mark_of(line.strip())
    return mark is not None and mark.trust is not Trust.WEAK


def _count(text: str) -> tuple[int, int]:
    lines = [line for line in _lines(text) if line.mark is not None]
    readings = {reading for line in lines if line.mark for reading in line.mark.readings}
    spoken = _is_dialogue([line.text for line in lines if _is(line, Kind.DASH)])
    items = [
        line for line in lines if _counts(line, readings) and not (spoken and _is(line, Kind.DASH))
    ]
    return len(items), sum(1 for line in items if _is(line, Kind.HEADING))


def _is(line: _Line, kind: Kind) -> bool:
    return line.mark is not None and line.mark.kind is kind


def _counts(line: _Line, readings: set[tuple[str, int]]) -> bool:
    mark = line.mark
    if mark is None:
        return False
    if mark.trust is Trust.STRONG or (mark.trust is Trust.UNLESS_WRAPPED and not line.after_text):
        return True
    return any(
        (form, value + step) in readings for form, value in mark.readings for step in (-1, 1)
    )


def _is_dialogue(dashed: Sequence[str]) -> bool:
    if any(_SPOKEN.search(line) for line in dashed):
        return True
    dashes = [line for line in dashed if line[0] == "–"]
    loud = sum(1 for line in dashes if _ASKED_OR_CALLED.search(line))
    return len(dashes) >= SPEECH_LINES and loud >= SPEECH_SHARE * len(dashes)


def _lines(text: str) -> list[_Line]:
    """The lines that may be items, read with what stands around them."""
    raws = text.translate(_INVISIBLE).splitlines()
    lines: list[_Line] = []
    fence = last = ""
    head = _front_matter(raws)
    for index, raw in enumerate(raws[head:], head):
        line = raw.strip()
        if line.startswith(_FENCE):
            fence = "" if fence == line[:3] else (fence or line[:3])
            last = ""
            continue
        if fence:
            continue
        if not line or _RULE.match(line):
            last = ""
            continue
        mark = mark_of(line)
        if mark is not None and mark.kind is Kind.HEADING and _INDENTED.match(raw):
            mark = None  # a comment in indented code
        if mark is None and not last and _is_underlined(line, raws, index):
            mark = Mark(Kind.HEADING)
        lines.append(_Line(line, mark, bool(last) and last[-1] not in _SENTENCE_END))
        last = "" if mark is not None else line
    return lines


def _front_matter(raws: Sequence[str]) -> int:
    """How many lines the head of a Markdown file takes, between `---` and `---`."""
    if not raws or raws[0].strip() != "---":
        return 0
    ends = (i for i, raw in enumerate(raws[1:40], 1) if raw.strip() in ("---", "..."))
    return next(ends, -1) + 1


def _is_underlined(line: str, raws: Sequence[str], index: int) -> bool:
    return (
        len(line) <= TITLE_CHARS
        and "|" not in line
        and index + 1 < len(raws)
        and _UNDERLINE.match(raws[index + 1].strip()) is not None
    )

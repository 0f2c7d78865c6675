"""The characters of a PDF page joined to runs: what was drawn in one go on one line. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median
from typing import NamedTuple

# A gap as wide as this many line heights parts two columns; justified words stay closer.
GUTTER_HEIGHTS = 1.3
# Two boxes share a line when they overlap by this share of the lower one.
SAME_LINE = 0.5
# A gap of this many glyph widths is a space between Arabic letters; those that do not join leave
# about half of it.
LEFTWARD_SPACE = 0.3
# More runs than this share of the characters: the text runs upwards or along a curve.
SCATTERED = 0.5


class Glyph(NamedTuple):
    """One character and its box in points, the origin at the lower left."""

    char: str
    left: float
    bottom: float
    right: float
    top: float


@dataclass(slots=True)
class Run:
    """Characters drawn one after the other on one line."""

    text: str
    left: float
    bottom: float
    right: float
    top: float

    @property
    def height(self) -> float:
        return self.top - self.bottom


def as_written(glyphs: Iterable[Glyph]) -> Iterator[Glyph]:
    """The glyphs, each line of Arabic letters from its right end to its left.

    Letters that join are drawn in any order, and the spaces of such lines stand anywhere: gaps
    tell them. Numbers and Latin words inside keep their order. A line feed ends a line.
    """
    for feed, group in groupby(glyphs, key=lambda glyph: glyph.char in "\r\n"):
        line = list(group)
        yield from line if feed or not _is_arabic(line) else _leftwards(line)


def _leftwards(line: Sequence[Glyph]) -> Iterator[Glyph]:
    letters = sorted(
        (glyph for glyph in line if not glyph.char.isspace()),
        key=lambda glyph: -(glyph.left + glyph.right),
    )
    space = LEFTWARD_SPACE * median(glyph.right - glyph.left for glyph in letters)
    ordered: list[Glyph] = []
    for foreign, group in groupby(letters, key=lambda glyph: _direction(glyph) > 0):
        part = list(group)
        ordered += reversed(part) if foreign else part
    last: Glyph | None = None
    for glyph in ordered:
        if last is not None and max(glyph.left - last.right, last.left - glyph.right) > space:
            yield last._replace(char=" ")
        yield glyph
        last = glyph


def _is_arabic(line: Sequence[Glyph]) -> bool:
    return sum(map(_direction, line)) < 0 and any("\u0600" <= g.char < "\u0900" for g in line)


def _direction(glyph: Glyph) -> int:
    """-1 for a letter written leftwards, 1 for other letters and digits, 0 for what is neither."""
    kind = unicodedata.bidirectional(glyph.char)
    return -1 if kind in ("R", "AL") else 1 if kind in ("L", "EN", "AN") else 0


def runs_of(glyphs: Iterable[Glyph]) -> list[Run]:
    """The runs of one page in drawing order; a wide gap or another line starts a new one."""
    runs: list[Run] = []
    run: Run | None = None
    blank = False
    for glyph in as_written(glyphs):
        if glyph.char.isspace():
            blank = True
            continue
        if run is not None and _continues(run, glyph):
            run.text += (" " if blank else "") + glyph.char
            run.left, run.right = min(run.left, glyph.left), max(run.right, glyph.right)
            run.bottom, run.top = min(run.bottom, glyph.bottom), max(run.top, glyph.top)
        else:
            run = Run(*glyph)
            runs.append(run)
        blank = False
    return runs


def _continues(run: Run, glyph: Glyph) -> bool:
    height = min(run.height, glyph.top - glyph.bottom)
    if _overlap(run.bottom, run.top, glyph.bottom, glyph.top) < SAME_LINE * height:
        return False
    gap = max(glyph.left - run.right, run.left - glyph.right)
    return gap <= GUTTER_HEIGHTS * max(run.height, height)


def _overlap(low: float, high: float, other_low: float, other_high: float) -> float:
    return min(high, other_high) - max(low, other_low)


def scattered(runs: Sequence[Run]) -> bool:
    """Whether the boxes tell nothing about lines; then the drawing order is all there is."""
    return len(runs) > SCATTERED * sum(len(run.text) for run in runs)


def same_line(first: Run, second: Run) -> bool:
    shared = _overlap(first.bottom, first.top, second.bottom, second.top)
    return shared >= SAME_LINE * min(first.height, second.height)

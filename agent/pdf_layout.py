"""From the characters of PDF pages to text that reads in order. Pure.

A PDF says where each character stands, in the order in which some program drew it. That order is
kept, because it is mostly the author's, except on pages of prose columns drawn row by row. Lines
become paragraphs again, and what is printed on every page (titles, page numbers) is left out.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from agent.pdf_runs import Run, same_line
from agent.statements import is_item

# A column of prose: at least so many lines, of so many characters in the middle; cells are shorter.
COLUMN_LINES = 5
COLUMN_CHARS = 18
# Columns begin at one of the left edges that most runs share.
EDGES_MAX = 16
# A distance between base lines, in line heights, that starts a paragraph; and a change of size.
PARAGRAPH_HEIGHTS = 1.6
SIZE_CHANGE = 1.15
# A running title stands off the text by so many line heights, on so many pages and on this share
# of them, within so many points.
RUNNING_HEIGHTS = 1.35
RUNNING_PAGES = 3
RUNNING_SHARE = 0.5
RUNNING_CHARS = 100
RUNNING_POINTS = 3.0
TITLE_CHARS = 80
# PDFium's marks for a hyphen that only the line end brought in.
HYPHENS = "\x02\xad\ufffe"
_SENTENCE_END = re.compile(r"[.!?…:;。！？।؟][\"'”’»)\]]*$")
# Scripts that put no space between words, nor between lines.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff\uff00-\uff65]"
)
_DIGITS = re.compile(r"\d+")


def without_running_lines(pages: Sequence[list[Run]]) -> list[list[Run]]:
    """The pages without the line at the top or bottom that most of them share, numbers aside."""
    seen: Counter[tuple[str, int]] = Counter()
    for runs in pages:
        seen.update({key for run in _edges(runs) for key in _running_keys(run)})
    least = max(RUNNING_PAGES, RUNNING_SHARE * len(pages))

    def repeated(run: Run) -> bool:
        return any(seen[key] >= least for key in _running_keys(run))

    kept = []
    for runs in pages:
        drop = {id(run) for run in _edges(runs) if repeated(run)}
        kept.append([run for run in runs if id(run) not in drop])
    return kept


def _edges(runs: Sequence[Run]) -> list[Run]:
    """The runs on the highest and on the lowest line of a page, if they stand off the rest."""
    edges: list[Run] = []
    for edge in (max, min):
        outer = edge(runs, key=lambda run: run.bottom, default=None)
        if outer is None:
            return []
        rest = [run.bottom for run in runs if not same_line(run, outer)]
        if not rest or abs(edge(rest) - outer.bottom) >= RUNNING_HEIGHTS * outer.height:
            edges += [run for run in runs if same_line(run, outer)]
    return edges


def _running_keys(run: Run) -> list[tuple[str, int]]:
    if len(run.text) > RUNNING_CHARS:
        return []
    place = run.bottom / RUNNING_POINTS
    text = _DIGITS.sub("#", run.text)
    return [(text, int(place)), (text, round(place))]


def in_reading_order(runs: list[Run]) -> list[Run]:
    """Drawing order, unless prose columns were drawn across; then column after column."""
    gutter = _gutter(runs)
    if gutter is None:
        return runs
    sides = [_side(run, gutter) for run in runs]
    jumps = sum(1 for a, b in pairwise(sides) if a and b and a != b)
    if jumps <= COLUMN_LINES:
        return runs
    ordered: list[Run] = []
    left: list[Run] = []
    right: list[Run] = []
    for run in sorted(runs, key=lambda run: (-run.top, run.left)):
        side = _side(run, gutter)
        if side == 0:  # across the gutter: a title, which ends the columns above it
            ordered += [*_column(left), *_column(right), run]
            left, right = [], []
        else:
            (left if side < 0 else right).append(run)
    return [*ordered, *_column(left), *_column(right)]


def _column(runs: list[Run]) -> list[Run]:
    return in_reading_order(runs) if len(runs) >= 2 * COLUMN_LINES else runs


def _side(run: Run, gutter: float) -> int:
    return -1 if run.right <= gutter else 1 if run.left >= gutter else 0


def _gutter(runs: Sequence[Run]) -> float | None:
    """The x that parts two columns of prose with the fewest lines across; None without one."""
    best: tuple[int, int] | None = None
    edges = Counter(math.floor(run.left) for run in runs).most_common(EDGES_MAX)
    for x, _ in edges:
        sides = [_side(run, x) for run in runs]
        across = sides.count(0)
        if across > len(runs) // 5 or (best is not None and across >= best[0]):
            continue
        if all(_is_prose([r for r, s in zip(runs, sides, strict=True) if s == n]) for n in (-1, 1)):
            best = (across, x)
    return best[1] if best else None


def _is_prose(runs: Sequence[Run]) -> bool:
    if len(runs) < COLUMN_LINES:
        return False
    lengths = sorted(len(run.text) for run in runs)
    return lengths[len(lengths) // 2] >= COLUMN_CHARS


def text_of(runs: Sequence[Run]) -> str:
    """Paragraphs parted by an empty line, list items by a line end, from ordered runs."""
    parts: list[str] = []
    lines = _lines(runs)
    for index, line in enumerate(lines):
        if index:
            parts.append(_joint(lines[index - 1], line, _block_right(lines, index - 1)))
        text = line.text
        if index + 1 < len(lines) and text[-1:] in HYPHENS:
            text = text[:-1] if lines[index + 1].text[:1].islower() else text[:-1] + "-"
        parts.append(text)
    return _titled("".join(parts).translate({ord(mark): "-" for mark in HYPHENS}))


def _titled(text: str) -> str:
    """Short blocks before a paragraph marked as headings, as in Markdown."""
    blocks = text.split("\n\n")
    for at, (block, after) in enumerate(pairwise(blocks)):
        if _is_title(block) and len(after) > 2 * len(block) and not _is_title(after):
            blocks[at] = f"## {block}"
    return "\n\n".join(blocks)


def _is_title(block: str) -> bool:
    return (
        0 < len(block) <= TITLE_CHARS
        and "\n" not in block
        and not block[0].islower()
        and not is_item(block)
        and _SENTENCE_END.search(block) is None
    )


def _lines(runs: Sequence[Run]) -> list[Run]:
    """Neighbouring runs of one line made one: cells of a table, words far apart."""
    lines: list[Run] = []
    for run in runs:
        last = lines[-1] if lines else None
        if last is not None and same_line(last, run) and _goes_on(last, run):
            lines[-1] = Run(
                f"{last.text} {run.text}",
                min(last.left, run.left),
                min(last.bottom, run.bottom),
                max(last.right, run.right),
                max(last.top, run.top),
            )
        else:
            lines.append(run)
    return lines


def _goes_on(last: Run, run: Run) -> bool:
    if run.left >= last.right:
        return True
    leftwards = any(unicodedata.bidirectional(char) in ("R", "AL") for char in last.text)
    return leftwards and run.right <= last.left


def _block_right(lines: Sequence[Run], index: int) -> float:
    """How far the lines around `index` reach that begin where it begins."""
    line = lines[index]
    around = lines[max(0, index - 4) : index + 5]
    near = [other.right for other in around if abs(other.left - line.left) < 3 * line.height]
    return max(near, default=line.right)


def _joint(last: Run, line: Run, right: float) -> str:
    """What stands between two lines: nothing, a space, a line end or an empty line."""
    hyphenated = last.text[-1:] in HYPHENS
    if hyphenated and line.text[:1].islower():
        return ""
    if is_item(line.text):
        return "\n"
    ended = _SENTENCE_END.search(last.text) is not None
    step = last.bottom - line.bottom
    if step < 0:  # the next column
        return "\n\n" if ended or not line.text[:1].islower() else " "
    sizes = sorted((last.height, line.height))
    if step > PARAGRAPH_HEIGHTS * sizes[1] or sizes[1] > SIZE_CHANGE * sizes[0]:
        return "\n\n"
    if ended and _had_room(last, line, right):
        return "\n\n"
    return "" if _UNSPACED.match(last.text[-1]) and _UNSPACED.match(line.text[0]) else " "


def _had_room(last: Run, line: Run, right: float) -> bool:
    """Whether the first word of `line` would have fitted behind `last`: then it was not wanted."""
    word = line.text.split(" ", 1)[0]
    width = (line.right - line.left) / len(line.text)
    return right - last.right > (len(word) + 1) * width

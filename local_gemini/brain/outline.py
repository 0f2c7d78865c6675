"""Makes a digest and an outline of a text out of its own words: extractive, deterministic, pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from local_gemini.brain.language import central, content_words, rarity, sentences, stems
from local_gemini.brain.titles import titles_of

# The product's defaults (DATA-55, DATA-56, GRND-7): a deeper request is clamped by the caller, so
# the digest is made to fit the tier that the caller will find.
TIERS = ("standard", "structured", "deep")
POINTS = {"standard": 5, "structured": 12, "deep": 20}
DIGEST = {"standard": 2_000, "structured": 4_000, "deep": 6_000}
SECTION = {"standard": 400, "structured": 600, "deep": 600}
STRUCTURED_CHARS, DEEP_CHARS = 8_000, 60_000
# What of a text is looked at; pasted documents end well before (120 000 characters).
TEXT_MAX = 400_000
WORDS_PER_POINT = 45
LIST_SHARE = 0.3
INTRODUCTION_WORDS = 12
NEIGHBOURS = 4
# Longer texts are compared in coarser steps, which bounds the time.
STEPS_MAX = 1_000

_NUMBERED = re.compile(r"^\s{0,8}(?:\(?\d{1,3}[.)]|\d{1,3}\s?[:–—-])\s+(?=\S)")
_LABELLED = re.compile(r"^\s{0,8}(?:\*\*)?[^\W\d_]{3,20}\s\d{1,3}(?:\*\*)?\s?[:.)–—-]\s*(?=\S)")
_BULLET = re.compile(r"^\s{0,8}[-*•‣▪–+]\s+(?=\S)")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.+?)\s*#*\s*$")
_MARK = re.compile(r"^\s*(?:#{1,6}|\(?\d{1,3}[.)])\s+(?=\S)")
_LEAD = re.compile(r"^(?:\*\*)?([^.:!?]{3,60}?)(?:\*\*)?\s?(?::|\s[–—-])(?:\*\*)?\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class Part:
    """One outline point: a short title and a summary of the text's own sentences."""

    title: str
    summary: str


@dataclass(frozen=True, slots=True)
class Outline:
    """What grounding answers: digest, depth (`standard`, `structured`, `deep`) and points."""

    digest: str
    depth: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class _Piece:
    heading: str
    text: str


def outline_document(
    text: str,
    *,
    title: str = "",
    digest_chars: int = 6_000,
    outline_max: int = 20,
    section_chars: int = 600,
    total_chars: int = 20_000,
) -> Outline:
    """Outline `text`: one point per statement of a list, else per section, else per topic.

    `total_chars` bounds digest, titles and summaries together. Any text is accepted; a text
    without words gives an outline without parts.
    """
    clean = _clean(text[:TEXT_MAX])
    pieces, statements = _pieces(clean, outline_max)
    depth = _depth(len(text), statements)
    if not pieces:
        pieces = _segments(clean, min(POINTS[depth], outline_max))
    pieces = _merged(pieces, outline_max)
    titles = titles_of([(piece.heading, piece.text) for piece in pieces], title)
    weights = rarity([stems(piece.text) for piece in pieces])
    digest = min(digest_chars, DIGEST[depth], total_chars // 2)
    named = sum(map(len, titles)) + digest
    fair = (total_chars - named) // max(1, len(titles))
    section = max(0, min(section_chars, SECTION[depth], fair))
    parts = tuple(
        Part(name, _extract(piece.text, section, weights) or name)
        for name, piece in zip(titles, pieces, strict=True)
    )
    return Outline(_digest(titles, pieces, digest, weights), depth, parts)


def _clean(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\ufeff", "")
    text = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]", " ", text)
    return re.sub(r"[ \t\u00a0]+\n", "\n", text.expandtabs(4))


def _depth(chars: int, statements: int) -> str:
    by_size = 2 if chars >= DEEP_CHARS else 1 if chars >= STRUCTURED_CHARS else 0
    by_list = (
        2 if statements > POINTS["structured"] else 1 if statements > POINTS["standard"] else 0
    )
    return TIERS[max(by_size, by_list)]


def _pieces(text: str, outline_max: int) -> tuple[list[_Piece], int]:
    """The statements or sections of a structured text (none for prose), and how many it lists."""
    size = max(1, len(text.strip()))
    headed = _sections(text)
    for mark in (_LABELLED, _NUMBERED, _BULLET):
        items = _items(text, mark)
        inside = sum(len(item.text) for item in items)
        if len(items) >= 3 and inside >= LIST_SHARE * size:
            if len(items) > outline_max and 3 <= len(headed) <= outline_max:
                return headed, len(items)
            return items, len(items)
    return (headed, len(headed)) if len(headed) >= 2 else ([], 0)


def _items(text: str, mark: re.Pattern[str]) -> list[_Piece]:
    items: list[list[str]] = []
    open_item = False
    for line in text.split("\n"):
        if found := mark.match(line):
            items.append([line[found.end() :].strip()])
            open_item = True
        elif not line.strip() or _HEADING.match(line):
            open_item = False
        elif open_item:
            items[-1].append(_BULLET.sub("", line).strip())
    made = []
    for lines in items:
        body = " ".join(lines)
        lead = _LEAD.match(body)
        rest = body[lead.end() :] if lead else body
        made.append(_Piece(_bare(lead[1]) if lead and len(rest) > 12 else "", _bare(body)))
    return [piece for piece in made if piece.text]


def _sections(text: str) -> list[_Piece]:
    sections: list[tuple[str, list[str]]] = []
    for line in text.split("\n"):
        if found := _HEADING.match(line):
            sections.append((found[1], []))
        elif sections:
            sections[-1][1].append(_BULLET.sub("", line))
    made = [_Piece(_bare(name), _bare("\n".join(lines))) for name, lines in sections]
    if len(made) > 2 and len(content_words(made[0].text)) < INTRODUCTION_WORDS:
        # The text's own title with a line under it introduces the first section.
        made[1] = _Piece(made[1].heading, f"{made[0].text}\n{made[1].text}".strip())
        del made[0]
    return [piece for piece in made if piece.text]


def _bare(text: str) -> str:
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}", "", text).strip()


def _segments(text: str, most: int) -> list[_Piece]:
    """Topical segments of prose: by paragraph when that gives a sensible number, else lexically."""
    blocks = (_MARK.sub("", block) for block in re.split(r"\n\s*\n", text))
    paragraphs = [_bare(block) for block in blocks if block.strip()]
    if len(paragraphs) > 1 and not re.search(r"[.!?]", paragraphs[0]) and len(paragraphs[0]) < 100:
        paragraphs = paragraphs[1:]  # a title line
    substantial = [block for block in paragraphs if len(content_words(block)) >= 6]
    if 3 <= len(substantial) <= most and len(substantial) >= len(paragraphs) - 1:
        return [_Piece("", block) for block in substantial]
    lines: list[str] = []
    starts: set[int] = set()
    for block in paragraphs:
        starts.add(len(lines))
        lines += [line for line in sentences(block) if re.search(r"\w", line)]
    wanted = sum(len(line.split()) for line in lines) // WORDS_PER_POINT
    wanted = min(max(3, wanted), most, len(lines))
    return [_Piece("", " ".join(group)) for group in _tiles(lines, starts, wanted)]


def _tiles(lines: list[str], paragraph_starts: set[int], wanted: int) -> list[list[str]]:
    """Cut `lines` into `wanted` groups where their vocabulary changes most."""
    if not lines:
        return []
    if (coarse := -(-len(lines) // STEPS_MAX)) > 1:
        paragraph_starts = {start // coarse for start in paragraph_starts}
        lines = [" ".join(lines[at : at + coarse]) for at in range(0, len(lines), coarse)]
    bags = [Counter(stems(line)) for line in lines]
    change: dict[int, float] = {}
    for gap in range(1, len(lines)):
        left: Counter[str] = sum(bags[max(0, gap - NEIGHBOURS) : gap], Counter())
        right: Counter[str] = sum(bags[gap : gap + NEIGHBOURS], Counter())
        shared = sum(min(count, right[item]) for item, count in left.items())
        size = min(sum(left.values()), sum(right.values()))
        change[gap] = 1 - shared / max(1, size) + (0.35 if gap in paragraph_starts else 0.0)
    shortest = max(1, len(lines) // (2 * wanted))
    cuts: list[int] = []
    for gap in sorted(change, key=lambda gap: (-change[gap], gap)):
        if len(cuts) == wanted - 1:
            break
        if all(abs(gap - cut) >= shortest for cut in (0, len(lines), *cuts)):
            cuts.append(gap)
    edges = [0, *sorted(cuts), len(lines)]
    return [lines[start:end] for start, end in pairwise(edges)]


def _merged(pieces: list[_Piece], most: int) -> list[_Piece]:
    """At most `most` pieces: neighbours are joined evenly, nothing is dropped."""
    if len(pieces) <= most:
        return pieces
    edges = [round(index * len(pieces) / most) for index in range(most + 1)]
    made = []
    for start, end in pairwise(edges):
        group = pieces[start:end]
        made.append(_Piece(group[0].heading, " ".join(_ended(piece.text) for piece in group)))
    return made


def _ended(text: str) -> str:
    return text if text[-1:] in ".!?。！？" else text + "."


def _extract(text: str, budget: int, weights: dict[str, float]) -> str:
    """The most central whole sentences of `text`, in its order, within `budget` characters."""
    lines = sentences(text)
    if not lines or budget <= 0:
        return ""
    room = budget
    kept: set[int] = set()
    # The first sentence usually names what the rest is about.
    for index in [0, *(item for item in central(lines[:200], weights) if item)]:
        if len(lines[index]) + 1 <= room:
            kept.add(index)
            room -= len(lines[index]) + 1
    if not kept:
        return lines[0][: max(1, budget - 1)].rsplit(" ", 1)[0] + "…"
    return " ".join(lines[index] for index in sorted(kept))


def _digest(
    titles: Sequence[str], pieces: Sequence[_Piece], budget: int, weights: dict[str, float]
) -> str:
    """Every point with its title and what of its text fits an even share of `budget`."""
    lines: list[str] = []
    room = budget
    for index, (title, piece) in enumerate(zip(titles, pieces, strict=True)):
        head = f"{index + 1}. {title}: "
        share = room // (len(titles) - index) - len(head) - 1
        line = head + _extract(piece.text, share, weights)
        lines.append(line)
        room -= len(line) + 1
    return "\n".join(lines)[:budget]

"""Makes a digest and an outline of a text out of its own words: extractive, deterministic, pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from local_gemini.brain.language import (
    central,
    content_words,
    phrases,
    rarity,
    sentences,
    stem,
    stems,
    subject,
)

# The product's defaults (DATA-55, DATA-56, GRND-7): a deeper request is clamped by the caller, so
# the digest is made to fit the tier that the caller will find.
TIERS = ("standard", "structured", "deep")
POINTS = {"standard": 5, "structured": 12, "deep": 20}
DIGEST = {"standard": 2_000, "structured": 4_000, "deep": 6_000}
SECTION = {"standard": 400, "structured": 600, "deep": 600}
STRUCTURED_CHARS, DEEP_CHARS = 8_000, 60_000
# What of a text is looked at; pasted documents end well before (120 000 characters).
TEXT_MAX = 400_000
TITLE_MAX = 60
WORDS_PER_POINT = 45
LIST_SHARE = 0.3
NEIGHBOURS = 4

_NUMBERED = re.compile(r"^\s{0,8}(?:\(?\d{1,3}[.)]|\d{1,3}\s?[:–—-])\s+(?=\S)")
_LABELLED = re.compile(r"^\s{0,8}(?:\*\*)?[^\W\d_]{3,20}\s\d{1,3}(?:\*\*)?\s?[:.)–—-]\s*(?=\S)")
_BULLET = re.compile(r"^\s{0,8}[-*•‣▪–+]\s+(?=\S)")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.+?)\s*#*\s*$")
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
) -> Outline:
    """Outline `text`: one point per statement of a list, else per section, else per topic.

    Any text is accepted; a text without words gives an outline without parts.
    """
    clean = _clean(text[:TEXT_MAX])
    pieces, statements = _pieces(clean, outline_max)
    depth = _depth(len(text), statements)
    if not pieces:
        pieces = _segments(clean, min(POINTS[depth], outline_max))
    pieces = _merged(pieces, outline_max)
    titles = _titles(pieces, title)
    weights = rarity([stems(piece.text) for piece in pieces])
    section = min(section_chars, SECTION[depth])
    parts = tuple(
        Part(name, _extract(piece.text, section, weights) or name)
        for name, piece in zip(titles, pieces, strict=True)
    )
    return Outline(_digest(parts, min(digest_chars, DIGEST[depth]), weights), depth, parts)


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
    return [piece for piece in made if piece.text]


def _bare(text: str) -> str:
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}", "", text).strip()


def _segments(text: str, most: int) -> list[_Piece]:
    """Topical segments of prose: by paragraph when that gives a sensible number, else lexically."""
    paragraphs = [_bare(block) for block in re.split(r"\n\s*\n", text) if block.strip()]
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


def _titles(pieces: Sequence[_Piece], topic: str) -> list[str]:
    weights = rarity([stems(piece.text) for piece in pieces])
    known = set(stems(topic))
    taken: set[str] = set()
    made: list[str] = []
    for piece in pieces:
        options = [piece.heading] if piece.heading else _candidates(piece.text, weights, known)
        options = [_short(option) for option in options if option.strip()]
        pick = next((option for option in options if option.lower() not in taken), "")
        if not pick:
            number = 2
            base = options[0] if options else "Point"
            while f"{base} ({number})".lower() in taken:
                number += 1
            pick = f"{base} ({number})"
        taken.add(pick.lower())
        made.append(pick)
    return made


def _candidates(text: str, weights: dict[str, float], known: set[str]) -> list[str]:
    """Names for a passage, best first: its subject, its telling phrases, its first words."""
    lines = sentences(text)
    counts = Counter(stems(text))
    opening = subject(lines[0]) if lines else ""
    seen: dict[str, float] = {}
    for index, phrase in enumerate(phrases(text)):
        own = [stem(word) for word in content_words(phrase)]
        if not own or phrase.isdigit():
            continue
        value = sum(counts[item] * weights.get(item, 0.0) for item in own) / len(own) ** 0.5
        value *= 0.4 if all(item in known for item in own) else 1.0
        value *= 1.0 + (0.6 if index == 0 else 0.2 if phrase in (lines or [""])[0] else 0.0)
        seen.setdefault(phrase, value)
    ranked = sorted(seen, key=lambda phrase: (-seen[phrase], text.find(phrase)))
    name = set(stems(opening))
    telling = name and not name <= known and max(weights.get(item, 0.0) for item in name) > 0.5
    best = [opening] if opening and (telling or len(lines) <= 1) else []
    pairs = [f"{ranked[0]} and {other}" for other in ranked[1:3]] if ranked else []
    if len(ranked) >= 1 and opening:
        pairs.append(f"{opening}: {ranked[0]}")
    single = [phrase for phrase in ranked[:3] if " " in phrase] + pairs + ranked[:3]
    start = " ".join(text.split()[:7])
    return [*best, *single, start]


def _short(title: str) -> str:
    title = " ".join(title.split()).strip(" .,;:–—-")
    if len(title) > TITLE_MAX:
        title = title[:TITLE_MAX].rsplit(" ", 1)[0].rstrip(" ,;:") or title[:TITLE_MAX]
    return title[:1].upper() + title[1:]


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


def _digest(parts: Sequence[Part], budget: int, weights: dict[str, float]) -> str:
    """Every point with its title and what of its summary fits an even share of `budget`."""
    lines: list[str] = []
    room = budget
    for index, part in enumerate(parts):
        head = f"{index + 1}. {part.title}: "
        share = room // (len(parts) - index) - len(head) - 1
        line = head + _extract(part.summary, share, weights)
        lines.append(line)
        room -= len(line) + 1
    return "\n".join(lines)[:budget]

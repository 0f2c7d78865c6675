"""How deep a topic goes, and the limits of each depth. Pure (GRND-4 to GRND-8, DATA-55/56)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from agent.topic import TIERS, Section, Tier

# A cut keeps whole sentences when that costs at most this share of the budget.
SENTENCE_SHARE = 0.5
TITLE_CHARS = 160
_SENTENCE_END = re.compile(r"[.!?…](?=\s|$)")


@dataclass(frozen=True, slots=True)
class TierCaps:
    """Limits of one tier; lengths in characters."""

    agenda_max: int
    outline_max: int
    digest_chars: int
    section_digest_chars: int


@dataclass(frozen=True, slots=True)
class ContextTiers:
    standard: TierCaps = field(default_factory=lambda: TierCaps(5, 5, 2000, 400))
    structured: TierCaps = field(default_factory=lambda: TierCaps(12, 12, 4000, 600))
    deep: TierCaps = field(default_factory=lambda: TierCaps(20, 20, 6000, 600))

    def caps(self, tier: Tier) -> TierCaps:
        match tier:
            case "deep":
                return self.deep
            case "structured":
                return self.structured
            case _:
                return self.standard


@dataclass(frozen=True, slots=True)
class TierThresholds:
    """Sizes from which a document is structured or deep; the threshold itself counts."""

    structured_chars: int = 8_000
    deep_chars: int = 60_000
    structured_bytes: int = 200_000
    deep_bytes: int = 1_000_000


DEFAULT_TIERS = ContextTiers()
DEFAULT_THRESHOLDS = TierThresholds()


def tier_named(name: object) -> Tier:
    """The tier a model reported; anything unknown is standard (GRND-5)."""
    wanted = name.strip().lower() if isinstance(name, str) else ""
    return next((tier for tier in TIERS if tier == wanted), "standard")


def tier_of_text(
    chars: int,
    statements: int,
    thresholds: TierThresholds = DEFAULT_THRESHOLDS,
    tiers: ContextTiers = DEFAULT_TIERS,
) -> Tier:
    """Tier of pasted text from its length and its detected statements (GRND-6, GRND-7)."""
    by_size = _by_size(chars, thresholds.structured_chars, thresholds.deep_chars)
    return higher(by_size, _by_statements(statements, tiers))


def tier_of_bytes(
    size: int,
    statements: int,
    thresholds: TierThresholds = DEFAULT_THRESHOLDS,
    tiers: ContextTiers = DEFAULT_TIERS,
) -> Tier:
    """Tier of an uploaded file from its size in bytes and its detected statements."""
    by_size = _by_size(size, thresholds.structured_bytes, thresholds.deep_bytes)
    return higher(by_size, _by_statements(statements, tiers))


def higher(first: Tier, second: Tier) -> Tier:
    return max(first, second, key=TIERS.index)


def _by_size(size: int, structured: int, deep: int) -> Tier:
    if size >= deep:
        return "deep"
    return "structured" if size >= structured else "standard"


def _by_statements(statements: int, tiers: ContextTiers) -> Tier:
    if statements > tiers.structured.agenda_max:
        return "deep"
    return "structured" if statements > tiers.standard.agenda_max else "standard"


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters: whole sentences if they fill half of it, else whole words."""
    text = text.strip()
    if len(text) <= limit:
        return text
    head = text[:limit]
    ends = [match.end() for match in _SENTENCE_END.finditer(text[: limit + 1])]
    fitting = [end for end in ends if end <= limit]
    if fitting and fitting[-1] >= limit * SENTENCE_SHARE:
        return head[: fitting[-1]].rstrip()
    if limit < 2:
        return head
    words = head[: limit - 1]
    space = words.rfind(" ")
    if space >= limit * SENTENCE_SHARE:
        words = words[:space]
    return words.rstrip() + "…"


def clamp(
    digest: str, points: Iterable[tuple[str, str]], caps: TierCaps
) -> tuple[str, tuple[Section, ...]]:
    """Cuts digest, outline and summaries to `caps` and numbers the points (GRND-3, GRND-4)."""
    kept: list[tuple[str, str]] = []
    seen: set[str] = set()
    for raw_title, summary in points:
        title = shorten(" ".join(raw_title.split()), TITLE_CHARS)
        if not title or title.casefold() in seen:
            continue
        seen.add(title.casefold())
        kept.append((title, shorten(summary, caps.section_digest_chars)))
        if len(kept) == caps.outline_max:
            break
    outline = tuple(
        Section(f"s{number}", title, summary) for number, (title, summary) in enumerate(kept, 1)
    )
    return shorten(digest, caps.digest_chars), outline

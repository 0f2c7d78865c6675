"""Names passages of a text with short titles out of their own words. Pure, deterministic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from local_gemini.brain.language import (
    content_words,
    noun_phrases,
    rarity,
    sentences,
    stem,
    stems,
    subject,
)

TITLE_MAX = 60
# A second phrase joins a title when it tells nearly as much as the first.
PAIR_SHARE = 0.75


def titles_of(passages: Sequence[tuple[str, str]], topic: str) -> list[str]:
    """A title for each passage (its own heading or empty, its text); no two are the same."""
    weights = rarity([stems(text) for _, text in passages])
    known = set(stems(topic))
    taken: set[str] = set()
    made: list[str] = []
    for heading, text in passages:
        options = [heading] if heading else _candidates(text, weights, known)
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
    opening = subject(lines[0]) if lines else ""
    own = stems(text)
    places: dict[tuple[str, ...], str] = {}
    for phrase in noun_phrases(text):
        places.setdefault(tuple(stem(word) for word in content_words(phrase)), phrase)
    counts = Counter(
        tuple(own[at : at + size]) for size in (1, 2, 3) for at in range(len(own) - size + 1)
    )
    values: dict[str, float] = {}
    first = set(stems(lines[0])) if lines else set()
    for key, phrase in places.items():
        if not key or phrase.isdigit():
            continue
        rare = sum(weights.get(item, 0.0) for item in key) / len(key)
        value = (counts[key] - 0.75) * rare * (1.0 + 0.35 * (len(key) - 1))
        value *= 0.4 if all(item in known for item in key) else 1.0
        values[phrase] = value * (1.25 if set(key) <= first else 1.0)
    ranked = sorted(values, key=lambda phrase: (-values[phrase], text.find(phrase)))
    name = set(stems(opening))
    fresh = bool(name) and not name <= known
    rare_name = fresh and max(weights.get(item, 0.0) for item in name) > 0.5
    best = [opening] if opening and rare_name and len(lines) <= 2 else []
    pairs = [
        f"{ranked[0]} and {other}"
        for other in ranked[1:4]
        if not set(stems(other)) & set(stems(ranked[0]))
        and values[other] >= PAIR_SHARE * values[ranked[0]]
    ]
    lone = ranked[:1] if ranked and " " in ranked[0] else []
    tied = [f"{opening}: {phrase}" for phrase in ranked[:2] if opening]
    return [*best, *lone, *pairs, *ranked[:3], *tied, " ".join(text.split()[:7])]


def _short(title: str) -> str:
    title = " ".join(title.split()).strip(" .,;:–—-")
    if len(title) > TITLE_MAX:
        title = title[:TITLE_MAX].rsplit(" ", 1)[0].rstrip(" ,;:") or title[:TITLE_MAX]
    return title[:1].upper() + title[1:]

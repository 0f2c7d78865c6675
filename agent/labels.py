"""Whether two short labels name the same point. Pure; built for precision (AGND-6).

A wrongly ticked point is worse than a missed one, so a difference in number, negation, question
word or head noun always means "another point".
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from agent.label_words import (
    ASKING,
    BOUNDARIES,
    DIRECTIONS,
    JOINERS,
    NEGATIONS,
    NUMBERS,
    QUESTIONS,
    ROMAN,
    STOP,
)

# Measured on tests/agent/data/agenda_pairs.tsv: the share of the longer label's words that the
# shorter one must hold. At 0.5 `demand` swallows `supply and demand`; at 0.75 `ocean currents`
# no longer finds `deep ocean currents`.
MIN_OVERLAP = 0.6

_WORDS = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_][\w+#]*|\w+")
_ENUMERATOR = re.compile(
    r"^\s*(?:(?:point|step|part|section|s)?\s*\d{1,3}\s*[.):](?!\d)|[-*•])\s*", re.I
)
# Marks a single capital letter; it is told apart like a number.
NAME_MARK = "¹"
_PLAIN_PLURAL = re.compile(r"(?<![sui])s$")


@dataclass(frozen=True, slots=True)
class Label:
    """A label taken apart; each word is the set of stems it may stand for."""

    plain: str
    words: tuple[frozenset[str], ...]
    head: frozenset[str]
    numbers: frozenset[str]
    negations: frozenset[str]
    questions: frozenset[str]
    directed: bool
    joined: bool


def similarity(first: str, second: str) -> float:
    """1.0 for the same label, 0.0 for another point, the overlap of the words in between."""
    a, b = _read(first), _read(second)
    if a.plain == b.plain:
        return 1.0
    if not a.words or not b.words:
        return 0.0
    if a.negations != b.negations or a.numbers != b.numbers:
        return 0.0
    if a.questions and b.questions and a.questions != b.questions:
        return 0.0
    short, long = sorted((a, b), key=lambda label: len(label.words))
    places = _places(short, long)
    if places is None:
        return 0.0
    if a.directed and b.directed and places != sorted(places):
        return 0.0
    overlap = len(short.words) / len(long.words)
    if overlap == 1.0:
        return 0.99
    if a.joined != b.joined or not (short.head & long.head):
        return 0.0
    return overlap if overlap >= MIN_OVERLAP else 0.0


def _places(short: Label, long: Label) -> list[int] | None:
    """Where each word of `short` stands in `long`; None if one is missing."""
    free = list(range(len(long.words)))
    places = []
    for word in short.words:
        at = next((i for i in free if word & long.words[i]), None)
        if at is None:
            return None
        free.remove(at)
        places.append(at)
    return places


@lru_cache(maxsize=4096)
def _read(raw: str) -> Label:
    text = unicodedata.normalize("NFKC", raw)
    stripped = _ENUMERATOR.sub("", text) or text
    shouted = stripped.upper() == stripped
    tokens = [
        _token(match.group(), first=not index, shouted=shouted)
        for index, match in enumerate(_WORDS.finditer(_spelled(stripped)))
    ]
    tokens = _without_count(tokens)
    words = [t for t in tokens if _is_content(t)]
    boundary = next((i for i, t in enumerate(tokens) if i and t in BOUNDARIES), len(tokens))
    lead = [t for t in tokens[:boundary] if _is_content(t)] or words
    return Label(
        plain=" ".join(tokens),
        words=tuple(_stems(word) for word in words),
        head=_stems(lead[-1]) if lead else frozenset(),
        numbers=frozenset(t for t in tokens if t[0].isdigit() or t.endswith(NAME_MARK)),
        negations=frozenset("not" if t == "cannot" else t for t in tokens if t in NEGATIONS),
        questions=frozenset(t for t in tokens if t in QUESTIONS),
        directed=any(t in DIRECTIONS for t in tokens),
        joined=any(t in JOINERS for t in tokens),
    )


def _spelled(text: str) -> str:
    """Apostrophes, signs and dotted abbreviations spelled so that words come out whole."""
    text = text.replace("’", "'").replace("&", " and ").replace("%", " percent ")
    text = re.sub(r"(?i)\bcan't\b", "can not", text)
    text = re.sub(r"(?i)n't\b", " not", text)
    text = re.sub(r"(?i)'s\b|(?<=s)'(?!\w)", "", text)
    return re.sub(r"\b(?:[^\W\d_]\.){2,}", lambda match: match.group().replace(".", ""), text)


def _token(word: str, *, first: bool, shouted: bool) -> str:
    if not shouted and not first:
        if word in ROMAN:
            return ROMAN[word]
        if len(word) == 1 and word.isupper():
            return word + NAME_MARK  # vitamin A, plan B: a name, not an article
    if word[0].isdigit():
        return word.replace(",", "")
    folded = unicodedata.normalize("NFKD", word.casefold())
    plain = "".join(c for c in folded if not unicodedata.combining(c))
    return NUMBERS.get(plain, plain or word)


def _without_count(tokens: list[str]) -> list[str]:
    """Drops a leading count ("the four chambers of the heart"), not a name ("World War 2")."""
    at = 1 if tokens[:1] == ["the"] else 0
    if len(tokens) > at + 1 and tokens[at].isdigit() and _PLAIN_PLURAL.search(tokens[at + 1]):
        return tokens[:at] + tokens[at + 1 :]
    return tokens


def _is_content(token: str) -> bool:
    return token not in STOP and token not in ASKING and token not in DIRECTIONS


@lru_cache(maxsize=8192)
def _stems(word: str) -> frozenset[str]:
    """Stems under which `word` may meet another form of itself; never shorter than 4 letters."""
    if len(word) < 4 or not word.isalpha() or not word.isascii():
        return frozenset({word})
    base = _british(_singular(word))
    found = {_finish(base)}
    for suffix in ("ing", "ed", "ation", "ion", "ly"):
        stem = base.removesuffix(suffix)
        if stem != base and len(stem) >= 4:
            if suffix in ("ing", "ed") and stem[-1] == stem[-2] and stem[-1] not in "ls":
                stem = stem[:-1]
            found.add(_finish(stem))
            if suffix in ("ing", "ed"):
                found.discard(_finish(base))
    return frozenset(found)


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    return _PLAIN_PLURAL.sub("", word)


def _british(word: str) -> str:
    word = re.sub(r"is(e|ed|ing|ation)$", r"iz\1", word) if len(word) > 6 else word
    word = re.sub(r"ys(e|ed|ing)$", r"yz\1", word)
    return re.sub(r"(?<=[a-z]{3})our$", "or", word)


def _finish(stem: str) -> str:
    if len(stem) > 4 and stem.endswith("e"):
        return stem[:-1]
    return stem[:-1] + "i" if stem.endswith("y") else stem

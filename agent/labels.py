"""Whether two short labels name the same point. Pure; built for precision (AGND-6).

A wrongly ticked point is worse than a missed one, so a difference in number, negation, question
word or head noun always means "another point". Measured on tests/agent/data/agenda_pairs*.tsv.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from functools import lru_cache

from agent.label_stems import fold, is_plural, stems
from agent.label_words import (
    ABBREVIATIONS,
    ASKING,
    BOUNDARIES,
    DIRECTIONS,
    JOINERS,
    NEGATIONS,
    NUMBERS,
    POLES,
    QUESTIONS,
    ROMAN,
    STOP,
)

# The share of the longer label's words that the shorter one must hold. At 0.5 `demand` swallows
# `supply and demand`; at 0.75 `ocean currents` no longer finds `deep ocean currents`.
MIN_OVERLAP = 0.6
SAME_WORDS = 0.99

# Chinese and Japanese write no spaces: each character is a word, and their order counts.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# Vowel signs that Python's \w leaves out: Hebrew, Arabic, Indic scripts, Thai, Khmer.
_SIGNS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0970-\u0de5"
_SIGNS += "\u0e31-\u0e4e\u17b4-\u17d3"
_WORDS = re.compile(
    rf"\d+(?:[.,]\d+)*(?:st|nd|rd|th)?|[{_CJK}]|[^\W\d_{_CJK}](?:[^\W{_CJK}]|[+#{_SIGNS}])*|\w"
)
_ENUMERATOR = re.compile(
    r"^\s*(?:[(（]?(?:(?:point|step|part|section|statement|s)?\s*\d{1,3}\s*[.):．）：]+(?!\d)|"
    r"\d{1,3}、)|\(?[a-z]\)|[-–*•])\s*",
    re.I,
)
_GLOSS = re.compile(r"\s*[(（]([^()（）]+)[)）]")
_ACRONYM = re.compile(r"[A-Z]{3,6}")
# Marks a single capital letter; it is told apart like a number.
NAME_MARK = "¹"


@dataclass(frozen=True, slots=True)
class Label:
    """A label taken apart; each word is the set of stems it may stand for.

    `bare` is the label without what it explains in brackets; `initials` has a letter per word.
    """

    plain: str
    words: tuple[frozenset[str], ...]
    known: frozenset[str]
    initials: str
    head: frozenset[str]
    numbers: frozenset[str]
    negations: frozenset[str]
    questions: frozenset[str]
    poles: frozenset[str]
    acronyms: tuple[str, ...]
    directed: bool
    ordered: bool
    joined: bool
    bare: Label | None


def similarity(first: str, second: str) -> float:
    """1.0 for the same label, 0.0 for another point, the overlap of the words in between."""
    a, b = _read(first), _read(second)
    if a.plain == b.plain:
        return 1.0
    if (a.bare is None) != (b.bare is None):
        found = _alike(a.bare or a, b.bare or b)
        if found >= SAME_WORDS:
            return SAME_WORDS
    return _alike(a, b)


def holds(point: str, label: str) -> bool:
    """Whether `point` says every word of `label`, whatever else it says."""
    a, b = _read(label), _read(point)
    return bool(a.words) and _places(a, b) is not None


def _alike(a: Label, b: Label) -> float:
    if not a.words or not b.words:
        return 0.0
    if a.acronyms or b.acronyms:
        a, b = _abbreviated(a, b.acronyms), _abbreviated(b, a.acronyms)
    if a.known.isdisjoint(b.known) or a.negations != b.negations or a.numbers != b.numbers:
        return 0.0
    if a.questions and b.questions and a.questions != b.questions:
        return 0.0
    short, long = (a, b) if len(a.words) <= len(b.words) else (b, a)
    overlap = len(short.words) / len(long.words)
    if overlap < MIN_OVERLAP:
        return 0.0
    places = _places(short, long)
    if places is None:
        return 0.0
    if ((a.directed and b.directed) or a.ordered) and places != sorted(places):
        return 0.0
    if overlap == 1.0:
        return SAME_WORDS
    if a.joined != b.joined or a.poles != b.poles or not (short.head & long.head):
        return 0.0
    return overlap


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


def _abbreviated(label: Label, acronyms: tuple[str, ...]) -> Label:
    """`label` with the words that one of the acronyms stands for put as that acronym."""
    for acronym in acronyms:
        at = label.initials.find(acronym)
        if at >= 0:
            word = frozenset({acronym})
            words = (*label.words[:at], word, *label.words[at + len(acronym) :])
            inside = label.words[at : at + len(acronym)]
            return replace(
                label,
                words=words,
                known=frozenset().union(*words),
                head=word if any(label.head & each for each in inside) else label.head,
            )
    return label


@lru_cache(maxsize=4096)
def _read(raw: str) -> Label:
    text = unicodedata.normalize("NFKC", raw)
    text = _ENUMERATOR.sub("", text) or text
    shouted = text.upper() == text
    label = _taken_apart(text, shouted, None)
    gloss = _GLOSS.search(text)
    if gloss is None:
        return label
    bare = _taken_apart(_GLOSS.sub("", text, count=1), shouted, None)
    inside = _taken_apart(gloss.group(1), shouted, None)
    explains = not bare.known.isdisjoint(inside.known) or any(
        acronym in bare.initials for acronym in inside.acronyms
    )
    return replace(label, bare=bare) if bare.words and explains else label


def _taken_apart(text: str, shouted: bool, bare: Label | None) -> Label:
    tokens = [
        _token(match.group(), first=not index, shouted=shouted)
        for index, match in enumerate(_WORDS.finditer(_spelled(text, shouted)))
    ]
    tokens = _without_count(tokens)
    content = [t for t in tokens if _is_content(t)]
    boundary = next((i for i, t in enumerate(tokens) if i and t in BOUNDARIES), len(tokens))
    lead = [t for t in tokens[:boundary] if _is_content(t)] or content
    words = tuple(stems(word) for word in content)
    return Label(
        plain=" ".join(tokens),
        words=words,
        known=frozenset().union(*words),
        initials="".join(word[0] for word in content),
        head=stems(lead[-1]) if lead else frozenset(),
        numbers=frozenset(t for t in tokens if t[0].isdigit() or t.endswith(NAME_MARK)),
        negations=frozenset("not" if t == "cannot" else t for t in tokens if t in NEGATIONS),
        questions=frozenset(t for t in tokens if t in QUESTIONS),
        poles=frozenset(t for t in tokens if t in POLES),
        acronyms=()
        if shouted and " " in text
        else tuple(match.lower() for match in _ACRONYM.findall(text)),
        directed=any(t in DIRECTIONS for t in tokens),
        ordered=re.search(f"[{_CJK}]", text) is not None,
        joined=any(t in JOINERS for t in tokens),
        bare=bare,
    )


def _spelled(text: str, shouted: bool) -> str:
    """Apostrophes, signs and abbreviations spelled so that words come out whole."""
    text = text.replace("’", "'").replace("&", " and ").replace("%", " percent ")
    text = re.sub(r"(?i)\bcan't\b", "can not", text)
    text = re.sub(r"(?i)n't\b", " not", text)
    text = re.sub(r"(?i)\b([ld])'(?=\w)", r"\1 ", text)
    text = re.sub(r"(?i)'s\b|(?<=s)'(?!\w)", "", text)
    text = re.sub(r"\b(?:[^\W\d_]\.){2,}", lambda match: match.group().replace(".", ""), text)
    if shouted and " " in text:
        return text
    text = re.sub(r"^Die (?=[A-ZÄÖÜ])", "", text)  # the German article; "die casting" is English
    return re.sub(r"\b[A-Z][A-Z0-9]+\b", lambda m: ABBREVIATIONS.get(m.group(), m.group()), text)


def _token(word: str, *, first: bool, shouted: bool) -> str:
    if not shouted and not first:
        if word in ROMAN:
            return ROMAN[word]
        if len(word) == 1 and word.isupper():
            return word + NAME_MARK  # vitamin A, plan B: a name, not an article
    plain = fold(word)
    if plain[0].isdigit():
        return NUMBERS.get(plain, plain.replace(",", ""))
    return NUMBERS.get(plain, plain)


def _without_count(tokens: list[str]) -> list[str]:
    """Drops a leading count ("the four chambers of the heart"), not a name ("World War 2")."""
    at = 1 if tokens[:1] == ["the"] else 0
    if len(tokens) > at + 1 and tokens[at].isdigit() and is_plural(tokens[at + 1]):
        return tokens[:at] + tokens[at + 1 :]
    return tokens


def _is_content(token: str) -> bool:
    return token not in STOP and token not in ASKING and token not in DIRECTIONS

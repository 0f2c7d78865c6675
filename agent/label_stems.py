"""Under which stems the words of a label meet other forms of themselves. Pure.

Stems are alternatives, not a lemma: two words are forms of one when they share a stem. Short
words have none, and no rule may join words that differ in more than an ending.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from agent.label_words import SYNONYMS

LATIN_MIN = 4
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"}
    | {"ى": "ي", "ة": "ه", "ـ": ""}
)
# Classes of marks that only help to read: accents, Hebrew points, Arabic vowels. The marks of
# Indic scripts, Thai and kana are letters of their own.
_ACCENTS = frozenset({*range(10, 37), *range(200, 241)})
_PLAIN_PLURAL = re.compile(r"(?<![sui])s$")
_ARABIC_ARTICLE = re.compile(r"^(?:[وبكف]?ال|لل)(?=..)")


def _endings(words: str) -> tuple[str, ...]:
    """Longest first."""
    return tuple(sorted(words.split(), key=len, reverse=True))


_RUSSIAN = _endings(
    "иями ями ами ого его ому ему ыми ими иях ях ах ям ам ов ев еи ии ои ыи ая яя ое ее ые ие "
    "ых их ым им ом ем ую юю ью ия ию а я о е ы и у ю ь"
)
_GREEK = _endings("εωσ εισ ουσ οσ ου ον οι ων εσ ασ ησ α η ο ι ε")
_KOREAN = ("의", "은", "는", "을", "를")


def fold(word: str) -> str:
    """Small letters without accents, in composed form."""
    if word.isascii():
        return word.lower()
    spread = unicodedata.normalize("NFKD", word.casefold())
    plain = "".join(c for c in spread if unicodedata.combining(c) not in _ACCENTS)
    return unicodedata.normalize("NFC", plain.translate(_LETTERS)) or word


def is_plural(word: str) -> bool:
    return _PLAIN_PLURAL.search(word) is not None


@lru_cache(maxsize=8192)
def stems(word: str) -> frozenset[str]:
    """The stems of a folded word; the word itself if it has no forms that we know."""
    first = word[0]
    if word.isascii():
        return _english(word)
    if "\u0400" <= first < "\u0500":
        return frozenset({_cut(_fleeting(word), _RUSSIAN), _cut(word, _RUSSIAN)})
    if "\u0370" <= first < "\u0400":
        return frozenset({_cut(word, _GREEK)})
    if "\u0600" <= first < "\u0700":
        return frozenset({_ARABIC_ARTICLE.sub("", word)})
    if "\uac00" <= first < "\ud7b0" and word.endswith(_KOREAN):
        return frozenset({word, word[:-1] or word})
    return frozenset({word})


def _cut(word: str, endings: tuple[str, ...]) -> str:
    ending = next((e for e in endings if word.endswith(e) and len(word) - len(e) >= 3), "")
    return word.removesuffix(ending)


def _fleeting(word: str) -> str:
    """`клеток` and `клетка` share `клетк`."""
    return word[:-2] + "к" if word.endswith(("ок", "ек")) and len(word) > 4 else word


def _english(word: str) -> frozenset[str]:
    if len(word) < LATIN_MIN or not word.isalpha():
        return _with_synonym({word}, word)
    single = _singular(word)
    base = _british(single)
    found = {_finish(base)}
    for suffix in ("ing", "ed", "ation", "ion", "ly"):
        stem = base.removesuffix(suffix)
        if stem != base and len(stem) >= LATIN_MIN:
            if suffix in ("ing", "ed") and stem[-1] == stem[-2] and stem[-1] not in "ls":
                stem = stem[:-1]
            found.add(_finish(stem))
            if suffix in ("ing", "ed"):
                found.discard(_finish(base))
    if base.endswith("ication") and len(base) > 9:
        found.add(base[:-6])  # application: apply
    root = base.removesuffix("sion")
    if root != base and len(root) >= LATIN_MIN:
        found |= {root + "t", root + "d"}  # conversion: convert; expansion: expand
    return _with_synonym(found, single)


def _with_synonym(found: set[str], word: str) -> frozenset[str]:
    meaning = SYNONYMS.get(word) or SYNONYMS.get(_singular(word))
    return frozenset(found | {f"={meaning}"} if meaning else found)


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

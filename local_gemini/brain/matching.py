"""When two words mean the same to a listener: stems, synonyms, numbers, mishearings. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from local_gemini.brain.grammar_words import SYNONYMS
from local_gemini.brain.language import alike, content_words, stem, words
from local_gemini.brain.numerals import in_digits

# What a word that only sounds alike is worth next to the word itself.
SOUNDS_LIKE = 0.7
SOUND_MIN = 3
_FIRST: dict[str, str] = {}
for _group in SYNONYMS:
    for _word in _group:
        _FIRST.setdefault(stem(_word), stem(_group[0]))
_SOUNDS = (
    *(("ph", "f"), ("gh", ""), ("ck", "k"), ("sch", "sh"), ("qu", "k"), ("x", "ks")),
    *(("ce", "s"), ("ci", "s"), ("cy", "s"), ("ge", "j"), ("gi", "j"), ("kn", "n"), ("wr", "r")),
)
_MERGED = str.maketrans("cqzvbdg", "kksfptk")


@lru_cache(maxsize=8_192)
def meaning(word: str) -> str:
    """One key for a word, its forms and its simple synonyms."""
    base = stem(word)
    return _FIRST.get(base, base)


@lru_cache(maxsize=2_048)
def meanings(text: str) -> tuple[str, ...]:
    """The keys of the content words of `text`, in order, numbers as digits."""
    return tuple(meaning(word) for word in content_words(in_digits(text)))


@lru_cache(maxsize=8_192)
def sound(word: str) -> str:
    """The consonants of `word` as a recogniser may confuse them; empty for short words."""
    low = re.sub(r"[^a-z]", "", word.lower())
    if len(low) < 5:
        return ""
    for written, heard in _SOUNDS:
        low = low.replace(written, heard)
    bare = re.sub(r"[aeiouhwy]", "", low.translate(_MERGED))
    key = re.sub(r"(.)\1+", r"\1", bare)
    return key if len(key) >= SOUND_MIN else ""


class Heard:
    """The words of an utterance, ready to be compared with words of a text."""

    def __init__(self, utterance: str) -> None:
        plain = words(in_digits(utterance))
        joined = [left + right for left, right in pairwise(plain)]
        self.words = frozenset(word.lower() for word in plain)
        self.items = meanings(utterance)
        self._items = set(self.items)
        self._joined = {meaning(word) for word in joined if len(word) > 6}
        self._sounds = {key: meaning(word) for word in (*joined, *plain) if (key := sound(word))}

    def without(self, echo: Iterable[str]) -> frozenset[str]:
        """The keys that are not in `echo`."""
        return frozenset(self._items - set(echo))

    def weight(self, item: str, spoken: Iterable[str], allowed: frozenset[str]) -> float:
        """How surely the word with key `item`, written as one of `spoken`, was said: 0 to 1.

        Only `allowed` keys of the utterance count.
        """
        if item in allowed or any(alike(item, other) for other in allowed):
            return 1.0
        if item in self._joined:
            return 1.0
        for word in spoken:
            key = sound(word)
            if key and any(
                _near(key, other) and (source in allowed or source not in self._items)
                for other, source in self._sounds.items()
            ):
                return SOUNDS_LIKE
        return 0.0


def _near(left: str, right: str) -> bool:
    if left == right:
        return True
    shorter, longer = sorted((left, right), key=len)
    return len(shorter) >= 4 and len(longer) - len(shorter) <= 1 and longer.startswith(shorter)

"""Whether a transcript is in a script that nobody expects: recognisers that mishear a noise, or a
quiet word, answer in another language altogether. Pure; a few microseconds a line."""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import lru_cache

LATIN = "LATIN"
# Scripts that are written together in one language.
_TOGETHER = {
    "HIRAGANA": "JAPANESE",
    "KATAKANA": "JAPANESE",
    "CJK": "HAN",
    "HANGUL": "KOREAN",
}
_READ_WITH = {"JAPANESE": ("HAN",), "KOREAN": ("HAN",)}
# Fewer letters than this may be a name, a formula or an abbreviation.
LETTERS_MIN = 2


@lru_cache(maxsize=4096)
def _script(char: str) -> str:
    """`LATIN`, `CYRILLIC`, …: the first word of a letter's name; empty for what is no letter."""
    if not char.isalpha():
        return ""
    word = unicodedata.name(char, "").partition(" ")[0]
    return _TOGETHER.get(word, word)


def scripts_of(text: str) -> frozenset[str]:
    """The scripts that `text` is written in, and those that are read with them."""
    found = {script for char in text if (script := _script(char))}
    return frozenset(found.union(*(_READ_WITH.get(script, ()) for script in found)))


def unexpected(text: str, expected: frozenset[str]) -> bool:
    """Most letters of `text` belong to none of the `expected` scripts."""
    counts = Counter(script for char in text if (script := _script(char)))
    letters = sum(counts.values())
    foreign = sum(count for script, count in counts.items() if script not in expected)
    return letters >= LETTERS_MIN and 2 * foreign > letters

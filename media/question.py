"""Does a text end by asking something? By its last mark, in any script. Pure."""

from __future__ import annotations

import unicodedata

# Latin, full width, Arabic, reversed, Greek's own, Ethiopic, Vai, Coptic, doubled forms.
MARKS = frozenset("?？؟⸮\u037e፧꘏⳺⁇⁈⁉﹖︖")
# Armenian puts its mark on the word that asks, Greek is mostly written with a semicolon.
ARMENIAN_MARK, ARMENIAN_STOP = "՞", "։"
GREEK = range(0x0370, 0x0400)


def asks(text: str) -> bool:
    """Whether the last sentence of `text` is a question; quotes and brackets after it are none."""
    while text and (text[-1].isspace() or unicodedata.category(text[-1]) in ("Pe", "Pf", "Pi")):
        text = text[:-1]
    text = text.rstrip("\"'*_ ")
    if not text:
        return False
    if text[-1] in MARKS:
        return True
    if text[-1] == ";":
        letters = [one for one in text if one.isalpha()]
        return bool(letters) and ord(letters[-1]) in GREEK
    return ARMENIAN_MARK in text.rstrip(ARMENIAN_STOP).rpartition(ARMENIAN_STOP)[2]

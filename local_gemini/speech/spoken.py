"""Turns written text into short lines of plain English that a voice can read. Pure."""

from __future__ import annotations

import re
import unicodedata

# VITS cost and quality both suffer beyond this; longer sentences are cut at clauses.
LINE_MAX = 180
# No word is that long: what a key held down or a hash leaves is cut, else it takes minutes to read.
WORD_MAX, DIGITS_MAX = 24, 40
UNREADABLE = "This part is written in a script that I can not read aloud."

ABBREVIATIONS = {
    "e.g.": "for example",
    "i.e.": "that is",
    "etc.": "and so on",
    "vs.": "versus",
    "cf.": "compare",
    "approx.": "about",
    "dr.": "doctor",
    "mr.": "mister",
    "mrs.": "missus",
    "prof.": "professor",
    "st.": "saint",
    "no.": "number",
    "fig.": "figure",
    "vol.": "volume",
    "ca.": "about",
    "et al.": "and others",
}
SYMBOLS = {
    "°C": " degrees Celsius",
    "°F": " degrees Fahrenheit",
    "°": " degrees",
    "×": " times ",
    "÷": " divided by ",
    "=": " equals ",
    "≈": " is about ",
    "~": " about ",
    "≠": " is not ",
    "≤": " at most ",
    "≥": " at least ",
    "<": " less than ",
    ">": " more than ",
    "±": " plus or minus ",
    "²": " squared",
    "³": " cubed",
    "√": " the root of ",
    "→": " to ",
    "⇒": " so ",
    "∞": " infinity ",
    "½": " one half",
    "¼": " one quarter",
    "¾": " three quarters",
    "%": " percent",
    "‰": " per mille",
    "&": " and ",
    "@": " at ",
    "+": " plus ",
    "^": " to the power of ",
    "§": " section ",
    "©": " copyright ",
    "¥": " yen ",
    "₹": " rupees ",
    "µ": "micro ",
    "…": ". ",
    "—": ", ",
}
_GREEK_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma "
    "tau upsilon phi chi psi omega sigma"
)
GREEK = dict(zip("αβγδεζηθικλμνξοπρστυφχψως", _GREEK_NAMES.split(), strict=True))
LETTERS = {
    **{"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "th", "þ": "th"},
    **{"‘": "'", "’": "'", "ʼ": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"'},
    **{"ı": "i", "−": "-", "‑": "-", "‐": "-", "•": ", ", "·": " "},
}
_ABBREVIATION = re.compile(
    r"(?<!\w)(" + "|".join(re.escape(key) for key in ABBREVIATIONS) + r")(?!\w)", re.IGNORECASE
)
_RANGE = re.compile(r"(?<=\d)\s?–\s?(?=\d)")
_DASH = re.compile(r"\s+[–-]+\s+|–")
_LONG_WORD = re.compile(r"[A-Za-z]{31,}")
_LONG_NUMBER = re.compile(r"\d{13,}")
_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+")
_CLAUSE = re.compile(
    r"(?<=[,;:])\s+|\s+(?=(?:and|but|because|which|while|so|or|when|that)\s)", re.IGNORECASE
)


def plain(text: str) -> str:
    """`text` in ASCII words and punctuation; empty when nothing in it can be read in English."""
    text = _RANGE.sub(" to ", text)
    text = _DASH.sub(", ", text)
    for symbol, words in SYMBOLS.items():
        text = text.replace(symbol, words)
    text = _ABBREVIATION.sub(lambda match: ABBREVIATIONS[match[0].lower()], text)
    text = unicodedata.normalize("NFKD", "".join(_letter(character) for character in text))
    text = "".join(_letter(character) for character in text)
    text = text.encode("ascii", "ignore").decode()
    text = _LONG_NUMBER.sub(lambda match: " ".join(match[0][:DIGITS_MAX]), text)
    text = _LONG_WORD.sub(lambda match: match[0][:WORD_MAX], text)
    text = re.sub(r"https?://(\S+)", r"\1", text)
    text = re.sub(r"[*_#`|\\{}\[\]\x00-\x1f\x7f]+", " ", text)
    text = re.sub(r"([.,!?;:])(?:\s*\1)+", r"\1", text)
    text = re.sub(r"\s+([.,!?;:])", r"\1", text)
    text = re.sub(r"\s+", " ", text).strip(" ,;:-")
    return text if re.search(r"[A-Za-z0-9]", text) else ""


def lines(text: str) -> list[str]:
    """`text` as readable lines of at most 180 characters, cut at sentences, then at clauses."""
    readable = plain(text)
    if not readable:
        has_letters = any(character.isalnum() for character in text)
        return [UNREADABLE] if has_letters else []
    return [
        line
        for sentence in _SENTENCE.split(readable)
        for line in _bounded(sentence)
        if re.search(r"[A-Za-z0-9]", line)
    ]


def spelled(text: str) -> str:
    """A last resort for text that a pronunciation lexicon refuses: letters, digits one by one."""
    return " ".join(re.findall(r"[A-Za-z]+|\d", text))


def _letter(character: str) -> str:
    lower = character.lower()
    if lower in GREEK:
        return f" {GREEK[lower]} "
    return LETTERS.get(lower, character)


def _bounded(sentence: str) -> list[str]:
    if len(sentence) <= LINE_MAX:
        return [sentence]
    made: list[str] = []
    for clause in _CLAUSE.split(sentence):
        for part in _by_words(clause):
            if made and len(made[-1]) + 1 + len(part) <= LINE_MAX:
                made[-1] += " " + part
            else:
                made.append(part)
    return made


def _by_words(clause: str) -> list[str]:
    parts = [""]
    for word in clause.split():
        for piece in (word[at : at + 40] for at in range(0, len(word), 40)):
            if len(parts[-1]) + 1 + len(piece) > LINE_MAX:
                parts.append("")
            parts[-1] = f"{parts[-1]} {piece}".strip()
    return parts

"""Turns written text into short lines of plain English that a voice can read. Pure."""

from __future__ import annotations

import re
import unicodedata

# VITS cost and quality both suffer beyond this; longer sentences are cut at clauses.
LINE_MAX = 180
# No word is that long: what a key held down or a hash leaves is cut, else it takes minutes to read.
WORD_MAX, DIGITS_MAX = 24, 40
UNREADABLE = "This part is written in a script that I cannot read aloud."

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
UNITS = {
    "km/h": "kilometres an hour",
    "m/s": "metres a second",
    "km": "kilometres",
    "cm": "centimetres",
    "mm": "millimetres",
    "kg": "kilograms",
    "mg": "milligrams",
    "ml": "millilitres",
    "m": "metres",
    "g": "grams",
    "l": "litres",
    "h": "hours",
    "min": "minutes",
    "kWh": "kilowatt hours",
    "kW": "kilowatts",
    "W": "watts",
    "V": "volts",
    "Hz": "hertz",
    "GB": "gigabytes",
    "MB": "megabytes",
    "€": "euros",
    "£": "pounds",
}
FRACTIONS = {"1/2": "one half", "1/3": "one third", "2/3": "two thirds", "1/4": "one quarter"}
FRACTIONS |= {"3/4": "three quarters", "1/5": "one fifth", "1/10": "one tenth"}
_UNIT = re.compile(
    r"(?<=\d)\s?("
    + "|".join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True))
    + r")(?![\w/])"
)
_FRACTION = re.compile(r"(?<![\d/.])(\d{1,2}/\d{1,2})(?![\d/])")
_COIN_FIRST = re.compile(r"([€£])\s?(\d[\d,.]*\d|\d)")
_URL = re.compile(r"\b(?:https?://|www\.)[^\s<>()\[\]\"]+")
_MAIL = re.compile(r"\b([\w.+-]+)@([\w-]+(?:\.[\w-]+)+)\b")
_CITATION = re.compile(r"\s?\[\d{1,3}(?:[,–-]\s?\d{1,3})*\]|\s?\(see [^()]{1,40}\)")
_LINK = re.compile(r"\[([^\]]+)\]\([^)\s]+\)")
_BRACKET = re.compile(r"\s*\(([^()]*)\)")
_HALF_DAY = re.compile(r"(?<=\d)\s?([aApP])\.?[mM]\b\.?(\s+(?=[A-Z])|\s*$)?")
_HOURS = re.compile(r"\b([01]?\d|2[0-3]):([0-5]\d)\b")
_PAGES = re.compile(r"\bpp?\.\s?(?=\d)")
_MINUS_RANGE = re.compile(r"(?<![\d-])(\d{1,4})-(\d{1,4})(?![\d-])")
_GAP = re.compile(r"\s*…\s*\?")
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
    text = _GAP.sub("?", text)
    text = _addresses(text)
    text = _measures(text)
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
    text = _BRACKET.sub(
        lambda match: f", {match[1].strip(' ,.')}," if match[1].strip() else "", text
    )
    text = text.replace('"', "")
    text = re.sub(r",\s*(?=[.,!?;:])", "", text)
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


def _addresses(text: str) -> str:
    """Links by their words, addresses by the name of their site, citations not at all."""
    text = _LINK.sub(r"\1", text)
    text = _CITATION.sub("", text)
    text = _URL.sub(_site, text)
    return _MAIL.sub(lambda match: f"{match[1]} at {match[2].replace('.', ' dot ')}", text)


def _site(match: re.Match[str]) -> str:
    address = match[0].rstrip(".,;:!?")
    name = re.sub(r"^(?:https?://)?(?:www\.)?", "", address).split("/")[0]
    return name.replace(".", " dot ") + match[0][len(address) :]


def _measures(text: str) -> str:
    """Units, fractions, times of day and page numbers in words."""
    text = _PAGES.sub("page ", text)
    text = _COIN_FIRST.sub(lambda match: f"{match[2]} {UNITS[match[1]]}", text)
    text = _FRACTION.sub(
        lambda match: FRACTIONS.get(match[1], match[1].replace("/", " over ")), text
    )
    text = _HOURS.sub(lambda match: _time(match[1], match[2]), text)
    text = _HALF_DAY.sub(_half_day, text)
    text = _UNIT.sub(lambda match: f" {UNITS[match[1]]}", text)
    return _MINUS_RANGE.sub(_range, text)


def _half_day(match: re.Match[str]) -> str:
    """The "p.m." as letters; its last stop also ends a sentence."""
    end = match[2]
    return f" {match[1].upper()} M" + ("" if end is None else f".{end}")


def _range(match: re.Match[str]) -> str:
    rises = int(match[1]) < int(match[2]) and match[2][0] != "0"
    return f"{match[1]} to {match[2]}" if rises else match[0]


def _time(hours: str, minutes: str) -> str:
    if minutes == "00":
        return f"{int(hours)} o'clock" if int(hours) > 12 else str(int(hours))
    return f"{int(hours)} {'oh ' if minutes[0] == '0' else ''}{int(minutes)}"


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

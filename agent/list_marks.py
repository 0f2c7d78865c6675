"""What the beginning of a line says: bullet, number, letter, label, heading. Pure.

Some marks count wherever they stand; others need a neighbour, the number before or after in the
same form: `A. Einstein` is a name, `A.` and `B.` are a list.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import Enum

TITLE_CHARS = 90


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_BULLET = re.compile(r"(?:[-*+–◦]\s+|[•‣▪▫●○■□◆◇►▶➤✓✔☐☑∙⁃・]\s*|o\t\s*)(?=\S)")
_DASHES = "-–"
_HEADING = re.compile(r"#{1,6}\s+\S")
_NUMBER = re.compile(
    r"[(（]?(\d{1,3}(?:\.\d{1,3}){0,3})(?:[.)]{1,2}(?:\s+(?=\S)|$)|[、．）】](?=.))"
)
_LETTER = re.compile(r"\(?([^\W\d_]{1,5})([.)])\s+(?=\S)")
_SECTION = re.compile(r"(\d{1,2}(?:\.\d{1,2}){1,3})\s+(?=[^\W\d_])")
_DASHED = re.compile(r"(\d{1,2})\s?[-–:]\s+(?=[^\W\d])")
_IDEOGRAPH = re.compile(
    r"(?:[一二三四五六七八九十]{1,3}[、．.]|[（(][一二三四五六七八九十]{1,3}[）)])(?=.)"
)
_CHAPTER = re.compile(r"第\s*[\d一二三四五六七八九十百]{1,4}\s*[章节節条條点點课課部]")
_CIRCLED = re.compile(r"[①-⑳❶-❿➀-➓⑴-⒇]\s*(?=\S)")
_LABEL = re.compile(r"([^\W\d_]{1,20})\s*(\d{1,3})\s*([:：.)])(?=\s|$|[^\W\d_])")
_WORD = re.compile(r"[^\W\d_]+")
_ROMAN = re.compile(r"(?=.)x{0,3}(?:ix|iv|v?i{0,3})$", re.I)
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10}
# "12. May" and "3. Oktober" are dates.
MONTHS = _set(
    "january february march april may june july august september october november december "
    "januar jänner februar märz mai juni juli oktober dezember janvier février mars avril juin "
    "juillet août septembre octobre novembre décembre enero febrero marzo abril mayo junio julio "
    "agosto septiembre octubre noviembre diciembre januari februari maart mei maj augusti "
    "desember gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre "
)
# The names under which people number what they state; others count from the second one on.
LABELS = _set(
    "statement claim point thesis fact question lesson step rule part section chapter item topic "
    "idea principle law theorem definition argument reason example exercise task problem goal "
    "aussage these punkt satz frage regel schritt teil abschnitt kapitel thema lektion aufgabe "
    "affirmation énoncé thèse étape règle partie chapitre enunciado afirmación declaración tesis "
    "pregunta paso regla punto parte capítulo affermazione domanda passo regola capitolo "
    "утверждение тезис пункт вопрос шаг правило часть глава "
)
# Captions and places, not statements of the text.
CAPTIONS = _set(
    "fig figure table tab page pages p eq equation abb abbildung tabelle seite image photo plate "
    "line figura tabla página tableau рис рисунок таблица стр "
)


class Kind(Enum):
    HEADING = "heading"
    DASH = "dash"
    OTHER = "other"


class Trust(Enum):
    """Whether a mark counts: always; unless an unended line of prose runs on into it; or never by
    itself. A neighbour settles all three."""

    STRONG = "strong"
    UNLESS_WRAPPED = "unless wrapped"
    WEAK = "weak"


@dataclass(frozen=True, slots=True)
class Mark:
    """`readings`: (form, value) pairs the mark may stand for; neighbours differ by one in value."""

    kind: Kind = Kind.OTHER
    trust: Trust = Trust.STRONG
    readings: tuple[tuple[str, int], ...] = ()


def mark_of(line: str) -> Mark | None:
    """The mark of a stripped line; None for prose. Never raises."""
    if _HEADING.match(line):
        return Mark(Kind.HEADING)
    if match := _BULLET.match(line):
        return Mark(Kind.DASH if match.group()[0] in _DASHES else Kind.OTHER)
    if match := _NUMBER.match(line):
        return None if _is_date(line[match.end() :]) else _numbered(match.group(1), line)
    if any(form.match(line) for form in (_CIRCLED, _IDEOGRAPH, _CHAPTER)):
        return Mark()
    if match := _LABEL.match(line):
        return _label(match.group(1).casefold(), match.group(2), match.group(3))
    if match := _LETTER.match(line):
        return _letter(match.group(1), match.group(2))
    if (match := _SECTION.match(line)) and _is_title(line, match.end()):
        return _counted("section", match.group(1), Trust.UNLESS_WRAPPED)
    if match := _DASHED.match(line):
        return _counted("dashed", match.group(1), Trust.WEAK)
    return None


def _counted(form: str, number: str, trust: Trust) -> Mark:
    *above, last = number.split(".")
    form += "".join(f" {int(n)}" for n in above)
    return Mark(trust=trust, readings=((form, int(last)),))


def _is_date(after: str) -> bool:
    word = _WORD.match(after)
    return word is not None and word.group().casefold() in MONTHS


def _numbered(number: str, line: str) -> Mark:
    enclosed = line[0] in "(（"
    return _counted("number", number, Trust.STRONG if enclosed else Trust.UNLESS_WRAPPED)


def _label(word: str, number: str, sign: str) -> Mark | None:
    if word in CAPTIONS:
        return None
    if word in LABELS:
        return Mark()
    return _counted(f"label {word}", number, Trust.WEAK) if sign in ":：" else None


def _letter(text: str, sign: str) -> Mark | None:
    case = "upper" if text.isupper() else "lower"
    readings = []
    if _ROMAN.match(text):
        readings.append((f"roman {case}{sign}", _roman(text.casefold())))
    if len(text) == 1:
        readings.append((f"letter {case}{sign}", ord(text.casefold())))
    if not readings:
        return None
    return Mark(trust=Trust.WEAK if sign == "." else Trust.STRONG, readings=tuple(readings))


def _roman(text: str) -> int:
    values = [_ROMAN_VALUES[char] for char in text]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return sum(-value if value < after else value for value, after in pairs)


def _is_title(line: str, start: int) -> bool:
    """Whether what follows a section number reads as a title: short, capital, no full stop."""
    first = line[start]
    capital = first.isupper() or unicodedata.category(first) == "Lo"
    return capital and len(line) <= TITLE_CHARS and line[-1] not in ".,;!?"

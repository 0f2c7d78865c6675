"""Small words that decide what a label means, in English. Data only."""

from __future__ import annotations


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_NUMERALS = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII", "XIV", "XVI")
_VALUES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16)
ROMAN = {numeral: str(value) for numeral, value in zip(_NUMERALS, _VALUES, strict=True)}
NUMBERS = {
    word: str(number)
    for words in (
        "one two three four five six seven eight nine ten eleven twelve",
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth",
    )
    for number, word in enumerate(words.split(), 1)
}
STOP = _set(
    "a an the this that these those its their his her our your of in on at for with within "
    "across and or as is are was were be been being do does did has have had it they we you "
    "he she there about around through during between among by via per versus vs s "
    "introduction intro overview basics basic idea concept understanding explained "
)
NEGATIONS = _set(
    "against cannot except false lack lacking misconception myth neither never no non nor not "
    "without "
)
QUESTIONS = _set("when where who why ")
ASKING = _set("how what which ")
# Around these the order of the words matters ("heat to work").
DIRECTIONS = _set("from into onto over than to towards ")
# What ends the phrase that holds the head noun ("limits of machine learning": limits).
BOUNDARIES = _set(
    "about across among around as at between by during for from in into of on over per than "
    "that through to via which who with within "
)
JOINERS = _set("and or versus vs ")

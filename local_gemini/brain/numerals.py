"""Numbers said in words become digits, so that "seventeen eighty-nine" meets "1789". Pure."""

from __future__ import annotations

import re

_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
VALUES = {word: value for value, word in enumerate(_ONES)} | {
    word: 10 * value for value, word in enumerate(_TENS, 2)
}
_ORDINALS = {
    "third": 3,
    "fifth": 5,
    "eighth": 8,
    "ninth": 9,
    "twelfth": 12,
    **{f"{word}th": VALUES[word] for word in (*_ONES[4:], *_TENS) if word not in ("five", "eight")},
    **{f"{word[:-1]}ieth": VALUES[word] for word in _TENS},
}
SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_TOKEN = re.compile(r"[A-Za-z]+|\d[\d,]*\d|\d|[^A-Za-z\d]+")


def in_digits(text: str) -> str:
    """`text` with its number words as digits; "one" alone and ordinals like "second" stay."""
    made: list[str] = []
    run: list[str] = []
    gap = ""
    for token in [*_TOKEN.findall(text), "."]:
        low = token.lower()
        number = low in VALUES or low in SCALES or low in _ORDINALS
        joins = low == "and" and run and run[-1] in SCALES
        if number or joins:
            run.append(low)
            gap = ""
        elif run and re.fullmatch(r"[\s-]+", token):
            gap = token
        else:
            if run:
                made.append(_value(run) + gap)
                run, gap = [], ""
            made.append(re.sub(r"(?<=\d),(?=\d{3}\b)", "", token))
    return "".join(made[:-1])


def _value(run: list[str]) -> str:
    tail = ""
    if run[-1] == "and":
        run, tail = run[:-1], " and"
    if run == ["one"]:
        return "one" + tail
    parts = [VALUES.get(word, _ORDINALS.get(word)) for word in run if word != "and"]
    numbers = [part for part in parts if part is not None]
    if len(numbers) == len(run) >= 2 and _is_year(numbers):
        rest = sum(numbers[1:])
        return f"{numbers[0]}{rest:02d}{tail}" if numbers[0] < 20 else _twenties(numbers) + tail
    total = current = 0
    for word in run:
        if word == "hundred":
            current = max(1, current) * 100
        elif word in SCALES:
            total += max(1, current) * SCALES[word]
            current = 0
        elif word != "and":
            current += VALUES.get(word, _ORDINALS.get(word, 0))
    return f"{total + current}{tail}"


def _is_year(numbers: list[int]) -> bool:
    """Seventeen eighty nine, nineteen fourteen, twenty nineteen."""
    rest = numbers[1:]
    shaped = len(rest) == 1 or (len(rest) == 2 and rest[0] >= 20 and rest[1] < 10)
    if numbers[0] == 20:
        return shaped and 10 <= sum(rest) <= 99
    return shaped and 10 <= numbers[0] <= 19 and sum(rest) >= 10


def _twenties(numbers: list[int]) -> str:
    return f"20{sum(numbers[1:]):02d}"

"""Answers a learner's question with sentences of the text, or finds that it has none. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from local_gemini.brain.clauses import inside
from local_gemini.brain.coverage import Judge
from local_gemini.brain.grammar import noun_phrases, span, tagged
from local_gemini.brain.language import fold
from local_gemini.brain.lexicon import REQUEST_WORDS
from local_gemini.brain.matching import Heard, meaning, meanings
from local_gemini.brain.quoting import stands_alone

# From this on a sentence answers; words of the question that the text lacks count against it.
ANSWERS_FROM = 0.62
UNKNOWN_COST = 0.3
SIGNS = (
    (
        re.compile(r"\bwhy\b|\breason\b|\bhow come\b|\bcauses?\b", re.I),
        re.compile(
            r"\bbecause\b|\bso that\b|\bwhich is why\b|, so\b|\breason\b|\btherefore\b|\bto \w+",
            re.I,
        ),
    ),
    (
        re.compile(r"\bwhen\b|\bhow long\b|\bwhat (?:year|date|time)\b", re.I),
        re.compile(
            r"\d|\b(?:year|month|week|day|hour|minute|decade|centur)\w*|\bafter\b|\bwhen\b", re.I
        ),
    ),
    (
        re.compile(r"\bhow (?:many|much|often|big|high|far)\b", re.I),
        re.compile(
            r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|half|hundred|thousand)\b", re.I
        ),
    ),
    (re.compile(r"\bwhere\b", re.I), re.compile(r"\b(?:in|at|on|near|between|inside)\b", re.I)),
    (
        re.compile(r"\bwhat (?:is|are|does)\b|\bdefine\b|\bmeans?\b", re.I),
        re.compile(r"\b(?:is|are|means?|called)\b", re.I),
    ),
)
EXAMPLE = re.compile(r"\bfor example\b|\bfor instance\b|\bsuch as\b|\be\.g\.", re.I)
REASON = re.compile(r"\bbecause\b|\bso that\b|\bwhich is why\b|, so\b|\btherefore\b", re.I)
COMPARISON = re.compile(r"\b(?:like|as) an? \w+|\bas if\b|\blike the \w+", re.I)
_WANTS_EXAMPLE = re.compile(r"\b(?:examples?|instance)\b", re.I)


@dataclass(frozen=True, slots=True)
class Found:
    """The sentence of a point that answers best, with the one that belongs to it, if any."""

    point: int
    lines: tuple[str, ...]


def wants_example(question: str) -> bool:
    """Whether `question` asks for an example."""
    return _WANTS_EXAMPLE.search(question) is not None


def example_in(judge: Judge, point: int | None, sign: re.Pattern[str] = EXAMPLE) -> Found | None:
    """A sentence with an example (or another `sign`), of `point` or else of any other."""
    order = [index for index in range(len(judge.points)) if index != point]
    for index in [*([point] if point is not None else []), *order]:
        for line in judge.points[index].body:
            if sign.search(line):
                return Found(index, (line,))
    return None


def answer_to(judge: Judge, question: str) -> Found | None:
    """The sentences that answer `question`; None when the text is silent about it."""
    heard = Heard(question)
    asking = {meaning(word) for word in REQUEST_WORDS}
    wanted = [item for item in dict.fromkeys(heard.items) if item not in asking]
    if not wanted:
        return None
    known = [item for item in wanted if item in judge.spoken]
    lost = len(wanted) - len(known)
    if not known:
        return None
    signs = [mark for asks, mark in SIGNS if asks.search(question)]
    best: tuple[float, int, int] | None = None
    for index, point in enumerate(judge.points):
        weights = judge.weights[index]
        title = set(meanings(point.title))
        total = sum(max(0.3, weights.get(item, 0.6)) for item in known) + UNKNOWN_COST * lost
        for at, line in enumerate(point.body):
            own = set(meanings(line))
            shared = sum(max(0.3, weights.get(item, 0.3)) for item in known if item in own)
            inherited = sum(0.25 for item in known if item in title and item not in own)
            if not shared and not inherited:
                continue
            value = (shared + inherited) / total
            value += 0.15 * any(mark.search(line) for mark in signs)
            value += 0.12 if set(meanings(" ".join(line.split()[:4]))) & set(known) else 0.0
            value += 0.25 * max(0.0, judge.similarity(question, line))
            value += 0.4 if title and title <= set(known) and title <= own else 0.0
            value -= 0.5 * lost / len(wanted)
            if best is None or value > best[0] + 1e-9:
                best = (value, index, at)
    if best is None or best[0] < ANSWERS_FROM:
        return None
    _, index, at = best
    return Found(index, _with_company(judge.points[index].body, at))


def named_in(question: str) -> str:
    """What a question names, in its own words without the asking ones; a few words."""
    tokens = tagged(question)
    for phrase in reversed(noun_phrases(question)):
        text = span(question, tokens, phrase.first, phrase.last)
        telling = [word for word in text.split() if fold(word) not in REQUEST_WORDS]
        if len(text.split()) <= 6 and any(meanings(word) for word in telling):
            return inside(text)
    found = [
        word
        for word in re.findall(r"[^\W_]+(?:['’-][^\W_]+)*", question)
        if fold(word) not in REQUEST_WORDS and meanings(word)
    ]
    return " ".join(found[-3:])


def _with_company(body: tuple[str, ...], at: int) -> tuple[str, ...]:
    """A sentence with the one before it if it leans on that, else with the next one that leans."""
    if not stands_alone(body[at]) and at > 0:
        return body[at - 1 : at + 1]
    if at + 1 < len(body) and len(body[at].split()) <= 18:
        return body[at : at + 2]
    return (body[at],)

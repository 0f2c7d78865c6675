"""What a tutor can ask about each point of a topic, made once out of its text. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from local_gemini.brain import phrases
from local_gemini.brain.clauses import inside, names_in
from local_gemini.brain.matching import meanings
from local_gemini.brain.naming import Kind, kind_of
from local_gemini.brain.points import Point
from local_gemini.brain.questions import Question, cloze_of, questions_of
from local_gemini.brain.quoting import stands_alone
from local_gemini.brain.unaided import angle_questions

# How well a kind of question opens a point.
_OPENS = {"does": 3.0, "is": 3.0, "when": 2.7, "why": 2.6, "how": 2.4, "date": 1.2, "many": 1.0}
GOOD_ENOUGH, WORTH_ASKING = 2.0, 0.9
CLOZES_MAX = 3


@dataclass(frozen=True, slots=True)
class Ask:
    """One question: its text, the source's words that answer it, whether it is a cloze."""

    text: str
    answer: str = ""
    cloze: bool = False


class Material:
    """The questions of every point, the best to open with first; no two are the same."""

    def __init__(self, topic: str, points: Sequence[Point]) -> None:
        self.names = names_in(line for point in points for line in point.body)
        made = [questions_of(point.body, self.names) for point in points]
        spread = Counter(item for point in points for item in set(meanings(" ".join(point.body))))
        known = set(meanings(topic))
        taken: set[str] = set()
        self.asks: list[tuple[Ask, ...]] = []
        kind_before = ""
        bare = not any(point.body for point in points)
        for index, point in enumerate(points):
            if bare:
                self.asks.append(tuple(Ask(text) for text in angle_questions(point.title, topic)))
                continue
            ranked = _ranked(made[index], point, spread, known, kind_before, first=index == 0)
            ranked = [question for question in ranked if question.text.lower() not in taken]
            asks = _sequence(point, index, ranked, self.names)
            kind_before = ranked[0].kind if ranked and asks[0].text == ranked[0].text else ""
            taken |= {ask.text.lower() for ask in asks}
            self.asks.append(tuple(asks))
        self._places = {
            _plain(ask.text): (index, ask)
            for index, asks in reversed(list(enumerate(self.asks)))
            for ask in asks
        }

    def ask(self, point: int, times: int) -> Ask:
        """What to ask about `point` after it was asked about `times` times."""
        asks = self.asks[point]
        return asks[times % len(asks)]

    def inside(self, text: str) -> str:
        """`text` of the source as it stands inside a sentence."""
        return inside(text, self.names)

    def find(self, question: str) -> tuple[int, Ask] | None:
        """The point that a question of this tutor is about, whatever leads into it."""
        text = _plain(question)
        if text in self._places:
            return self._places[text]
        for lead in _LEADS:
            if text.startswith(lead):
                return self._places.get(text[len(lead) :])
        return None


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


_LEADS = tuple(
    _plain(lead) + " "
    for lead in (*(lead for leads in phrases.LEADS.values() for lead in leads), phrases.STILL)
    if lead
)


@lru_cache(maxsize=64)
def material_of(topic: str, points: tuple[Point, ...]) -> Material:
    """The material of a topic, made once."""
    return Material(topic, points)


def _ranked(
    questions: Sequence[Question],
    point: Point,
    spread: Counter[str],
    known: set[str],
    kind_before: str,
    *,
    first: bool,
) -> list[Question]:
    title = set(meanings(point.title))

    def worth(question: Question) -> float:
        own = set(meanings(question.text))
        value = _OPENS[question.kind] - 0.25 * question.line + (0.3 if question.line == 0 else 0)
        value += 1.0 if own & title else 0.0
        if question.kind == "does" and not own & title:
            if own <= known:
                value -= 0.7 if first else 1.5
            elif all(spread[item] > 1 for item in own):
                value -= 2.0
        return value - (0.8 if question.kind == kind_before else 0.0)

    values = {question.text: worth(question) for question in questions}
    kept = [question for question in questions if values[question.text] >= WORTH_ASKING]
    ranked = sorted(kept, key=lambda question: (-values[question.text], question.line))
    if ranked and values[ranked[0].text] < GOOD_ENOUGH:
        # Good for later, not to open with.
        return [Question("", "", "", 0), *ranked]
    return ranked


def _sequence(
    point: Point, index: int, ranked: Sequence[Question], names: frozenset[str]
) -> list[Ask]:
    """Open question, cloze, other questions and clozes in turn, then ever simpler ones."""
    body = point.body
    opening = Ask(phrases.generic(point.title, body, index))
    usable = [Ask(question.text, question.answer) for question in ranked if question.text]
    titled = kind_of(point.title) in (Kind.CLAUSE, Kind.QUESTION)
    if usable and not titled and ranked[0].text:
        first, others = usable[0], usable[1:]
        line = ranked[0].line
    else:
        first, others, line = opening, usable, 0
    clozes: list[Ask] = []
    lines = [*body[line:], *body[:line]]
    for text in sorted(lines, key=lambda text: not stands_alone(text)):
        cloze = cloze_of(text, frozenset(), names)
        if cloze is not None and len(cloze.text) <= 160:
            shown = cloze.text[:1].upper() + cloze.text[1:]
            clozes.append(Ask(shown, cloze.answer, cloze=True))
    clozes = clozes[:CLOZES_MAX]
    asks = [first]
    for at in range(max(len(clozes), len(others))):
        asks += clozes[at : at + 1]
        asks += others[at : at + 1]
    asks += [Ask(phrases.simpler(point.title, body, tries)) for tries in range(3)]
    if first is not opening:
        asks.append(opening)
    asks.append(Ask(phrases.generic(point.title, body, index + 1)))
    return list({_plain(ask.text): ask for ask in asks}.values())

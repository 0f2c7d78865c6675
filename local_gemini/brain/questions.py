"""Questions that the sentences of a text answer, made out of these sentences. Pure.

Each transformation is only used where it is safe; a sentence may give no question at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from local_gemini.brain import grammar_words as lists
from local_gemini.brain.clauses import ask, clause_of, inside, what_does, what_is
from local_gemini.brain.grammar import NOUN_TAGS, is_plural, noun_phrases, span, tagged
from local_gemini.brain.language import words
from local_gemini.brain.matching import meanings

QUESTION_WORDS_MAX = 18
SENTENCE_WORDS_MAX = 40
_FRONTED = re.compile(
    r"^(When|Whenever|If|Once|Where|Because|Without|After|As soon as)\s+([^,]+),\s+(.+)$", re.I
)
_BECAUSE = re.compile(r"^([^,;]+?),?\s+(because|so that|in order to)\s+(.+)$", re.I)
_BY_DOING = re.compile(r"^([^,;]+?)\s+by\s+(\w+ing\b.*)$", re.I)
_SO = re.compile(r"^(.+?),\s+(?:and\s+)?so\s+(.+)$|^(.+?),\s+which is why\s+(.+)$", re.I)
_WHEN_LATER = re.compile(r"^([^,;]+?),?\s+(if|when)\s+([^,;]+)$", re.I)
_DATE = re.compile(
    r"\b(?:in|on|by|since)\s+(?:(?:early|late|mid)[ -])?(?:(?:the\s+)?\d{1,2}(?:st|nd|rd|th)?\s+)?"
    r"(?:of\s+)?(?:(?:January|February|March|April|May|June|July|August|September|October|November|"
    r"December)\b(?:\s+\d{1,2}\b)?)?,?\s*(?:\b1\d{3}\b|\b20\d{2}\b)?"
)
_OPEN_REFERENCE = re.compile(
    r"\b(?:it|they|them|he|she|him|this|these|those|there|here|that one|such)\b", re.I
)
_OWN_WORD = re.compile(r"\b(?:I|we|our|my|me|us|you|your)\b")


@dataclass(frozen=True, slots=True)
class Question:
    """`text` with its mark, the source's words that answer it, the kind, the sentence's index."""

    text: str
    answer: str
    kind: str
    line: int


def questions_of(lines: Sequence[str], names: frozenset[str]) -> list[Question]:
    """All safe questions that `lines` answer, in the order of the lines."""
    made: dict[str, Question] = {}
    for index, line in enumerate(lines):
        said = line.strip().rstrip(".!").strip()
        if "?" in said or ":" in said or not 4 <= len(words(said)) <= SENTENCE_WORDS_MAX:
            continue
        for kind, text, answer in _asked(said, names):
            clean = " ".join(text.split()).rstrip(" ,;.")
            if len(clean.split()) > QUESTION_WORDS_MAX or _unclear(clean):
                continue
            made.setdefault(clean.lower(), Question(f"{clean}?", answer, kind, index))
    return list(made.values())


def _unclear(question: str) -> bool:
    """Whether a word of the question points at something that the question does not name."""
    if _OWN_WORD.search(question.replace("do you", "")):
        return True
    if question.count("(") or '"' in question or "“" in question:
        return True
    return _OPEN_REFERENCE.search(question) is not None


def _asked(said: str, names: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    if found := _FRONTED.match(said):
        yield from _fronted(found[1].lower(), found[2], found[3], names)
        return
    if found := _BECAUSE.match(said):
        yield from _why(found[1], found[3], names)
        yield from _plain(found[1], names)
        return
    if found := _SO.match(said):
        cause, effect = (found[1], found[2]) if found[1] else (found[3], found[4])
        yield from _plain(cause.split(", ")[0], names)
        if not effect.lower().startswith("that "):
            yield from _why(effect, cause, names)
        return
    if found := _WHEN_LATER.match(said):
        yield from _plain(found[1], names)
        main = clause_of(found[1])
        if main is not None and main.verb in ("shall", "must", "may", "should"):
            if not main.lead and (text := ask(main, "When", names=names)):
                yield "when", text, f"{found[2]} {found[3]}"
        elif _has_verb(found[3]):
            happens = "happened" if _past(found[1], found[3]) else "happens"
            yield "when", f"What {happens} {found[2].lower()} {inside(found[3], names)}", found[1]
        return
    if found := _BY_DOING.match(said):
        clause = clause_of(found[1])
        if clause is not None and (text := ask(clause, "How", names=names)):
            yield "how", text, found[2]
    yield from _plain(said, names)


def _fronted(
    word: str, condition: str, main: str, names: frozenset[str]
) -> Iterator[tuple[str, str, str]]:
    if word == "because":
        yield from _why(main, condition, names)
        return
    if word != "without" and not _has_verb(condition):
        return
    what = "happened" if _past(main, condition) else "happens"
    first = tagged(main)
    if first and first[0].tag == "V" and first[0].text.islower():
        yield "when", f"What do you do {word} {inside(condition, names)}", main
        return
    yield "when", f"What {what} {word} {inside(condition, names)}", main


def _why(effect: str, cause: str, names: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    effect = re.split(r",\s|;\s", effect)[0]
    clause = clause_of(effect[:1].upper() + effect[1:])
    if clause is not None and not clause.pronoun:
        subject_kept = frozenset(names | ({effect.split()[0]} if effect[:1].isupper() else set()))
        if clause.lead:
            return
        if text := ask(clause, "Why", names=names if effect[:1].isupper() else subject_kept):
            yield "why", text, cause


def _plain(said: str, names: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    """Questions for a main clause: what is it, what does it do, how many, when."""
    clause = clause_of(said)
    if clause is None:
        return
    if text := what_is(clause, names):
        yield "is", text, clause.rest
    elif text := what_does(clause, names):
        if clause.lead and tagged(clause.lead)[0].tag == "I":
            text = f"{text} {inside(clause.lead, names)}"
        yield "does", text, f"{clause.verb} {clause.rest}"
    yield from _how_many(said, clause.subject, names)
    date = _DATE.search(clause.lead) or _DATE.search(clause.rest)
    if date is not None and re.search(r"\d{3,4}|[A-Z]", date[0]):
        rest = clause.rest
        if clause.lead and date[0].strip() not in clause.lead:
            return
        if not clause.lead:
            if not rest.endswith(date[0].strip()):
                return
            rest = rest[: -len(date[0].strip())].strip()
        if rest and (text := ask(clause, "When", rest=re.split(r",\s", rest)[0], names=names)):
            yield "date", text, date[0]


def _how_many(said: str, subject: str, names: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    clause = clause_of(said)
    if clause is None or clause.lead:
        return
    tokens = tagged(clause.rest)
    phrases = noun_phrases(clause.rest)
    if phrases and phrases[0].first == 0 and tokens[0].tag == "#" and not clause.auxiliary:
        head = tokens[phrases[0].head].text
        thing = span(clause.rest, tokens, 1, phrases[0].last)
        if not is_plural(head) or (len(tokens) > 1 and tokens[1].tag == "#"):
            return
        tail = re.split(r",\s|;\s", clause.rest[tokens[phrases[0].last - 1].end :])[0]
        if text := ask(clause, f"How many {thing}", rest=tail.strip(), names=names):
            yield "many", text, span(clause.rest, tokens, 0, phrases[0].last)


def _has_verb(text: str) -> bool:
    return any(token.tag in "VA" for token in tagged(text))


def _past(main: str, condition: str) -> bool:
    """Whether it is told in the past; the main clause knows best."""
    for text in (main, condition):
        clause = clause_of(text[:1].upper() + text[1:])
        if clause is not None:
            return clause.past
    return False


@dataclass(frozen=True, slots=True)
class Cloze:
    """The beginning of a sentence, asked to be finished, and the words that finish it."""

    text: str
    answer: str


def cloze_of(line: str, hidden: frozenset[str], names: frozenset[str]) -> Cloze | None:
    """`line` cut before its last telling noun phrase; `hidden` are words that must not be given
    away. None when nothing sensible is left."""
    said = line.strip().rstrip(".!").strip()
    if "?" in said or len(words(said)) < 5:
        return None
    tokens = tagged(said)
    best = None
    for phrase in noun_phrases(said):
        start = phrase.first
        while start < phrase.last and tokens[start].tag == "D":
            start += 1
        before = [token for token in tokens[:start] if token.text[0].isalnum()]
        if len(before) < 3 or tokens[phrase.head].tag not in NOUN_TAGS:
            continue
        if not any(token.tag in "VA" for token in before):
            continue
        best = (start, phrase)
    if best is None:
        return None
    start, _ = best
    begun = said[: tokens[start - 1].end]
    if len(begun.split()) > QUESTION_WORDS_MAX + 6:
        return None
    if hidden and {word.lower() for word in words(begun)} & hidden:
        return None
    if lists.DEMONSTRATIVES & {tokens[0].low} or tokens[0].tag == "O":
        return None
    answer = said[tokens[start].start :]
    if not set(meanings(answer)) - set(meanings(begun)):
        return None
    return Cloze(f"{inside(begun, names)} …?", answer)

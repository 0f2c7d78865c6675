"""Picks the words of a text that a learner's utterance touched, and shortens statements. Pure.

Only words of the source are ever quoted: what was misheard is never said back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from local_gemini.brain import grammar_words as lists
from local_gemini.brain.clauses import clause_of, inside
from local_gemini.brain.grammar import noun_phrases, span, tagged
from local_gemini.brain.language import words
from local_gemini.brain.lexicon import VAGUE
from local_gemini.brain.matching import meaning, meanings

PHRASE_WORDS_MAX, QUOTE_WORDS_MAX = 8, 16
# A single word is worth saying back only when it is this telling.
SINGLE_WEIGHT = 0.8
# What it is worth that a phrase holds words of the answer that was asked for.
ANSWER_BONUS = 1.0
STATEMENT_MAX = 240
CONDENSED_WORDS = 16
_CLAUSE = re.compile(
    r"[,;:.!?()]|\b(?:and|but|so that|so|because|when|if|which|who|that|while|where|until)\b",
    re.IGNORECASE,
)
# A sentence that begins like this leans on the one before it.
_LEANING = re.compile(
    r"^(?:it|they|he|she|we|this|these|those|that|such|there|here|so|but|however|therefore|then|"
    r"also|another|both|others|without it|in this|for this|of these|instead|otherwise|in that|"
    r"during this|further|some)\b",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r",?\s+(?:because|so that|which is why|although|while|whereas|until|as soon as)\s|;\s|"
    r",\s+(?:so|which|who|where|but|yet|and|as|for example|such as)\s|:\s|\.\s|\s[–—-]\s",
    re.IGNORECASE,
)


def stands_alone(line: str) -> bool:
    """Whether a sentence can be said without the one before it."""
    return _LEANING.match(line.strip()) is None or re.match(r"these? \w+ ", line) is not None


def statement(line: str) -> str:
    """`line` of a source, short enough to be spoken, without a question mark."""
    text = " ".join(line.replace("?", ".").split())
    if len(text) > STATEMENT_MAX:
        text = text[:STATEMENT_MAX].rsplit(" ", 1)[0].rstrip(" ,;:") + "."
    return text if text[-1:] in ".!" else text + "."


def condensed(line: str) -> str:
    """The main clause of `line` in at most about 16 words, without its final stop."""
    text = " ".join(line.replace("?", "").split()).rstrip(".!;: ")
    found = _TAIL.search(text)
    while found is not None:
        head = text[: found.start()]
        if len(head.split()) >= 4 and any(token.tag in "VA" for token in tagged(head)):
            text = head
            break
        found = _TAIL.search(text, found.end())
    if len(text.split()) > CONDENSED_WORDS and ", " in text:
        first, _, rest = text.partition(", ")
        rest_holds = clause_of(rest[:1].upper() + rest[1:]) is not None
        text = first if clause_of(first) is not None else rest if rest_holds else text
    return text.strip(" ,;")


def quote(
    lines: Sequence[str],
    matched: frozenset[str],
    said: frozenset[str],
    weights: Mapping[str, float],
    names: frozenset[str],
    key: frozenset[str] = frozenset(),
) -> str:
    """The phrase of `lines` whose words were all used by the learner and that tells most.

    `matched` and `said` are keys of the learner's words, see `coverage.Judgement`; `key` are those
    of the answer that was asked for. Empty when no phrase is worth saying back.
    """
    best, most = "", 0.0
    for line in lines:
        tokens = tagged(line)
        for phrase in noun_phrases(line):
            text = span(line, tokens, phrase.first, phrase.last)
            value = _value(text, matched, weights)
            value += ANSWER_BONUS if value and key & set(meanings(text)) else 0.0
            if len(words(text)) > PHRASE_WORDS_MAX or _slight(text, weights):
                continue
            if tokens[phrase.first].low in lists.DEMONSTRATIVES | {"its", "their", "his", "her"}:
                text = span(line, tokens, phrase.first + 1, phrase.last)
            if value > most and tokens[phrase.first].tag != "O" and not _only_vague(text):
                best, most = inside(text, names), value
        for piece in (condensed(line), *_CLAUSE.split(line)):
            text = piece.strip()
            count = len(words(text))
            if not 3 <= count <= QUOTE_WORDS_MAX or not stands_alone(text):
                continue
            clause = clause_of(text)
            if clause is None or clause.pronoun:
                continue
            own = set(meanings(text))
            telling = 2 * len(matched & own) >= len(own)
            value = _value(text, said, weights) if telling else 0.0
            value += ANSWER_BONUS if value and key & own else 0.0
            if value > 0.0 and value + 0.5 > most:
                best, most = inside(text, names), value + 0.5
    return best


def _value(text: str, matched: frozenset[str], weights: Mapping[str, float]) -> float:
    own = meanings(text)
    if not own or any(item not in matched for item in own) or len(words(text)) > QUOTE_WORDS_MAX:
        return 0.0
    return sum(weights.get(item, 0.2) for item in set(own)) + 0.1 * len(words(text))


def _slight(text: str, weights: Mapping[str, float]) -> bool:
    own = set(meanings(text))
    return len(own) < 2 and sum(weights.get(item, 0.0) for item in own) < SINGLE_WEIGHT


def _only_vague(text: str) -> bool:
    telling = [word for word in words(text) if meaning(word) in meanings(text)]
    return all(word.lower() in VAGUE or word.isdigit() for word in telling)

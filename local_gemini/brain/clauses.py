"""The main clause of a plain sentence, and questions made by turning it around. Pure.

Everything here answers None rather than risk a question that no one would ask like that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from local_gemini.brain import grammar_words as lists
from local_gemini.brain.grammar import (
    NOUN_TAGS,
    Token,
    base_of,
    base_of_present,
    is_plural,
    noun_phrases,
    span,
    tagged,
)
from local_gemini.brain.lexicon import VERBS

SUBJECT_WORDS_MAX = 9
REST_WORDS_MAX = 16


@dataclass(frozen=True, slots=True)
class Clause:
    """`lead` fronted words, `subject`, `verb` as written, `rest` after it; `auxiliary` when the
    verb is one (be, a modal), `past` and `plural` as far as the forms tell."""

    lead: str
    subject: str
    head: str
    verb: str
    rest: str
    auxiliary: bool
    past: bool
    plural: bool
    pronoun: bool


def clause_of(sentence: str) -> Clause | None:
    """The one main clause of `sentence` (no fronted subordinate clause), when its shape is safe."""
    tokens = tagged(sentence)
    if len(tokens) > 40:
        return None
    phrases = {phrase.first: phrase for phrase in noun_phrases(sentence)}
    at = 0
    if tokens and tokens[0].tag == "I":
        # "In 1789 the king ...": a fronted phrase ends where a new subject begins.
        at = 1
        if 1 in phrases:
            at = phrases[1].last
        while at < len(tokens) and tokens[at].tag in "#,":
            at += 1
    elif len(tokens) > 1 and tokens[0].tag in "RC":
        at = 2 if tokens[1].tag == "," else 1
    first = at
    pronoun = at < len(tokens) and tokens[at].tag == "O"
    doing = at + 1 < len(tokens) and tokens[at].tag == "G" and tokens[at + 1].tag in "VA"
    if pronoun or doing:
        head, at = tokens[at].text, at + 1
    elif at in phrases:
        head, at = tokens[phrases[at].head].text, phrases[at].last
        while at < len(tokens) - 1 and tokens[at].tag in "IC" and at + 1 in phrases:
            head = head if tokens[at].tag == "I" else "s"  # two joined subjects are plural
            at = phrases[at + 1].last
    else:
        return None
    end = at
    while at < len(tokens) and tokens[at].tag == "R":
        at += 1
    if at >= len(tokens) or tokens[at].tag not in "VA" or end - first > SUBJECT_WORDS_MAX:
        return None
    verb = tokens[at].low
    rest = sentence[tokens[at].end :].strip().rstrip(".!? ")
    adverbs = span(sentence, tokens, end, at)
    plural = head == "s" or is_plural(head) or head.lower() in {"they", "we", "these", "those"}
    if verb in ("are", "were", "have", "do"):
        plural = True
    elif verb in ("is", "was", "has", "does"):
        plural = False
    return Clause(
        lead=span(sentence, tokens, 0, first).strip(" ,"),
        subject=span(sentence, tokens, first, end),
        head=head,
        verb=verb,
        rest=f"{adverbs} {rest}".strip(),
        auxiliary=tokens[at].tag == "A",
        past=verb in ("was", "were", "had", "did")
        or (tokens[at].tag == "V" and base_of(verb) is not None and verb not in VERBS_NOW),
        plural=plural,
        pronoun=pronoun,
    )


# Forms that are past and present alike are taken for present.
VERBS_NOW = frozenset(
    ["cut", "let", "put", "read", "set", "split", "spread", "cost", "hit", "found"]
) - {"found"}


def ask(
    clause: Clause, word: str, *, rest: str | None = None, names: frozenset[str] = frozenset()
) -> str | None:
    """A question by `word` ("Why", "When", "How") that turns `clause` around, without its mark.

    `names` are words of the text that keep their capital.
    """
    said = clause.rest if rest is None else rest
    if len(said.split()) > REST_WORDS_MAX:
        return None
    subject = inside(clause.subject, names)
    if clause.auxiliary:
        negated = re.match(r"(cannot|\w+n't)$", clause.verb)
        if negated:
            verb = {"cannot": "can"}.get(clause.verb, clause.verb.removesuffix("n't"))
            return f"{word} {verb} {subject} not {said}".strip()
        return f"{word} {clause.verb} {subject} {said}".strip()
    helper, base = _helper(clause)
    return f"{word} {helper} {subject} {base} {said}".strip() if base else None


def what_does(clause: Clause, names: frozenset[str] = frozenset()) -> str | None:
    """ "What does X do", "What can X do", "What does X contain": the verb phrase is the answer."""
    subject = inside(clause.subject, names)
    if clause.pronoun:
        return None
    if clause.auxiliary:
        if clause.verb not in lists.MODALS or clause.verb in {"cannot", "could", "would", "might"}:
            return None
        first = clause.rest.split(" ", 1)[0].lower()
        if first in lists.STATIVE | {"not", "be"} or first not in VERBS:
            return None
        return f"What {clause.verb} {subject} do"
    helper, base = _helper(clause)
    if base is None:
        return None
    if base in lists.ASKABLE and re.match(r"(?:an?|the|\w+s)\b", clause.rest):
        return f"What {helper} {subject} {base}"
    if base in lists.STATIVE or not clause.rest:
        return None
    return f"What {helper} {subject} do"


def what_is(clause: Clause, names: frozenset[str] = frozenset()) -> str | None:
    """ "What are X" for a clause that says what X are, by a noun."""
    if clause.pronoun or clause.verb not in ("is", "are"):
        return None
    if re.match(r"(?:most|more|very|so|too|less|as|not)\b", clause.rest):
        return None
    tokens = tagged(f"It is {clause.rest}.")[2:]
    at = 0
    while at < len(tokens) and tokens[at].tag in "DJ#E":
        at += 1
    if not tokens or tokens[0].tag == "E" or at >= len(tokens) or tokens[at].tag not in NOUN_TAGS:
        return None
    if tokens[0].tag == "D" and tokens[0].low in lists.DEMONSTRATIVES:
        return None
    return f"What {clause.verb} {inside(clause.subject, names)}"


def names_in(lines: Iterable[str]) -> frozenset[str]:
    """Words that `lines` write with a capital inside a sentence and never without one."""
    capital: set[str] = set()
    small: set[str] = set()
    for line in lines:
        for token in tagged(line):
            if token.tag == "P" and token.text[:1].isupper():
                capital.add(token.text)
            elif token.text.islower():
                small.add(token.text)
        tokens = tagged(line)
        if len(tokens) > 1 and tokens[0].tag == "N" and tokens[1].tag in "VA" and _name(tokens[0]):
            capital.add(tokens[0].text)
    return frozenset(word for word in capital if word.lower() not in small)


def inside(text: str, names: frozenset[str] = frozenset()) -> str:
    """`text` as it stands inside a sentence: a common first word loses its capital."""
    tokens = tagged(text)
    if not tokens or not text[:1].isupper():
        return text
    first = tokens[0]
    if first.text in names:
        return text
    if (
        first.text == "I"
        or first.text.startswith("I'")
        or (len(first.text) > 1 and first.text[1:] != first.text[1:].lower())
    ):
        return text
    if len(tokens) == 2 and tokens[1].tag == "#":  # Apollo 11, Section 343
        return text
    # A name that runs on ("Estates General", "Paris" before a verb) keeps its capitals.
    if len(tokens) > 1 and tokens[1].tag == "P" and first.tag in "NPJ":
        return text
    if first.tag in "DONJIRCS#VTAGE" or first.low in lists.DETERMINERS:
        return text[:1].lower() + text[1:]
    return text


def _name(token: Token) -> bool:
    """Whether a noun that opens a sentence without an article is rather a name."""
    low = token.low
    common = low in lists.MASS_NOUNS or low.endswith((*lists.MASS_ENDINGS, "ing", "gen", "ose"))
    return not common and not is_plural(low) and low not in VERBS


def _helper(clause: Clause) -> tuple[str, str | None]:
    if clause.past:
        return "did", base_of(clause.verb)
    if clause.plural or clause.subject.lower() in ("i", "you"):
        return "do", clause.verb if clause.verb in VERBS else None
    base = base_of_present(clause.verb)
    return "does", base

"""What kind of name a title is, and how it stands inside a sentence. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from functools import lru_cache

from local_gemini.brain import grammar_words as lists
from local_gemini.brain.clauses import clause_of, inside, names_in
from local_gemini.brain.grammar import is_plural, noun_phrases, tagged
from local_gemini.brain.language import words
from local_gemini.brain.lexicon import VERBS


class Kind(Enum):
    """Forms of titles that need different sentences around them."""

    QUESTION = "question"
    CLAUSE = "clause"  # how plates move
    STATEMENT = "statement"  # plates move slowly
    ORDER = "order"  # wash the tomatoes
    DOING = "doing"  # washing tomatoes
    PLURAL = "plural"
    NAME = "name"
    ONE = "one"


_CLAUSE = re.compile(r"^(?:how|why|what|when|where|who|which|whether)\b", re.IGNORECASE)


@lru_cache(maxsize=1_024)
def kind_of(title: str) -> Kind:
    """The form of `title`; a plain noun phrase is PLURAL, NAME or ONE."""
    text = title.strip()
    if text.endswith("?"):
        return Kind.QUESTION
    found = words(text)
    if not found:
        return Kind.ONE
    if _CLAUSE.match(text):
        return Kind.CLAUSE
    first = found[0].lower()
    tokens = tagged(text)
    doing = first.endswith("ing") and len(first) > 5 and first not in lists.ING_NOUNS
    if doing and len(found) > 1 and found[1].islower():
        return Kind.DOING
    if len(tokens) > 1 and tokens[0].tag == "V" and first not in lists.ADJECTIVES:
        return Kind.ORDER
    if _states(text):
        return Kind.STATEMENT
    if " and " in text and not text.lower().startswith(("the ", "a ")):
        return Kind.PLURAL
    head = _head(text)
    if is_plural(head):
        return Kind.PLURAL
    if len(found) > 1 and sum(word[0].isupper() for word in found[1:]) >= 1:
        return Kind.NAME
    return Kind.ONE


def _states(text: str) -> bool:
    """Whether a title is a sentence of its own; "climate changes" and "laws passed" are not."""
    clause = clause_of(text)
    if clause is None or not clause.rest:
        return False
    return clause.verb in lists.FINITE or (clause.plural and clause.verb in VERBS)


@lru_cache(maxsize=1_024)
def _names(body: tuple[str, ...]) -> frozenset[str]:
    return names_in(body)


def running(title: str, body: Sequence[str] = ()) -> str:
    """`title` inside a sentence: with the article that its text uses, small unless a name."""
    text = " ".join(title.replace("?", "").split()).strip(" .,;:")
    kind = kind_of(title)
    names = _names(tuple(body))
    if kind is Kind.STATEMENT:
        names |= _names((text,))
    first = words(text)[:1]
    if not first:
        return text
    if first[0] not in names and not (kind is Kind.NAME and first[0].lower() not in lists.ARTICLES):
        text = inside(text, names)
    if kind not in (Kind.ONE, Kind.NAME, Kind.PLURAL):
        return text
    low = text.lower()
    if len(tagged(text)) == 2 and tagged(text)[1].tag == "#":
        return text
    if low.split()[0] in lists.DETERMINERS or (first[0] in names and kind is Kind.ONE):
        return text
    source = " ".join(body)
    pattern = re.escape(text)
    if any(re.match(rf"{pattern}\b", line, re.IGNORECASE) for line in body):
        return text
    bare_too = re.search(rf"(?<!the )(?<!\w){pattern}\b", source, re.IGNORECASE)
    if kind is Kind.PLURAL and bare_too is not None:
        return text
    if re.search(rf"\b(?:the|a|an|each|every|its|their)\s+{pattern}\b", source, re.IGNORECASE):
        return f"the {text}"
    if kind is Kind.PLURAL:
        return text
    bare = re.search(rf"(?<!\w){pattern}\b", source, re.IGNORECASE)
    if bare is not None or kind is Kind.NAME or _mass(_head(text)):
        return text
    return f"the {text}"


def _mass(head: str) -> bool:
    low = head.lower()
    return (
        low in lists.MASS_NOUNS
        or low.endswith((*lists.MASS_ENDINGS, "ing"))
        or (low in VERBS and low.endswith("ing"))
    )


def _head(text: str) -> str:
    """The head noun of a noun phrase that stands alone: the last word before a preposition."""
    tokens = tagged(text)
    phrases = noun_phrases(text)
    if phrases and phrases[0].first == 0:
        return tokens[phrases[0].head].text
    found = words(re.split(r"\s(?:of|in|on|for|with|from|to|at)\s", text)[0])
    return found[-1] if found else text

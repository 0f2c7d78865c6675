"""A small tagger and chunker for plain English: words with tags, noun phrases, clauses. Pure.

It goes by word lists, endings and neighbours. Callers only build on shapes that are safe.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from local_gemini.brain import grammar_words as lists
from local_gemini.brain.lexicon import STOP_WORDS, VERBS

_TOKEN = re.compile(r"[^\W_]+(?:[.'’-][^\W_]+)*%?|[^\w\s]")
_YEAR = re.compile(r"1\d{3}|20\d\d")
_ADJECTIVE = re.compile(r"(?:ous|ful|less|able|ible|ive|ic|ish|ary)$")
_LONG_AL = re.compile(r"\w{3,}(?:ial|ual|ical|ional|ental|ural)$")
NOUN_TAGS = frozenset("NP")
# Inside a noun phrase before its last noun.
_MODIFIERS = frozenset("JNP#E")


@dataclass(frozen=True, slots=True)
class Token:
    """A word or mark: `tag` is D determiner, J adjective, N noun, P name, V verb, A auxiliary,
    I preposition, T to, C and/or, S subordinator, O pronoun, R adverb, # number, G -ing, E -ed,
    or the mark itself."""

    text: str
    tag: str
    start: int
    end: int

    @property
    def low(self) -> str:
        return self.text.lower().replace("’", "'")


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase: token positions [first, last), and the position of its head noun."""

    first: int
    last: int
    head: int


@lru_cache(maxsize=2_048)
def tagged(sentence: str) -> tuple[Token, ...]:
    """The tokens of one sentence with their tags."""
    found = list(_TOKEN.finditer(sentence))
    tokens: list[Token] = []
    has_verb = False
    for at, match in enumerate(found):
        word = match[0]
        following = found[at + 1][0] if at + 1 < len(found) else ""
        tag = _tag(word, tokens, following, has_verb=has_verb)
        if tag in "VA":
            has_verb = True
        elif tag in ",;:.S" or word.lower() in ("until", "as", "since"):
            has_verb = False
        tokens.append(Token(word, tag, match.start(), match.end()))
    return tuple(tokens)


def span(sentence: str, tokens: tuple[Token, ...], first: int, last: int) -> str:
    """The words of `sentence` from token `first` up to token `last`, as written."""
    return sentence[tokens[first].start : tokens[last - 1].end] if first < last else ""


@lru_cache(maxsize=2_048)
def noun_phrases(sentence: str) -> tuple[Phrase, ...]:
    """Noun phrases from left to right, none inside another; "of" joins two into one."""
    tokens = tagged(sentence)
    found: list[Phrase] = []
    at = 0
    while at < len(tokens):
        phrase = _phrase_at(tokens, at)
        if phrase is None:
            at += 1
            continue
        end = phrase.last
        if end + 1 < len(tokens) and tokens[end].low == "of":
            inner = _phrase_at(tokens, end + 1)
            if inner is not None:
                phrase = Phrase(phrase.first, inner.last, phrase.head)
            elif _YEAR.fullmatch(tokens[end + 1].text):
                phrase = Phrase(phrase.first, end + 2, phrase.head)
        found.append(phrase)
        at = phrase.last
    return tuple(found)


def is_plural(word: str) -> bool:
    """Whether a noun looks plural."""
    low = word.lower()
    if low in {"people", "children", "men", "women", "mice", "feet", "teeth", "bacteria", "data"}:
        return True
    if low in {"mitochondria", "criteria", "phenomena", "fungi", "news", "series"}:
        return low != "news"
    return low.endswith("s") and not low.endswith(("ss", "us", "is", "ics")) and len(low) > 3


def base_of(past: str) -> str | None:
    """The base form of a past form that is known, else None."""
    low = past.lower()
    if low in lists.IRREGULAR:
        return lists.IRREGULAR[low]
    if not low.endswith("ed"):
        return None
    options = [low[:-2], low[:-1]]
    if low.endswith("ied"):
        options = [low[:-3] + "y"]
    elif len(low) > 4 and low[-3] == low[-4]:
        options = [low[:-3], low[:-2]]
    return next((option for option in options if option in VERBS), None)


def base_of_present(verb: str) -> str | None:
    """The base form of a third person singular, else None."""
    low = verb.lower()
    if low == "has":
        return "have"
    if low.endswith("ies") and len(low) > 4:
        return low[:-3] + "y"
    if low.endswith(("ches", "shes", "sses", "xes", "zes", "oes")):
        return low[:-2]
    return low[:-1] if low.endswith("s") and not low.endswith("ss") else None


def _phrase_at(tokens: tuple[Token, ...], at: int) -> Phrase | None:
    first = at
    if tokens[at].tag == "D":
        at += 1
        while at < len(tokens) and tokens[at].tag == "D":
            at += 1
    if first < at < len(tokens) - 1 and tokens[at].tag == "R" and tokens[at + 1].tag in "JE":
        at += 1
    head = -1
    while at < len(tokens) and (
        tokens[at].tag in _MODIFIERS or (tokens[at].tag == "G" and at > first and head < 0)
    ):
        if tokens[at].tag in "E#" and head >= 0:
            if head == at - 1 and _numbers_its_noun(tokens, at):
                return Phrase(first, at + 1, head)
            break
        if tokens[at].tag in NOUN_TAGS:
            head = at
        at += 1
    return Phrase(first, head + 1, head) if head >= 0 else None


def _numbers_its_noun(tokens: tuple[Token, ...], at: int) -> bool:
    """Whether the number at `at` names the noun before it ("section 343") and counts nothing."""
    after = tokens[at + 1].tag if at + 1 < len(tokens) else "."
    return tokens[at].text.isdigit() and after in ".,;:AVIC"


def _ends_a_name(before: list[Token]) -> bool:
    """Whether what was read so far ends with the number of a name: "act of 1976", "river 16"."""
    if len(before) < 2 or not before[-1].text.isdigit():
        return False
    if before[-2].tag in NOUN_TAGS:
        return True
    dated = before[-2].low == "of" and len(before) > 2 and before[-3].tag in NOUN_TAGS
    return dated and _YEAR.fullmatch(before[-1].text) is not None


def _tag(word: str, before: list[Token], following: str, *, has_verb: bool) -> str:
    low = word.lower().replace("’", "'")
    last = before[-1].tag if before else "^"
    if last == "#" and _ends_a_name(before):
        last = "N"
    fresh = last in "^.:;,\"'“”()CS"
    then = following.lower()
    if not word[0].isalnum():
        return word[0]
    if word[0].isdigit():
        return "#"
    closed = _closed(low, last, then)
    if closed:
        return closed
    if word[0].isupper() and (before and not (last == "." and len(before) > 1)):
        return "P"
    if len(word) > 1 and word.isupper():
        return "P"
    if low in lists.ADJECTIVES and not (low in VERBS and last in "NPT"):
        named = _names(then)
        return "J" if named or last not in "DJ" else "N"
    if low in lists.NUMBER_WORDS:
        return "#"
    if low in lists.ADVERBS or (low.endswith("ly") and len(low) > 4):
        return "R"
    if low.endswith("ing") and len(low) > 5:
        return "G"
    if low in lists.PARTICIPLES and last in "AR":
        return "E"
    verb = _verb(low, before, last, then, fresh=fresh, has_verb=has_verb)
    if verb:
        return verb
    if low.endswith("ed") and len(low) > 4:
        if then in ("by", "with") and last in NOUN_TAGS:
            return "E"
        if last in "DJ#IC" and _names(then):
            return "J"
        return "E" if last in "ADR" or has_verb else ("V" if last in "NPO" else "E")
    if (_ADJECTIVE.search(low) or _LONG_AL.search(low)) and (_names(then) or last in "AR"):
        return "J"
    return "N"


def _closed(low: str, last: str, then: str) -> str:
    if low == "to":
        return "T"
    if low in lists.MODALS or low in lists.BE:
        return "A"
    if low in lists.HAVE_DO:
        return "A" if low not in {"has", "have", "had"} or then.endswith(("ed", "en")) else "V"
    if low in lists.COORDINATORS:
        return "C"
    if low in {"this", "these", "those", "that", "such"}:
        if _names(then):
            return "S" if low == "that" and last in "NPV" else "D"
        return "S" if low == "that" and last in "NPVJ" else "O"
    if low == "her":
        return "D" if _names(then) else "O"
    if low in lists.DETERMINERS and low not in {"what", "which", "whose", "no", "certain"}:
        return "D" if low in lists.ARTICLES or _names(then) or then == "of" else "O"
    if low == "no":
        return "D"
    if low in {"what", "whatever"}:
        return "O"
    if low in lists.SUBORDINATORS and low != "so":
        return "S"
    if low == "so":
        return "S" if then in {"that", "the", "it", "they", "a", "we"} or last == "," else "R"
    if low in lists.SUBJECT_PRONOUNS or low in lists.OBJECT_PRONOUNS:
        return "#" if low == "one" and _names(then) else "O"
    if low in lists.PREPOSITIONS:
        return "I"
    return ""


def _verb(
    low: str, before: list[Token], last: str, then: str, *, fresh: bool, has_verb: bool
) -> str:
    """V when a word that can be a verb is one here."""
    known = low in VERBS or low in lists.IRREGULAR or low in lists.THIRD_PERSONS
    third = low.endswith("s") and not low.endswith(("ss", "us", "is"))
    if last == "T":
        return "V" if known or not third else ""
    if last == "A" and before[-1].low in lists.MODALS and low not in lists.ADJECTIVES:
        return "V"
    if last == "A" or (last == "R" and len(before) > 1 and before[-2].tag in "AOT"):
        return "V" if known and not third else ""
    if last in ("D", "J", "#") or (last == "I" and not low.endswith("ed")):
        return ""
    if last == "O" or (before and before[-1].low in {"who", "which", "that"}):
        single = before[-1].low in {"it", "he", "she", "that", "which", "who"}
        return "V" if known or (third and single) else ""
    plural = bool(before) and is_plural(before[-1].text)
    if last in NOUN_TAGS or last == "R":
        if has_verb and last != "R":
            lets = any(token.low in lists.LETTING for token in before[-5:])
            return "V" if lets and known and not third and last in NOUN_TAGS else ""
        opens = then in lists.DETERMINERS or then in lists.PREPOSITIONS or then in "tothemitup"
        if known:
            if third:
                return "V" if not plural or opens else ""
            return "V" if plural or low in lists.IRREGULAR or opens or last == "R" else ""
        if then in lists.DETERMINERS and last in NOUN_TAGS:
            return "V" if third != plural and len(low) > 3 and (third or plural) else ""
        return ""
    takes = then in lists.DETERMINERS or then in {"it", "them", "up"}
    if last == "C" and has_verb and (takes or (known and third)):
        return "V"
    if fresh and low in lists.ORDERS and _names(then):
        return "V"
    return "V" if fresh and not third and takes else ""


def _names(word: str) -> bool:
    """Whether a word may stand inside a noun phrase."""
    if not word or not word[0].isalnum():
        return False
    closed = (
        word in lists.MODALS
        or word in lists.BE
        or word in lists.HAVE_DO
        or word in lists.PREPOSITIONS
        or word in lists.COORDINATORS
        or word in lists.SUBORDINATORS
        or word in lists.SUBJECT_PRONOUNS
        or word in lists.ARTICLES
        or word == "to"
    )
    return not closed and (word not in STOP_WORDS or word in lists.ADJECTIVES | lists.DETERMINERS)

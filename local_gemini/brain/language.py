"""Small tools for English text: sentences, content words, stems, key phrases. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from local_gemini.brain.lexicon import (
    AFTER_VERBS,
    NEGATIONS,
    PRONOUNS,
    STOP_WORDS,
    VAGUE,
    VERBS,
)

SENTENCE_MAX = 500
_ABBREVIATED = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|dr|mr|mrs|ms|prof|st|fig|no|ca|[A-Z]))\.$")
_BREAK = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[^\sa-z])|(?<=[。！？])|\n{2,}")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def sentences(text: str) -> list[str]:
    """The sentences of `text`, trimmed, inner line breaks made spaces; abbreviations respected."""
    made: list[str] = []
    joined = False
    for piece in _BREAK.split(text):
        clean = " ".join(piece.split())
        if not clean:
            continue
        if joined and made:
            made[-1] += " " + clean
        else:
            made.append(clean)
        joined = _ABBREVIATED.search(made[-1][-8:]) is not None
    return [part for line in made for part in _bounded(line)]


def _bounded(line: str) -> list[str]:
    """A "sentence" too long to be one, cut at any stop, then anywhere between words."""
    if len(line) <= SENTENCE_MAX:
        return [line]
    parts: list[str] = []
    for piece in re.split(r"(?<=[.!?;])\s+", line):
        rest = piece
        while len(rest) > SENTENCE_MAX:
            cut = rest.rfind(" ", SENTENCE_MAX // 2, SENTENCE_MAX)
            cut = cut if cut > 0 else SENTENCE_MAX
            parts.append(rest[:cut])
            rest = rest[cut:].strip()
        if rest:
            parts.append(rest)
    return parts


def words(text: str) -> list[str]:
    """The words of `text` as written, without punctuation."""
    return _WORD.findall(text)


def content_words(text: str) -> list[str]:
    """The words of `text` that carry meaning, as written."""
    return [
        word
        for word in words(text)
        if fold(word) not in STOP_WORDS and (len(word) > 1 or word.isdigit() or not word.isascii())
    ]


def fold(word: str) -> str:
    """Lower case without apostrophes and possessive endings."""
    return re.sub(r"['’]s?$|['’]", "", word.lower())


def stem(word: str) -> str:
    """A crude stem: enough to make infect, infected, infection and infections meet."""
    base = fold(word)
    for ending in (
        *("isations", "izations", "isation", "ization", "ations", "ation", "ingly"),
        *("ities", "ions", "ness", "ment", "ies", "ion", "ing", "ity", "ers", "ed", "er"),
        *("es", "ly", "al", "s", "e", "y"),
    ):
        if base.endswith(ending) and len(base) - len(ending) >= 4 - (ending == "s"):
            return base[: -len(ending)]
    return base


def stems(text: str) -> list[str]:
    """The stems of the content words of `text`, in order."""
    return [stem(word) for word in content_words(text)]


def alike(left: str, right: str) -> bool:
    """Whether two stems are the same word, misheard or misspelt at most a little."""
    if left == right:
        return True
    if min(len(left), len(right)) < 5 or left[0] != right[0]:
        return False
    return SequenceMatcher(None, left, right).ratio() >= 0.8


def negated(text: str) -> bool:
    """Whether `text` denies something, by an odd count of negations."""
    found = sum(
        1
        for word in words(text)
        if fold(word) in NEGATIONS or word.lower().replace("’", "'").endswith("n't")
    )
    return found % 2 == 1


def rarity(texts: Sequence[Iterable[str]]) -> dict[str, float]:
    """How telling each stem is: log of the share of `texts` that hold it, 0 when all do."""
    found = Counter(item for text in texts for item in set(text))
    return {item: math.log((1 + len(texts)) / count) for item, count in found.items()}


def central(lines: Sequence[str], weights: dict[str, float]) -> list[int]:
    """Indices of `lines`, the one that shares most telling words with the others first."""
    bags = [set(stems(line)) for line in lines]
    counts = Counter(item for bag in bags for item in bag)

    def score(index: int) -> float:
        bag = bags[index]
        gain = sum(weights.get(item, 1.0) * counts[item] for item in bag)
        return gain / math.sqrt(len(bag) + 4)

    return sorted(range(len(lines)), key=lambda index: (-score(index), index))


def noun_phrases(text: str) -> list[str]:
    """Runs of one to three neighbouring words that look like names of things, as written.

    Without a tagger this goes by the company a word keeps: what stands before an article or a
    pronoun is rather a verb, what stands after an article or a preposition rather a thing.
    """
    found: list[str] = []
    for clause in re.split(r"[^\w\s'’-]+|\n", text):
        run: list[str] = []
        tokens = words(clause)
        for at, word in enumerate([*tokens, ""]):
            following = fold(tokens[at + 1]) if at + 1 < len(tokens) else ""
            acts = bool(run) and following in AFTER_VERBS
            if word and _names(word) and not acts:
                run.append(word)
                continue
            while run and fold(run[-1]).endswith(("ed", "ing")) and len(run) > 1:
                run.pop()
            for size in range(min(3, len(run)), 0, -1):
                found.append(" ".join(run[-size:]))
            run = []
    return found


def _names(word: str) -> bool:
    low = fold(word)
    if low in STOP_WORDS or low in VERBS or low in VAGUE or low.endswith("ly"):
        return False
    return len(word) > 2 or word.isupper() or not word.isascii()


def subject(sentence: str) -> str:
    """The words before the first known verb of a plain statement; empty when none stand out."""
    taken: list[str] = []
    for word in re.findall(r"\S+", sentence)[:7]:
        bare = fold(word.strip(',;:."“”()'))
        if bare in VERBS and taken:
            break
        taken.append(word)
        if word[-1] in ",;:.":
            return ""
    else:
        return ""
    while taken and fold(taken[0]) in {"the", "a", "an"}:
        taken = taken[1:]
    if not taken or len(taken) > 5 or fold(taken[0]) in PRONOUNS | STOP_WORDS:
        return ""
    return " ".join(taken) if content_words(" ".join(taken)) else ""

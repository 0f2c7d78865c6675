"""Small tools for English text: sentences, content words, stems, key phrases. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from local_gemini.brain.lexicon import NEGATIONS, PRONOUNS, STOP_WORDS, VERBS

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
        joined = _ABBREVIATED.search(made[-1]) is not None
    return made


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


def phrases(text: str) -> list[str]:
    """Runs of one to three neighbouring content words that are not verbs, as written."""
    found: list[str] = []
    for clause in re.split(r"[^\w\s'’-]+|\n", text):
        run: list[str] = []
        for word in [*words(clause), ""]:
            keeps = (
                word
                and fold(word) not in STOP_WORDS
                and fold(word) not in VERBS
                and not (word.isascii() and len(word) < 3 and not word.isupper())
                and not fold(word).endswith("ly")
            )
            if keeps:
                run.append(word)
                continue
            if run:
                found.append(" ".join(run[-3:] if len(run) <= 3 else run[:3]))
            run = []
    return found


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

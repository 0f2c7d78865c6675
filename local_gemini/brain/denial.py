"""Tells whether an utterance turns a statement of a text into its opposite. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from local_gemini.brain.language import alike, content_words, negated
from local_gemini.brain.matching import meanings

# A clause that shares this much of its words with the text but not its negation denies it.
DENIED_SHARE = 0.7
_BREAK = re.compile(r"[,;:.!?]|\b(?:so that|so|but|because|which|while|and)\b|(?=\bwithout\b)")


def denies(lines: Sequence[str], utterance: str) -> bool:
    """Whether a clause of `utterance` is a clause of `lines` turned into its opposite."""
    clauses = [clause for line in lines for clause in _clauses(line)]
    for said in _clauses(utterance):
        own = set(meanings(said))
        for clause in clauses:
            known = set(meanings(clause))
            shared = sum(any(alike(item, other) for other in known) for item in own)
            same = shared >= max(DENIED_SHARE * len(own), len(known) / 2)
            if same and negated(said) != negated(clause):
                return True
    return False


def _clauses(text: str) -> list[str]:
    """The clauses of `text` that have at least two words that carry meaning."""
    parts = _BREAK.split(text)
    return [part.strip() for part in parts if len(content_words(part)) >= 2]

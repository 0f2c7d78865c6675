"""What the judge of a topic says about one utterance. Data only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Judgement:
    """What an utterance shows: the points it covers, and whether it is about them at all.

    `matched` are keys (see `matching.meaning`) of source words that the learner used, without those
    of the question; `said` are all of them, `key` those of the answer asked for. `denied`: the
    asked point was turned into its opposite. `echo`: nothing but words of the question.
    """

    covered: frozenset[int]
    related: bool
    matched: frozenset[str] = frozenset()
    said: frozenset[str] = frozenset()
    key: frozenset[str] = frozenset()
    denied: bool = False
    echo: bool = False

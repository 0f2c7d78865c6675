"""Judges which agenda points an utterance shows knowledge of, or a spoken reply explains.

Embeddings alone are a weak judge of that, so they only count together with shared telling words.
A judge never says that an answer is right; it says that the learner spoke about the point.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from local_gemini.brain.language import (
    alike,
    content_words,
    fold,
    negated,
    rarity,
    stem,
    stems,
    words,
)
from local_gemini.brain.lexicon import STOP_WORDS
from local_gemini.brain.points import Point
from local_gemini.brain.vectors import Vectors

_PRONOUN = re.compile(
    r"^\W*(?:(?:well|so|because|i think|that)[, ]+)*(?:they|it|these|those|this)\b", re.I
)

BODY_SENTENCES = 8
# Thresholds of cosine similarity (MiniLM) and of shared telling words, fixed on a development set
# of utterances that shares no text with the measured one (tests/local_gemini).
ASKED_SIMILARITY, OTHER_SIMILARITY = 0.42, 0.56
ASKED_HITS, OTHER_HITS = 1.0, 1.8
# Near enough to the asked point, and to no other, to do without telling words.
STRONG_SIMILARITY, STRONG_LEAD, STRONG_WORDS = 0.6, 0.1, 3
# A clause that shares this much of its words with the text but not its negation denies it.
DENIED_SHARE = 0.8
RELATED_SIMILARITY, CLOSE_SIMILARITY = 0.3, 0.5
EXPLAINED_SHARE, EXPLAINED_SIMILARITY = 0.6, 0.6
# Without own material of the text an angle counts as covered by this many new words about it.
BARE_WORDS, BARE_SIMILARITY = 5, 0.2


@dataclass(frozen=True, slots=True)
class Judgement:
    """What an utterance shows: points it covers, the nearest point, whether it is about them.

    `terms` are the learner's own words that matched, as spoken.
    """

    covered: frozenset[int]
    nearest: int | None
    related: bool
    terms: tuple[str, ...]


class Judge:
    """Judges utterances and replies against the points of one topic."""

    def __init__(self, vectors: Vectors, topic: str, points: Sequence[Point]) -> None:
        self._vectors = vectors
        self.topic = topic
        self.points = tuple(points)
        bags = [stems(" ".join((point.title, *point.body))) for point in self.points]
        weights = rarity(bags)
        top = max(weights.values(), default=1.0) or 1.0
        # 1.0 for a word of one point only, less for words that several points share.
        self._weights = [{item: weights[item] / top for item in set(bag)} for bag in bags]
        self._texts = [
            [" ".join((point.title, *point.body[:3])), *point.body[:BODY_SENTENCES]]
            for point in self.points
        ]

    def demonstrated(
        self, utterance: str, *, asked: int | None = None, question: str = ""
    ) -> Judgement:
        """What the learner shows in `utterance` after being asked `question` about point `asked`.

        Words that only repeat the question or the asked title show nothing.
        """
        said = content_words(utterance)
        own = [stem(word) for word in said]
        if not own:
            return Judgement(frozenset(), None, related=False, terms=())
        echo = set(stems(question))
        if asked is not None:
            echo |= set(stems(self.points[asked].title))
        similar = [self._similarity(utterance, index) for index in range(len(self.points))]
        nearest = max(range(len(similar)), key=lambda index: similar[index], default=None)
        if asked is not None and (opening := _PRONOUN.match(utterance)):
            # "They stick to it" is about what was asked.
            named = self.points[asked].title + utterance[opening.end() :]
            similar[asked] = max(similar[asked], self._similarity(named, asked))
        fresh = set(own) - echo
        covered = {
            index
            for index in range(len(self.points))
            if self._shows(index, utterance, own, fresh, similar, index == asked)
        }
        focus = asked if asked is not None else nearest
        terms = self._shared_words(
            utterance, fresh, covered | ({focus} if focus is not None else set())
        )
        about = max([*similar, self._topic_similarity(utterance)], default=0.0)
        related = len(fresh) >= 2 and (
            about >= RELATED_SIMILARITY + 0.1 or (about >= RELATED_SIMILARITY and bool(terms))
        )
        if asked is not None and fresh and len(set(own)) >= 2:
            related = related or similar[asked] >= CLOSE_SIMILARITY
        return Judgement(frozenset(covered), nearest, related or bool(covered), terms)

    def explained(self, reply: Sequence[str]) -> frozenset[int]:
        """The points that the statements in `reply` (sentences) explain; questions do not count."""
        statements = [line for line in reply if "?" not in line]
        found: set[int] = set()
        for index, point in enumerate(self.points):
            for line in statements:
                said = set(stems(line))
                for body in point.body[:BODY_SENTENCES]:
                    needed = set(stems(body))
                    if len(needed) < 2 or len(said) < 2:
                        continue
                    share = sum(any(alike(a, b) for b in said) for a in needed) / len(needed)
                    if share < EXPLAINED_SHARE:
                        continue
                    if share == 1.0 or self._pair(line, body) >= EXPLAINED_SIMILARITY:
                        found.add(index)
        return frozenset(found)

    def asked_about(self, question: str) -> int | None:
        """The point that `question` asks about: the longest title in it, else the most similar."""
        low = question.lower()
        named = [index for index, point in enumerate(self.points) if point.title.lower() in low]
        if named:
            return max(named, key=lambda index: len(self.points[index].title))
        similar = [self._similarity(question, index) for index in range(len(self.points))]
        best = max(range(len(similar)), key=lambda index: similar[index], default=None)
        return best if best is not None and similar[best] >= ASKED_SIMILARITY else None

    def closest(self, question: str) -> tuple[int, float] | None:
        """The point nearest to a learner's question and how near (cosine, named titles are 1)."""
        if not self.points:
            return None
        own = set(stems(question))
        scores = []
        for index, point in enumerate(self.points):
            name = set(stems(point.title))
            named = bool(name) and name <= own
            hits = sum(
                weight
                for item, weight in self._weights[index].items()
                if any(alike(item, other) for other in own)
            )
            scores.append(1.0 if named else self._similarity(question, index) + 0.08 * hits)
        best = max(range(len(scores)), key=lambda index: scores[index])
        return best, scores[best]

    def _shows(
        self,
        index: int,
        utterance: str,
        own: Sequence[str],
        fresh: set[str],
        similar: Sequence[float],
        asked: bool,
    ) -> bool:
        point = self.points[index]
        if not point.body:
            new = fresh - set(stems(self.topic)) - set(stems(point.title))
            near = max(similar[index], self._topic_similarity(utterance))
            return asked and len(new) >= BARE_WORDS and near >= BARE_SIMILARITY
        title = set(stems(point.title))
        hits = 0.0
        beyond = 0
        for item, weight in self._weights[index].items():
            if any(alike(item, other) for other in fresh):
                hits += weight
                beyond += item not in title
        if len(set(own)) < 2 or beyond < 1:
            return False
        if self._denies(index, utterance):
            return False
        others = [value for other, value in enumerate(similar) if other != index]
        lead = similar[index] - max(others, default=0.0)
        strong = similar[index] >= STRONG_SIMILARITY and lead >= STRONG_LEAD
        if asked and strong and len(fresh) >= STRONG_WORDS:
            return True
        if asked:
            return (similar[index] >= ASKED_SIMILARITY and hits >= ASKED_HITS) or (
                similar[index] >= ASKED_SIMILARITY - 0.08 and hits >= 3 * ASKED_HITS
            )
        best = similar[index] >= max(similar) - 0.05
        return best and similar[index] >= OTHER_SIMILARITY and hits >= OTHER_HITS

    def _denies(self, index: int, utterance: str) -> bool:
        """Whether a clause of `utterance` is a clause of the point turned into its opposite."""
        clauses = [clause for line in self._texts[index][1:] for clause in _clauses(line)]
        for said in _clauses(utterance):
            own = set(stems(said))
            for clause in clauses:
                known = set(stems(clause))
                shared = sum(any(alike(item, other) for other in known) for item in own)
                if shared >= DENIED_SHARE * len(own) and negated(said) != negated(clause):
                    return True
        return False

    def _shared_words(self, utterance: str, fresh: set[str], indices: set[int]) -> tuple[str, ...]:
        """The learner's words that belong to `indices`; neighbours stay together."""
        known: dict[str, float] = {}
        for index in indices:
            known |= self._weights[index]
        runs: list[list[str]] = [[]]
        seen: set[str] = set()
        for word in words(utterance):
            item = stem(word)
            fits = item in fresh and item not in seen and fold(word) not in STOP_WORDS
            if fits and any(alike(item, other) for other in known):
                seen.add(item)
                runs[-1].append(word)
            elif runs[-1]:
                runs.append([])
        return tuple(" ".join(run[:3]) for run in runs if run)

    def _similarity(self, text: str, index: int) -> float:
        return max(self._pair(text, other) for other in self._texts[index])

    def _topic_similarity(self, text: str) -> float:
        return self._pair(text, self.topic) if self.topic else 0.0

    def _pair(self, left: str, right: str) -> float:
        first, second = self._vectors.of([left, right])
        return float(first @ second)


def _clauses(text: str) -> list[str]:
    """The clauses of `text` that have at least two words that carry meaning."""
    parts = re.split(r"[,;:.!?]|\b(?:so that|so|but|because|which|while|and)\b", text)
    return [part.strip() for part in parts if len(content_words(part)) >= 2]

"""Judges which agenda points an utterance shows knowledge of, or a spoken reply explains.

Embeddings alone are a weak judge of that, so they only count together with shared telling words.
A judge never says that an answer is right; it says that the learner spoke about the point.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from local_gemini.brain.denial import denies
from local_gemini.brain.judgement import Judgement
from local_gemini.brain.language import alike, rarity, words
from local_gemini.brain.matching import Heard, meaning, meanings
from local_gemini.brain.mention import mention_of, stated, tells
from local_gemini.brain.numerals import in_digits
from local_gemini.brain.points import Point
from local_gemini.brain.vectors import Vectors

_PRONOUN = re.compile(
    r"^\W*(?:(?:well|so|because|i think|that)[, ]+)*(?:they|it|these|those|this)\b", re.I
)

BODY_SENTENCES = 8
# About 9 ms each; of longer topics the rest is embedded when it is compared.
PREPARED_TEXTS = 32
# Thresholds of cosine similarity (MiniLM) and of shared telling words, fixed on a development set
# of utterances that shares no text with the measured ones (tests/local_gemini).
ASKED_SIMILARITY, OTHER_SIMILARITY = 0.42, 0.56
ASKED_HITS, OTHER_HITS = 1.0, 1.8
# Near enough to the asked point, and to no other, to do without telling words.
STRONG_SIMILARITY, STRONG_LEAD, STRONG_WORDS = 0.6, 0.1, 3
# A sentence of the text, said nearly whole, shows its point whatever was asked.
SAID_SHARE, SAID_WORDS = 0.75, 3
# Counting small words too, which may be all that a short sentence has.
REPEATED_SHARE = 0.85
# So does most of what answers the question, unless the utterance is about something else.
KEY_SHARE, KEY_SIMILARITY = 0.6, 0.3
# Who names the topic has not said much about a point of it.
TOPIC_WEIGHT = 0.4
RELATED_SIMILARITY, CLOSE_SIMILARITY = 0.3, 0.5
EXPLAINED_SHARE, EXPLAINED_SIMILARITY = 0.6, 0.6
# Without a text nothing can be judged: an angle counts as covered by more than this many new words,
# or by this many that are near the topic.
BARE_WORDS, BARE_SIMILARITY = 2, 0.25


class Judge:
    """Judges utterances and replies against the points of one topic."""

    def __init__(self, vectors: Vectors, topic: str, points: Sequence[Point]) -> None:
        self._vectors = vectors
        self.topic = topic
        self.points = tuple(points)
        bags = [meanings(" ".join((point.title, *point.body))) for point in self.points]
        weights = rarity(bags)
        top = max(weights.values(), default=1.0) or 1.0
        # 1.0 for a word of one point only, less for words that several points share.
        self.weights = [{item: weights[item] / top for item in set(bag)} for bag in bags]
        self.telling_topic = tells(topic, self.points)
        self._mention = mention_of(topic)
        several = len(self.points) > 1 and not self.telling_topic
        about = meanings(topic) if several else []
        for point, held in zip(self.points, self.weights, strict=True):
            own = set(meanings(point.title))
            for item in held:
                if item not in own and any(_kin(item, other) for other in about):
                    held[item] *= TOPIC_WEIGHT
        self.spoken: dict[str, set[str]] = {}
        for point in self.points:
            for word in words(in_digits(" ".join((point.title, *point.body)))):
                self.spoken.setdefault(meaning(word), set()).add(word)
        self._texts = [
            [" ".join((point.title, *point.body[:3])), *point.body[:BODY_SENTENCES]]
            for point in self.points
        ]

    def demonstrated(
        self, utterance: str, *, asked: int | None = None, question: str = "", answer: str = ""
    ) -> Judgement:
        """What the learner shows in `utterance` after being asked `question` about point `asked`.

        `answer` are the words of the text that answer the question, if it has such words. Words
        that only repeat the question show nothing.
        """
        heard = Heard(utterance)
        if not heard.items:
            return Judgement(frozenset(), related=False)
        fresh = heard.without(meanings(question))
        hits = [self._hits(index, heard, fresh) for index in range(len(self.points))]
        similar = [
            self._similarity(utterance, index) if hits[index] or index == asked else 0.0
            for index in range(len(self.points))
        ]
        if asked is not None and (opening := _PRONOUN.match(utterance)):
            # "They stick to it" is about what was asked.
            named = self.points[asked].title + utterance[opening.end() :]
            similar[asked] = max(similar[asked], self._similarity(named, asked))
        covered = {
            index
            for index in range(len(self.points))
            if self._shows(index, heard, fresh, hits[index], similar, index == asked)
            or self._said(index, heard, fresh, question)
        }
        if asked is not None and self._answers(answer, question, heard, fresh, similar[asked]):
            covered.add(asked)
        denied = {index for index in covered if denies(self._texts[index][1:], utterance)}
        against = (
            asked is not None and hits[asked] != {} and denies(self._texts[asked][1:], utterance)
        )
        matched = frozenset(item for found in hits for item in found)
        related = self._related(utterance, fresh, hits, similar, asked)
        return Judgement(
            frozenset(covered - denied),
            related or bool(covered),
            matched,
            matched | frozenset(item for item in heard.items if item in self.spoken),
            key=frozenset(meanings(answer)) - frozenset(meanings(question)),
            denied=against or (asked is not None and asked in denied),
            echo=not fresh and not covered,
        )

    def explained(self, reply: Sequence[str]) -> frozenset[int]:
        """The points that the statements in `reply` (sentences) explain.

        Questions do not count, nor sentences to be finished, nor the title where it only names
        what the lesson is about.
        """
        statements = stated(reply, self._mention)
        found: set[int] = set()
        for index, point in enumerate(self.points):
            for line in statements:
                said = set(meanings(line))
                for body in point.body[:BODY_SENTENCES]:
                    if "…" in line and "…" not in body:
                        continue
                    needed = set(meanings(body))
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
        own = set(meanings(question))
        similar = [
            self._similarity(question, index) if own & self.weights[index].keys() else 0.0
            for index in range(len(self.points))
        ]
        best = max(range(len(similar)), key=lambda index: similar[index], default=None)
        return best if best is not None and similar[best] >= ASKED_SIMILARITY else None

    def similarity(self, left: str, right: str) -> float:
        """Cosine similarity of two texts."""
        return self._pair(left, right)

    def prepare(self) -> None:
        """Embed what is compared first, so that no early turn has to wait for it."""
        texts = [text for group in self._texts for text in group][:PREPARED_TEXTS]
        self._vectors.of([*texts, *([self.topic] if self.topic else [])])

    def _hits(self, index: int, heard: Heard, fresh: frozenset[str]) -> Mapping[str, float]:
        """The telling words of a point that were said: weight of each."""
        found: dict[str, float] = {}
        for item, weight in self.weights[index].items():
            if (sure := heard.weight(item, self.spoken.get(item, ()), fresh)) > 0.0:
                found[item] = weight * sure
        return found

    def _shows(
        self,
        index: int,
        heard: Heard,
        fresh: frozenset[str],
        found: Mapping[str, float],
        similar: Sequence[float],
        asked: bool,
    ) -> bool:
        point = self.points[index]
        if not point.body:
            new = fresh - set(meanings(self.topic)) - set(meanings(point.title))
            near = max(similar[index], self._topic_similarity(" ".join(heard.items)))
            if not asked or len(new) < BARE_WORDS:
                return False
            return len(new) > BARE_WORDS or near >= BARE_SIMILARITY
        title = set(meanings(point.title))
        hits = sum(found.values())
        if len(set(heard.items)) < 2 or not found.keys() - title:
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

    def _said(self, index: int, heard: Heard, fresh: frozenset[str], asked: str) -> bool:
        """Whether one sentence of the point was said nearly whole, not only by the question."""
        every = frozenset(heard.items)
        if any(_repeats(line, heard.words, asked) for line in self.points[index].body):
            return True
        for line in self.points[index].body[:BODY_SENTENCES]:
            needed = set(meanings(line))
            if len(needed) < SAID_WORDS:
                continue
            said = [item for item in needed if heard.weight(item, self.spoken[item], every) > 0]
            own = [item for item in said if heard.weight(item, self.spoken[item], fresh) > 0]
            if len(said) >= SAID_SHARE * len(needed) and len(own) * 2 >= len(needed):
                return True
        return False

    def _answers(
        self, answer: str, question: str, heard: Heard, fresh: frozenset[str], similar: float
    ) -> bool:
        """Whether `fresh` holds most of the words that answer the question."""
        needed = set(meanings(answer)) - set(meanings(question))
        if not needed or not fresh:
            return False
        said = sum(heard.weight(item, self.spoken.get(item, ()), fresh) for item in needed)
        short = len(needed) == 1 and len(fresh) <= 2
        return said >= KEY_SHARE * len(needed) and (similar >= KEY_SIMILARITY or short)

    def _related(
        self,
        utterance: str,
        fresh: frozenset[str],
        hits: Sequence[Mapping[str, float]],
        similar: Sequence[float],
        asked: int | None,
    ) -> bool:
        """Whether an utterance is about the topic at all."""
        touched = any(hits)
        about = max([*similar, self._topic_similarity(utterance)], default=0.0)
        if len(fresh) >= 2:
            limit = RELATED_SIMILARITY if touched else RELATED_SIMILARITY + 0.1
            if about >= limit:
                return True
        if asked is None or not fresh:
            return False
        if sum(hits[asked].values()) >= ASKED_HITS / 2 and len(fresh) <= 3:
            return True
        return len(fresh) >= 2 and similar[asked] >= CLOSE_SIMILARITY

    def _similarity(self, text: str, index: int) -> float:
        return max(self._pair(text, other) for other in self._texts[index])

    def _topic_similarity(self, text: str) -> float:
        return self._pair(text, self.topic) if self.topic else 0.0

    def _pair(self, left: str, right: str) -> float:
        first, second = self._vectors.of([left, right])
        return float(first @ second)


def _repeats(line: str, said: frozenset[str], question: str) -> bool:
    """Whether `said` holds `line` word by word, small words included, beyond the question."""
    needed = {word.lower() for word in words(line)}
    known = {word.lower() for word in words(question)}
    return (
        len(needed) >= 4
        and len(needed & said) >= REPEATED_SHARE * len(needed)
        and bool((needed - known) & said)
        and len(needed & known) < REPEATED_SHARE * len(needed)
    )


def _kin(left: str, right: str) -> bool:
    shorter, longer = sorted((left, right), key=len)
    return alike(left, right) or (len(shorter) >= 5 and longer.startswith(shorter))

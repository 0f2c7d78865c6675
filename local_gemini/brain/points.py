"""The agenda's points with the sentences of the digest that belong to them. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from local_gemini.brain.language import sentences, stems
from local_gemini.brain.unaided import is_unaided


@dataclass(frozen=True, slots=True)
class Point:
    """One agenda point: its title and the sentences of the source that belong to it."""

    title: str
    body: tuple[str, ...] = ()


@lru_cache(maxsize=256)
def points_of(agenda: tuple[str, ...], digest: tuple[str, ...]) -> tuple[Point, ...]:
    """The points of `agenda` with their sentences out of `digest`.

    A digest line `3. Title: sentences` belongs to that title; in any other digest every sentence
    goes to the title with which it shares most words, else to that of the sentence before it.
    A digest that only says that there is no knowledge has no sentences.
    """
    if is_unaided(" ".join(digest)):
        return tuple(Point(title) for title in agenda)
    bodies: dict[str, list[str]] = {title: [] for title in agenda}
    loose: list[str] = []
    for line in digest:
        head, _, rest = line.partition(". ")
        title = next(
            (name for name in agenda if head.isdigit() and rest.startswith(name + ":")), None
        )
        if title is None:
            loose.append(line)
        else:
            bodies[title] += sentences(rest[len(title) + 1 :])
    if not any(bodies.values()) and agenda:
        current = agenda[0]
        for sentence in sentences("\n".join(loose)):
            own = set(stems(sentence))
            shared = {title: len(own & set(stems(title))) for title in agenda}
            best = max(agenda, key=lambda title: shared[title])
            current = best if shared[best] else current
            bodies[current].append(sentence)
    return tuple(Point(title, tuple(bodies[title])) for title in agenda)

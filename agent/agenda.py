"""The canonical agenda of a lesson and what is covered of it. Pure (AGND)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.labels import SAME_WORDS, holds, similarity
from agent.prompts.quoting import one_line

LABEL_CHARS = 160
_TICK = re.compile(r"[\[［〔【]\W*(?:covered|ｃｏｖｅｒｅｄ)\W*[\]］〕】]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Coverage:
    """`covered`: canonical labels in agenda order; `unmatched`: reported labels that fit none."""

    covered: tuple[str, ...]
    unmatched: tuple[str, ...]


def labels_of(value: object, limit: int = 100) -> tuple[str, ...]:
    """The strings of a reported list, on one line each, without blanks and repetitions."""
    if not isinstance(value, (list, tuple)):
        return ()
    lines = (one_line(item, LABEL_CHARS) for item in value[:limit] if isinstance(item, str))
    return tuple(dict.fromkeys(line for line in lines if line))


def establish(outline_titles: Sequence[str], reported: object, agenda_max: int) -> tuple[str, ...]:
    """The agenda of a lesson that has none: the outline's titles, else the model's first list.

    Never longer than `agenda_max` (AGND-1, AGND-3); empty when neither names a point.
    """
    return (labels_of(list(outline_titles)) or labels_of(reported))[:agenda_max]


def match(label: str, agenda: Sequence[str]) -> str | None:
    """The one canonical point that `label` names.

    None for none, for two that fit equally well, and for a label that several points hold as a
    part of what they say.
    """
    scored = sorted(((similarity(label, point), point) for point in agenda), reverse=True)
    if not scored or scored[0][0] == 0.0:
        return None
    best, found = scored[0]
    rival = scored[1][0] if len(scored) > 1 else 0.0
    if rival == best or (rival and best < SAME_WORDS):
        return None
    if best < SAME_WORDS and any(holds(point, label) for point in agenda if point != found):
        return None
    return found


def cover(agenda: Sequence[str], covered: Iterable[str], reported: object) -> Coverage:
    """Union of stored and reported coverage, in canonical labels only (AGND-4, AGND-5)."""
    kept: set[str] = set()
    unmatched: list[str] = []
    for label in covered:
        if (point := match(label, agenda)) is not None:
            kept.add(point)
    for label in labels_of(reported):
        if (point := match(label, agenda)) is None:
            unmatched.append(label)
        else:
            kept.add(point)
    return Coverage(tuple(point for point in agenda if point in kept), tuple(unmatched))


def drifts(agenda: Sequence[str], reported: object) -> bool:
    """Whether the model reported another agenda than the canonical one (AGND-7)."""
    theirs = labels_of(reported)
    return bool(theirs) and theirs != tuple(agenda)


def remaining(agenda: Sequence[str], covered: Iterable[str]) -> tuple[str, ...]:
    done = set(covered)
    return tuple(point for point in agenda if point not in done)


def next_point(agenda: Sequence[str], covered: Iterable[str]) -> str | None:
    """The first point that is not covered, in agenda order."""
    return next(iter(remaining(agenda, covered)), None)


def is_complete(agenda: Sequence[str], covered: Iterable[str]) -> bool:
    """Every point is covered; a lesson without an agenda is never complete (AGND-9)."""
    return bool(agenda) and not remaining(agenda, covered)


def agenda_lines(agenda: Sequence[str], covered: Iterable[str]) -> str:
    """`1. <title>` / `2. <title> [covered]`, one line per point (OBS-12)."""
    done = set(covered)
    return "\n".join(
        f"{number}. {_title(point)}{' [covered]' if point in done else ''}"
        for number, point in enumerate(agenda, 1)
    )


def _title(point: str) -> str:
    # A title that ends in the tick itself, however it is spelled, must not look covered.
    return _TICK.sub("(covered)", one_line(point))

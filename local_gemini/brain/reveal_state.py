"""A walk's progress as the reveal state carries it from turn to turn. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from local_gemini.brain.language import sentences
from local_gemini.brain.progress import Move, Progress
from local_gemini.brain.prompt import Brief


def progress_of(brief: Brief, agenda: tuple[str, ...]) -> Progress:
    """The progress that `brief` tells of; anything odd in it counts as absent."""
    places = {title: index for index, title in enumerate(agenda)}
    kept = brief.reveal_state.get("progress")
    kept = kept if isinstance(kept, Mapping) else {}
    times = kept.get("times")
    progress = Progress(
        covered={places[title] for title in brief.covered if title in places},
        asked=places.get(str(kept.get("asked"))),
        question=_text(kept.get("question")),
        meta=_text(kept.get("meta")),
        times={places[title]: _count(count) for title, count in times.items() if title in places}
        if isinstance(times, Mapping)
        else {},
        engaged=_count(kept.get("engaged")),
        misses=_count(kept.get("misses")),
        unclear=_count(kept.get("unclear")),
        offers=_count(kept.get("offers")),
        pleas=_count(kept.get("pleas")),
        turn=brief.learner_turns,
        parked=_points(kept.get("parked"), places),
        turned_back=_points(kept.get("turnedBack"), places),
        opened=brief.learner_turns > 0 or bool(kept),
        offered=kept.get("offered") is True,
        closed=kept.get("closed") is True,
    )
    said = sentences(brief.recent_tutor) if brief.recent_tutor else []
    if said:
        progress.last = Move("ask", tuple(said))
    if not kept and said:
        progress.question = next((line for line in reversed(said) if line.endswith("?")), "")
    if progress.asked is None and progress.opened:
        progress.asked = next((i for i in range(len(agenda)) if i not in progress.covered), None)
    return progress


def reveal_state_of(brief: Brief, agenda: tuple[str, ...], progress: Progress) -> dict[str, Any]:
    """The state after a move, in the agenda's own labels."""
    return {
        **brief.reveal_state,
        "agenda": list(agenda),
        "coveredAngles": [agenda[index] for index in sorted(progress.covered)],
        "progress": {
            "asked": agenda[progress.asked] if progress.asked is not None else "",
            "question": progress.question,
            "meta": progress.meta,
            "times": {agenda[index]: count for index, count in sorted(progress.times.items())},
            "engaged": progress.engaged,
            "misses": progress.misses,
            "unclear": progress.unclear,
            "offers": progress.offers,
            "pleas": progress.pleas,
            "parked": [agenda[index] for index in sorted(progress.parked)],
            "turnedBack": [agenda[index] for index in sorted(progress.turned_back)],
            "offered": progress.offered,
            "closed": progress.closed,
        },
    }


def _points(value: object, places: Mapping[str, int]) -> set[int]:
    if not isinstance(value, list):
        return set()
    return {places[title] for title in value if isinstance(title, str) and title in places}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _count(value: object) -> int:
    return value if isinstance(value, int) and value >= 0 else 0

"""A topic's title in a reply: naming it explains nothing. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from local_gemini.brain.language import sentences
from local_gemini.brain.matching import meanings
from local_gemini.brain.points import Point

# A title that holds this much of a sentence with so many words says something.
TELLING_SHARE, TELLING_WORDS = 0.75, 2


def tells(topic: str, points: Iterable[Point]) -> bool:
    """Whether the title states a sentence of the text, so that to say it gives a point away."""
    held = set(meanings(topic))
    needs = (set(meanings(line)) for point in points for line in point.body)
    return any(
        len(needed) >= TELLING_WORDS and len(needed & held) >= TELLING_SHARE * len(needed)
        for needed in needs
    )


def mention_of(topic: str) -> re.Pattern[str] | None:
    """Finds the title inside another sentence: after a colon or a quote, or before one, a comma
    or a dash; None for a title without words. A sentence of its own is no mention."""
    spoken = [re.escape(word) for word in re.findall(r"\w+", topic)]
    if not spoken:
        return None
    title = r"\W+".join(spoken)
    return re.compile(
        rf"(?<=[:\"“«‘']) ?{title}\b[.!]?|\b{title}\s?(?=[:;,\"”»’'–—]|\.[\"”»’'])", re.I
    )


def stated(reply: Sequence[str], mention: re.Pattern[str] | None) -> list[str]:
    """The statements of `reply` (sentences): without questions, and without the title's mentions
    before they are told apart, as a title may itself hold several sentences."""
    told = " ".join(line for line in reply if "?" not in line)
    return sentences(mention.sub(" ", told) if mention is not None else told)

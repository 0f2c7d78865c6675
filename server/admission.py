"""Who may open one more voice lesson here. Pure."""

from __future__ import annotations

from collections.abc import Collection

from server.errors import Code, Refused, Unavailable
from server.lesson import Lesson

# One person, several tabs on several conversations: more is a mistake or an abuse.
LESSONS_PER_LEARNER = 3
# Beyond this a process would stutter (design 10: 32 lessons a core are the budget).
LESSONS_MAX = 128


def give_way(running: Collection[Lesson], uid: str) -> list[Lesson]:
    """The lessons that end so that this person may open one more.

    What they have left behind, or never joined, gives way, oldest first: of a page that offers
    again and again only the newest offer counts. Raises `resource-exhausted`, `unavailable`.
    """
    mine = [one for one in running if one.plan.uid == uid and not one.stopping]
    absent = [one for one in mine if one.vitals.line is None]
    absent.sort(key=lambda one: one.vitals.joined)
    over = len(mine) - LESSONS_PER_LEARNER + 1
    if over > len(absent):
        raise Refused(
            Code.RESOURCE_EXHAUSTED,
            f"You have {len(mine)} voice lessons open. Close one of them first.",
            details={"reason": "lessons"},
            retry_after_s=15,
        )
    if len(running) >= LESSONS_MAX:
        raise Unavailable(
            "All lines are busy. Please try again in a minute.",
            details={"reason": "busy"},
            retry_after_s=60,
        )
    return absent[: max(0, over)]

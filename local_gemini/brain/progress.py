"""Where one walk stands, and the moves it makes. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Move:
    """What the tutor does: `ask`, `probe`, `reveal` or `conclude`, and the sentences of it."""

    mode: str
    sentences: tuple[str, ...]
    explained: frozenset[int] = frozenset()


@dataclass(slots=True)
class Progress:
    """Where a walk stands; indices are positions in the agenda.

    `question` is the open question about the text, `meta` one about the talk put after it
    ("Shall I tell you?"). `times` counts the questions asked about each point. `engaged` counts
    answers in earnest to the point in question, `misses` non-answers, `unclear` what made no sense;
    `offers` and `pleas` (to say it again) count over the whole lesson.
    """

    covered: set[int] = field(default_factory=set)
    asked: int | None = None
    question: str = ""
    meta: str = ""
    times: dict[int, int] = field(default_factory=dict)
    engaged: int = 0
    misses: int = 0
    unclear: int = 0
    offers: int = 0
    pleas: int = 0
    turn: int = 0
    parked: set[int] = field(default_factory=set)
    turned_back: set[int] = field(default_factory=set)
    preferred: int | None = None
    opened: bool = False
    offered: bool = False
    closed: bool = False
    last: Move | None = None

    def done(self, total: int) -> bool:
        """Whether all `total` points are covered."""
        return len(self.covered) >= total

    def following(self, total: int) -> int | None:
        """The next open point: the one steered to, else the first one that is not put aside.

        When only points put aside are left, they are taken up again.
        """
        still_open = [index for index in range(total) if index not in self.covered]
        if self.preferred in still_open and self.preferred not in self.parked:
            return self.preferred
        fresh = [index for index in still_open if index not in self.parked]
        if not fresh:
            self.parked.clear()
            fresh = [index for index in still_open if index != self.asked] or still_open
        return fresh[0] if fresh else None

    def turn_to(self, point: int | None) -> None:
        """Make `point` the one in question; counts of tries start anew with a new point."""
        if point != self.asked:
            self.misses = self.engaged = self.unclear = 0
        self.asked = point

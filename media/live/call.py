"""The life of one tool call: asked for, allowed or not, run, answered, or overtaken. Pure.

There is no default yes: a call that needs a verdict runs only after one from the connection that
was asked. Every path ends, the first end stands, and only a call that is still wanted is answered.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Step(Enum):
    """REQUESTED waits for a verdict. RUNNING is the only step in which side effects happen."""

    REQUESTED = "requested"
    APPROVED = "approved"
    RUNNING = "running"
    ANSWERED = "answered"
    FAILED = "failed"
    REJECTED = "rejected"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"  # the learner went on: the turn that asked is over
    WITHDRAWN = "withdrawn"  # the service, or its session, no longer waits

    @property
    def final(self) -> bool:
        return self not in _MOVES


_OVERTAKEN = frozenset({Step.EXPIRED, Step.SUPERSEDED, Step.WITHDRAWN})
_MOVES = {
    Step.REQUESTED: _OVERTAKEN | {Step.APPROVED, Step.REJECTED},
    Step.APPROVED: _OVERTAKEN | {Step.RUNNING},
    Step.RUNNING: _OVERTAKEN | {Step.ANSWERED, Step.FAILED},
}


@dataclass(slots=True)
class Call:
    """`asked` is the connection whose verdict counts, or empty for a call that needs none."""

    call_id: str
    name: str
    asked: str = ""
    step: Step = Step.REQUESTED

    def __post_init__(self) -> None:
        if not self.asked:
            self.step = Step.APPROVED

    def verdict(self, connection: str, approved: bool) -> bool:
        """False for another connection's, a second and a late verdict: they change nothing."""
        if not connection or connection != self.asked or self.step is not Step.REQUESTED:
            return False
        return self.move(Step.APPROVED if approved else Step.REJECTED)

    def move(self, to: Step) -> bool:
        """False where that step does not follow from here: then nothing may come of it."""
        if to not in _MOVES.get(self.step, ()):
            return False
        self.step = to
        return True

"""Tool calls the service waits for: each is answered exactly once, or withdrawn by it. Pure.

An unanswered call wedges the session, so a call nobody answers in time is answered with an error.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

ANSWER_WITHIN_S = 30.0
NOT_ANSWERED: dict[str, object] = {"error": "the tool did not answer"}


@dataclass(frozen=True, slots=True)
class Answer:
    call_id: str
    name: str
    response: dict[str, object]


class Calls:
    """Open calls and the answers that wait to be sent."""

    def __init__(self) -> None:
        self.answers: deque[Answer] = deque()
        self._open: dict[str, tuple[str, float]] = {}

    @property
    def pending(self) -> bool:
        """True until the last answer has been handed to the socket."""
        return bool(self._open or self.answers)

    def opened(self, call_id: str, name: str, at: float) -> None:
        """A call without an id can be neither answered nor waited for."""
        if call_id:
            self._open[call_id] = (name, at + ANSWER_WITHIN_S)

    def cancelled(self, call_ids: tuple[str, ...]) -> None:
        for call_id in call_ids:
            self._open.pop(call_id, None)
        self.answers = deque(answer for answer in self.answers if answer.call_id not in call_ids)

    def answered(self, call_id: str, response: dict[str, object]) -> bool:
        """False for unknown, cancelled and already answered calls: nothing is sent for those."""
        if call_id not in self._open:
            return False
        name, _ = self._open.pop(call_id)
        self.answers.append(Answer(call_id, name, response))
        return True

    def expire(self, at: float) -> int:
        """Answers what is overdue with an error; how many were."""
        late = [call_id for call_id, (_, deadline) in self._open.items() if at >= deadline]
        for call_id in late:
            self.answered(call_id, NOT_ANSWERED)
        return len(late)

    def next_deadline(self) -> float | None:
        return min((deadline for _, deadline in self._open.values()), default=None)

    def clear(self) -> None:
        """The session is gone, and with it every call made in it."""
        self._open.clear()
        self.answers.clear()

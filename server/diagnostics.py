"""What went wrong in one lesson: a bounded history of codes and figures, never a word (OWN-10).

Redaction is by shape: a code is a short machine word and a figure a number; whatever else is given
is not kept.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from dataclasses import dataclass

KEPT = 50
OTHER = "other"
_CODE = re.compile(r"[a-z0-9][a-z0-9_.:-]{0,39}\Z")


@dataclass(frozen=True, slots=True)
class Mishap:
    """`at_s`: seconds since the lesson began; `figures` are numbers only."""

    at_s: float
    code: str
    figures: dict[str, float]


class Diagnostics:
    """`total` counts every mishap by code, also those that the history has forgotten."""

    def __init__(self, began_at: float) -> None:
        self._began_at = began_at
        self._history: deque[Mishap] = deque(maxlen=KEPT)
        self.total: Counter[str] = Counter()

    def note(self, at: float, code: str, **figures: float) -> None:
        """`at`: monotonic seconds. A code that is no machine word is kept as `other`."""
        code = code if _CODE.match(code) else OTHER
        if code not in self.total and len(self.total) >= KEPT:
            code = OTHER
        self.total[code] += 1
        numbers = {name: value for name, value in figures.items() if isinstance(value, int | float)}
        self._history.append(Mishap(round(at - self._began_at, 3), code, numbers))

    @property
    def history(self) -> tuple[Mishap, ...]:
        """Oldest first, KEPT at most."""
        return tuple(self._history)

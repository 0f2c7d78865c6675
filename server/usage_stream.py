"""What a stream of usage reports really adds up to, whichever way a model counts. Pure.

Reports come in three kinds, and nothing on the wire tells which: each stands for itself (the Live
models bill the whole context with every turn), or runs on within a turn, or runs on through the
whole connection. Adding up running totals bills a lesson many times over; taking the last of
separate reports bills one turn only. The reply itself tells: audio is counted by its length, so
that the response count follows the sound since the last report, since the turn began, or since
the connection began.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from enum import Enum

from media.live.port import Usage


class Counting(Enum):
    """What one report covers."""

    REPORT = "report"  # what happened since the one before
    TURN = "turn"  # everything since the turn began
    CONNECTION = "connection"  # everything since the connection opened


# Models that are known to count so; the others are found out.
_KNOWN = (
    (re.compile(r"gemini-(3\.8-live|3\.1-flash-live|2\.5-flash(-preview)?-native-audio"
                r"|live-2\.5-flash)"), Counting.REPORT),
)  # fmt: skip
# A reading fits when it is within this factor of the sound; another has to be so much worse.
FIT = 1.4
NOTHING = Usage()


def counting_of(model: str) -> Counting | None:
    """None for a model that nobody knows."""
    name = model.removeprefix("models/")
    return next((counting for known, counting in _KNOWN if known.match(name)), None)


@dataclass(slots=True)
class _Span:
    """What has been billed, and how much reply was heard of, since a beginning."""

    billed: Usage = NOTHING
    ms: float = 0.0


@dataclass(slots=True)
class UsageStream:
    """Of one model in one lesson: `sound` at reply audio, `turn_ended` at the end of a turn;
    `report` gives what a report adds to the bill."""

    counting: Counting | None = None
    _last: _Span = field(default_factory=_Span)
    _turn: _Span = field(default_factory=_Span)
    _all: _Span = field(default_factory=_Span)
    _turn_over: bool = False
    _seen: int = 0
    _ms_per_token: float | None = None

    def sound(self, ms: float) -> None:
        if self._turn_over:
            # A report may follow the end of its turn; sound belongs to the next one.
            self._turn, self._turn_over = _Span(), False
        for span in (self._last, self._turn, self._all):
            span.ms += ms

    def turn_ended(self) -> None:
        self._turn_over = True

    def report(self, usage: Usage) -> Usage:
        """The part of `usage` that has not been counted yet; every count is 0 or more."""
        counting = self.counting or self._read(usage)
        if usage.total < self._seen:
            # A running total never falls: it began again.
            self._turn, self._all = _Span(ms=self._last.ms), _Span(ms=self._last.ms)
        billed = {
            Counting.TURN: self._turn.billed,
            Counting.CONNECTION: self._all.billed,
        }.get(counting, NOTHING)
        fresh = _less(usage, billed)
        for span in (self._turn, self._all):
            span.billed = _plus(span.billed, fresh)
        self._last, self._seen = _Span(), usage.total
        return fresh

    def _read(self, usage: Usage) -> Counting:
        """The way of counting that fits this report; kept once only one is left."""
        if self._ms_per_token is None:
            if usage.response and self._last.ms:
                self._ms_per_token = self._last.ms / usage.response
            return Counting.REPORT
        heard = {
            Counting.REPORT: self._last.ms,
            Counting.TURN: self._turn.ms,
            Counting.CONNECTION: self._all.ms,
        }
        off = {
            counting: abs(math.log((usage.response + 1) / (ms / self._ms_per_token + 1)))
            for counting, ms in heard.items()
        }
        best = min(off, key=off.__getitem__)
        # Readings that cover the same sound are told apart by a later report.
        others = [off[one] for one, ms in heard.items() if ms != heard[best]]
        clear = math.log(FIT)
        if not others or off[best] > clear or min(others) < off[best] + clear:
            return Counting.REPORT
        if len(others) == len(heard) - 1:
            self.counting = best
        return best


def _less(usage: Usage, billed: Usage) -> Usage:
    return Usage(
        prompt=max(0, usage.prompt - billed.prompt),
        response=max(0, usage.response - billed.response),
        thoughts=max(0, usage.thoughts - billed.thoughts),
        cached=max(0, usage.cached - billed.cached),
        total=max(0, usage.total - billed.total),
        prompt_by_modality=_rest(usage.prompt_by_modality, billed.prompt_by_modality),
        response_by_modality=_rest(usage.response_by_modality, billed.response_by_modality),
    )


def _rest(counts: dict[str, int], billed: dict[str, int]) -> dict[str, int]:
    return {name: max(0, count - billed.get(name, 0)) for name, count in counts.items()}


def _plus(one: Usage, other: Usage) -> Usage:
    return replace(
        one,
        prompt=one.prompt + other.prompt,
        response=one.response + other.response,
        thoughts=one.thoughts + other.thoughts,
        cached=one.cached + other.cached,
        total=one.total + other.total,
        prompt_by_modality=_sum(one.prompt_by_modality, other.prompt_by_modality),
        response_by_modality=_sum(one.response_by_modality, other.response_by_modality),
    )


def _sum(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in one.keys() | other.keys()}

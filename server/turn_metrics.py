"""How long each turn took, and where: marks on the way, spans at its end. Pure; no words.

Times are monotonic seconds that come with the marks (OWN-11, CARD-13).
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from media.spans import Spans
from server import rtvi

# Turns under way at once are two or three; what never ends is dropped, oldest first.
OPEN_MAX = 8
# Speech that nobody answered for so long was noise: the next turn begins with its own.
STALE_S = 20.0
# `learner_to_tutor` is a span of its own, of spoken turns only.
SAMPLED = ("gate", "live", "playout", "barge_in")


@dataclass(slots=True)
class TurnMarks:
    """Moments of one turn; None for what did not happen. `asked_at` is the end of the learner's
    speech, or the moment of a typed turn."""

    spoke_at: float | None = None
    sure_at: float | None = None
    asked_at: float | None = None
    byte_at: float | None = None
    heard_at: float | None = None
    cut_at: float | None = None
    silent_at: float | None = None
    ended_at: float | None = None


@dataclass(frozen=True, slots=True)
class TurnSpans:
    """Seconds. `gate`: onset of speech to certainty; `live`: end of speech to the first byte of
    the reply; `playout`: that byte to the first packet; `learner_to_tutor`: what a person waits;
    `barge_in`: onset of the learner's voice to the tutor's silence."""

    turn_id: str
    marks: TurnMarks
    gate: float | None
    live: float | None
    playout: float | None
    learner_to_tutor: float | None
    barge_in: float | None

    def message(self) -> rtvi.Metrics:
        """RTVI's `metrics`: stock clients read the first two lists."""
        processing = {
            "gate": self.gate,
            "playout": self.playout,
            "learner_to_tutor": self.learner_to_tutor,
            "barge_in": self.barge_in,
        }
        return rtvi.Metrics(
            ttfb=_values({"live": self.live}),
            processing=_values(processing),
            turn=rtvi.TurnTimes(
                turn_id=self.turn_id,
                gate_ms=_ms(self.gate),
                live_ms=_ms(self.live),
                playout_ms=_ms(self.playout),
                learner_to_tutor_ms=_ms(self.learner_to_tutor),
                barge_in_ms=_ms(self.barge_in),
            ),
        )

    def log_fields(self) -> dict[str, Any]:
        """Speech start and end, first audio and turn end (OWN-11), in seconds from the start."""
        moments = {name: at for name, at in asdict(self.marks).items() if at is not None}
        start = min(moments.values(), default=0.0)
        spans = {
            name: getattr(self, name)
            for name in ("gate", "live", "playout", "learner_to_tutor", "barge_in")
        }
        return {
            "turn": self.turn_id,
            **{name: round(at - start, 3) for name, at in moments.items()},
            **{f"{name}_s": round(span, 3) for name, span in spans.items() if span is not None},
        }


def timed(trace: Callable[[TurnSpans], None], spans: Spans) -> Callable[[TurnSpans], None]:
    """Takes the times of each turn to its trace, and to the spans of the process (`/metrics`)."""

    def take(turn: TurnSpans) -> None:
        trace(turn)
        for name in SAMPLED:
            seconds: float | None = getattr(turn, name)
            if seconds is not None:
                spans.add(f"turn_{name}", seconds)

    return take


class TurnMetrics:
    """Marks by turn, as they happen. `counts`: turns, interruptions, false_interruptions."""

    def __init__(self) -> None:
        self._asking = TurnMarks()
        self._open: OrderedDict[str, TurnMarks] = OrderedDict()
        self._onset: float | None = None
        self._paused = False
        self.counts: Counter[str] = Counter()

    def speech_started(self, onset: float, at: float) -> None:
        self._onset = onset
        asked = self._asking.asked_at
        if asked is not None and onset - asked > STALE_S:
            self._asking = TurnMarks()
        if self._asking.spoke_at is None:
            self._asking.spoke_at, self._asking.sure_at = onset, at

    def speech_ended(self, last_voiced: float) -> None:
        """A service that is quicker than the gate may have answered by now."""
        self._onset = None
        newest = next(reversed(self._open.values()), None)
        if newest and newest.spoke_at is not None and newest.asked_at is None:
            newest.asked_at = last_voiced
        else:
            self._asking.asked_at = last_voiced

    def typed(self, at: float) -> None:
        self._asking = TurnMarks(asked_at=at)

    def reply_began(self, turn_id: str, at: float) -> None:
        """The first of a reply has come: what was asked before it belongs to its turn."""
        if turn_id not in self._open:
            self._open[turn_id], self._asking = self._asking, TurnMarks()
            while len(self._open) > OPEN_MAX:
                self._open.popitem(last=False)
        marks = self._open[turn_id]
        if marks.byte_at is None:
            marks.byte_at = at

    def sounded(self, turn_id: str, at: float) -> None:
        marks = self._open.get(turn_id)
        if marks is not None and marks.heard_at is None:
            marks.heard_at = at

    def heard(self, turn_id: str) -> bool:
        """Whether anything of the reply has sounded."""
        marks = self._open.get(turn_id)
        return marks is not None and marks.heard_at is not None

    def paused(self, turn_id: str | None, at: float) -> None:
        """The reply stands still because the learner spoke up."""
        self._paused = True
        self.silenced(turn_id, at)

    def silenced(self, turn_id: str | None, at: float) -> None:
        """The reply is not heard any more."""
        marks = self._open.get(turn_id or "")
        if marks is not None and marks.silent_at is None:
            marks.cut_at, marks.silent_at = self._onset, at

    def resumed(self, turn_id: str | None) -> None:
        """It goes on: that was nobody (PAINS T4)."""
        marks = self._open.get(turn_id or "")
        if marks is not None:
            marks.cut_at = marks.silent_at = None
        if self._paused:
            self._asking = TurnMarks()
        self.counts["false_interruptions"] += self._paused
        self._paused = False

    def interrupted(self) -> None:
        self.counts["interruptions"] += 1
        self._paused = False

    def dropped(self, turn_id: str) -> None:
        self._open.pop(turn_id, None)

    def finished(self, turn_id: str, at: float) -> TurnSpans:
        """A turn that nothing sounded of takes what was asked with it all the same."""
        self.counts["turns"] += 1
        if turn_id not in self._open:
            self._open[turn_id], self._asking = self._asking, TurnMarks()
        marks = self._open.pop(turn_id)
        marks.ended_at = at
        return TurnSpans(
            turn_id,
            marks,
            gate=_span(marks.spoke_at, marks.sure_at),
            live=_span(marks.asked_at, marks.byte_at),
            playout=_span(marks.byte_at, marks.heard_at),
            learner_to_tutor=_span(marks.asked_at, marks.heard_at),
            barge_in=_span(marks.cut_at, marks.silent_at),
        )


def _span(start: float | None, end: float | None) -> float | None:
    return None if start is None or end is None else max(0.0, end - start)


def _ms(span: float | None) -> int | None:
    return None if span is None else round(span * 1000)


def _values(spans: dict[str, float | None]) -> list[rtvi.MetricValue]:
    return [
        rtvi.MetricValue(processor=name, value=round(span, 4))
        for name, span in spans.items()
        if span is not None
    ]

"""What all lessons of this process have been through, as figures for `/metrics`. No labels of
people: the sums of lessons that ended, and of those that run. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from server.metrics import Labels, Sample


@dataclass(frozen=True, slots=True)
class LessonFigures:
    """Of one lesson so far. `troubles` by code; `dropped_s`: microphone sound that could not be
    sent in time."""

    turns: int = 0
    interruptions: int = 0
    false_interruptions: int = 0
    troubles: Counter[str] = field(default_factory=Counter)
    dropped_s: float = 0.0
    resumptions: int = 0
    reseeds: int = 0
    sleeps: int = 0
    asleep: bool = False

    def samples(self) -> Iterable[Sample]:
        yield "pidjin_turns_total", (), self.turns
        yield "pidjin_interruptions_total", (), self.interruptions
        yield "pidjin_false_interruptions_total", (), self.false_interruptions
        yield "pidjin_audio_dropped_seconds_total", (), self.dropped_s
        yield "pidjin_link_resumptions_total", (), self.resumptions
        yield "pidjin_link_reseeds_total", (), self.reseeds
        yield "pidjin_link_sleeps_total", (), self.sleeps
        for code, count in self.troubles.items():
            yield "pidjin_troubles_total", (("code", code),), count


class LessonTotals:
    """`ended` takes the last figures of a lesson; `samples` adds those of the running ones."""

    def __init__(self) -> None:
        self._ended: dict[tuple[str, Labels], float] = {}
        self.ended(LessonFigures())  # a counter that is not there yet cannot be watched

    def ended(self, figures: LessonFigures) -> None:
        self._add(self._ended, figures)

    def samples(self, running: Iterable[LessonFigures]) -> Iterable[Sample]:
        sums, asleep = dict(self._ended), 0
        for figures in running:
            self._add(sums, figures)
            asleep += figures.asleep
        yield "pidjin_lessons_asleep", (), float(asleep)
        for (name, labels), value in sums.items():
            yield name, labels, value

    @staticmethod
    def _add(sums: dict[tuple[str, Labels], float], figures: LessonFigures) -> None:
        for name, labels, value in figures.samples():
            sums[name, labels] = sums.get((name, labels), 0.0) + value

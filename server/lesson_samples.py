"""Figures of all voice lessons of a process, for `/metrics`. Reads, and changes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable

from media.plane import MediaPlane
from media.spans import Spans
from server.lesson import Lesson
from server.lesson_totals import LessonTotals
from server.metrics import Sample

QUANTILES = (0.5, 0.95, 0.99)


def samples_of(
    running: Collection[Lesson], totals: LessonTotals, plane: MediaPlane, spans: Spans
) -> Iterable[Sample]:
    yield "pidjin_lessons", (), float(len(running))
    yield from totals.samples(one.vitals.figures for one in running)
    yield "pidjin_tasks", (), float(len(asyncio.all_tasks()))
    lateness = plane.pacer.lateness
    for label, late in (("0.5", lateness.p50), ("0.99", lateness.p99)):
        yield "pidjin_pacer_lateness_seconds", (("quantile", label),), late
    for name in spans.names():
        quantiles = spans.quantiles(name, QUANTILES)
        for q, value in zip(QUANTILES, quantiles, strict=False):
            yield "pidjin_span_seconds", (("quantile", str(q)), ("span", name)), value

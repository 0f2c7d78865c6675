"""How a lesson is doing, for admins and figures. No words of anybody; changes nothing."""

from __future__ import annotations

import asyncio
from collections import Counter

from media.live import port
from media.peer import PeerStats
from server import rtvi
from server.attendance import Attendance
from server.captions import Captions
from server.floor import Floor
from server.lesson_totals import LessonFigures
from server.live_side import LiveSide
from server.meter import Meter


class Vitals:
    """Of one lesson, from now on."""

    def __init__(
        self,
        attendance: Attendance,
        floor: Floor,
        live: LiveSide,
        captions: Captions,
        meter: Meter,
    ) -> None:
        self._now = asyncio.get_running_loop().time
        self._born = self._now()
        self._attendance, self._floor, self._live = attendance, floor, live
        self._captions, self._meter = captions, meter

    @property
    def line(self) -> PeerStats | None:
        """Of the peer that is connected now."""
        return self._attendance.stats

    @property
    def joined(self) -> bool:
        """Somebody has been on the line."""
        return self._attendance.joined

    @property
    def cost(self) -> rtvi.Cost:
        return self._meter.cost

    @property
    def state(self) -> str:
        return self._captions.status.state

    @property
    def age_s(self) -> float:
        return self._now() - self._born

    @property
    def reply_s(self) -> float | None:
        """From the end of the learner's speech to the first sound of the last reply."""
        return self._floor.reply_s

    @property
    def figures(self) -> LessonFigures:
        counts, link = self._floor.counts, self._live.stats
        return LessonFigures(
            turns=counts["turns"],
            interruptions=counts["interruptions"],
            false_interruptions=counts["false_interruptions"],
            troubles=Counter(self._captions.troubles),
            dropped_s=link.samples_dropped / port.RATE_UP,
            resumptions=link.resumptions,
            reseeds=link.reseeds,
            sleeps=link.sleeps,
            asleep=self._live.link.asleep,
        )

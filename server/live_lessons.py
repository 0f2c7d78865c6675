"""What an admin sees of the lessons that run now, and how one is ended.

`GET /api/admin/lessons`, `POST /api/admin/lessons/{sessionId}/end`: figures of this process, no
words of anybody.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from server.bodies import read_json
from server.clock import stamp
from server.context import Context
from server.errors import missing
from server.lesson import Lesson
from server.lessons import Lessons
from server.roles import Role, require
from server.security import Limits
from server.store.records import user_path

BODY_MAX = 1024


@dataclass(frozen=True, slots=True)
class LessonReport:
    """One row. `replyMs`: from the end of the learner's speech to the first sound of the last
    reply; absent before the first."""

    lesson: Lesson
    display_name: str

    def to_wire(self) -> dict[str, Any]:
        lesson, vitals = self.lesson, self.lesson.vitals
        cost, line, figures = vitals.cost, vitals.line, vitals.figures
        row: dict[str, Any] = {
            "sessionId": lesson.plan.session_id,
            "uid": lesson.plan.uid,
            "displayName": self.display_name,
            "topic": lesson.plan.topic,
            "state": vitals.state,
            "startedAt": stamp(lesson.plan.started_at),
            "seconds": round(vitals.age_s),
            "connected": line is not None,
            "turns": figures.turns,
            "interruptions": figures.interruptions,
            "inputTokens": cost.input_tokens,
            "outputTokens": cost.output_tokens,
        }
        if line is not None:
            row["lossPercent"] = round(100 * line.loss, 1)
            if line.rtt_s is not None:
                row["rttMs"] = round(1000 * line.rtt_s)
        if vitals.reply_s is not None:
            row["replyMs"] = round(1000 * vitals.reply_s)
        if cost.usd is not None:
            row["usd"] = cost.usd
        if lesson.diagnostics.total:
            row["mishaps"] = dict(lesson.diagnostics.total)
        return row


class LiveLessons:
    """The handlers; `lessons` gives the registry while it is open."""

    def __init__(self, ctx: Context, limits: Limits, lessons: Callable[[], Lessons]) -> None:
        self._ctx, self._limits, self._lessons = ctx, limits, lessons

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/api/admin/lessons", self.list_lessons),
            web.post("/api/admin/lessons/{session_id}/end", self.end),
        ]

    async def _admin(self, request: web.Request) -> None:
        caller = await self._ctx.callers.authenticate(request)
        self._limits.caller(caller.uid)
        require(caller.role, Role.ADMIN)

    async def list_lessons(self, request: web.Request) -> web.Response:
        await self._admin(request)
        rows = []
        for lesson in self._lessons().running():
            user = await self._ctx.store.get(user_path(lesson.plan.uid))
            name = str((user.data if user else {}).get("displayName") or "")
            rows.append(LessonReport(lesson, name).to_wire())
        return web.json_response({"lessons": rows})

    async def end(self, request: web.Request) -> web.Response:
        await self._admin(request)
        if request.can_read_body:
            await read_json(request, BODY_MAX)
        lesson = self._lessons().of_session(request.match_info["session_id"])
        if lesson is None:
            raise missing("There is no such lesson right now.")
        lesson.stop("ended")
        return web.json_response({"ended": True})

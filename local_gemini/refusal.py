"""Refusals over HTTP: Google's error object, and what a script can do at a door."""

from __future__ import annotations

import asyncio
import json

from aiohttp import web

from local_gemini.script import Stage
from local_gemini.wire import Json

STATUS: dict[int, str] = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    408: "DEADLINE_EXCEEDED",
    413: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    501: "UNIMPLEMENTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
# A scripted hang ends at the latest after this.
HANG_S = 600.0


def problem(status: int, message: str) -> web.Response:
    """`{"error": {"code", "message", "status"}}`"""
    error = {
        "code": status,
        "message": message or STATUS.get(status, "UNKNOWN"),
        "status": STATUS.get(status, "UNKNOWN"),
    }
    return web.Response(
        status=status, text=json.dumps({"error": error}), content_type="application/json"
    )


class DoorStage(Stage):
    """A request that is not answered yet: the action leaves its wish here."""

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self.status = 0
        self.reason = ""
        self.aborted = False
        self.body: Json | None = None

    async def close(self, code: int, reason: str) -> None:
        self.status, self.reason = code, reason

    async def abort(self) -> None:
        self.aborted = True

    async def hang(self) -> None:
        await asyncio.sleep(HANG_S)

    async def pause(self, ms: int) -> None:
        await asyncio.sleep(ms / 1000 / self._speed)

    async def answer(self, body: Json) -> None:
        self.body = body

"""The two texts of the assistant that admins may write: its scope, and further instructions.

They are kept for the assistant, which this build does not have (`assistant` of `/api/identity`):
nothing in a lesson reads them. The rules below them are compiled in and have no address here.
"""

from __future__ import annotations

from typing import Annotated

from aiohttp import web
from pydantic import Field

from server.bodies import read_json
from server.callers import Caller
from server.clock import stamp
from server.context import Context
from server.errors import missing
from server.registry import BODY_MAX, Wire, parse
from server.roles import Role, require
from server.security import Limits
from server.trouble import translated

KEYS = ("scope", "instructions")
TEXT_MAX_CHARS = 8000
PATH = "/api/v1/admin/ai/prompts/{key}"


class PromptRequest(Wire):
    text: Annotated[str, Field(max_length=TEXT_MAX_CHARS)]


class AssistantPrompts:
    """Routes, bound to one context."""

    def __init__(self, ctx: Context, limits: Limits) -> None:
        self._ctx = ctx
        self._limits = limits

    def routes(self) -> list[web.RouteDef]:
        return [web.get(PATH, self.read), web.put(PATH, self.write)]

    async def read(self, request: web.Request) -> web.Response:
        """The stored text; empty when there is none."""
        await self._admin(request)
        key = _key(request)
        with translated():
            doc = await self._ctx.store.get(_path(key))
        return web.json_response({"key": key, "text": doc.data["text"] if doc else ""})

    async def write(self, request: web.Request) -> web.Response:
        caller = await self._admin(request)
        key = _key(request)
        form = parse(PromptRequest, await read_json(request, BODY_MAX))
        text = form.text.strip()
        kept = {"text": text, "updatedBy": caller.uid, "updatedAt": stamp(self._ctx.clock.now())}
        with translated():
            await self._ctx.store.set(_path(key), kept)
        return web.json_response({"key": key, "text": text})

    async def _admin(self, request: web.Request) -> Caller:
        caller = await self._ctx.callers.authenticate(request)
        self._limits.caller(caller.uid)
        require(caller.role, Role.ADMIN)
        return caller


def _key(request: web.Request) -> str:
    """Raises `not-found` for any other key, the base layer among them (ASST-18)."""
    key = request.match_info["key"]
    if key not in KEYS:
        raise missing(f"There is no such prompt; there are {' and '.join(KEYS)}.")
    return key


def _path(key: str) -> str:
    return f"ai_prompts/{key}"

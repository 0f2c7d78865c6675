"""Reads over HTTP, with the visibility of the access matrix, and stricter by role (RULES-12)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aiohttp import web

from agent.agenda import is_complete
from server.callers import SESSION_COOKIE, Caller
from server.clock import stamp
from server.complaints import about
from server.context import Context
from server.cookies import set_cookies
from server.errors import denied, missing
from server.operations.owned import owned_topic
from server.roles import Role, require, role_of
from server.security import Limits
from server.store.port import ID, Doc
from server.store.records import (
    STYLES,
    TOPIC_ID,
    session_path,
    topic_path,
    user_path,
)
from server.usage_report import CALLS, WINDOW, last_day, of_day

PAGE_DEFAULT = 30
PAGE_MAX = 100
LAST_TEXT_CHARS = 200


def me(caller: Caller) -> dict[str, Any]:
    """The caller as the client sees them; the only read that needs no role (AUTH-7)."""
    user: dict[str, Any] = {
        "uid": caller.uid,
        "email": caller.identity.email,
        "emailVerified": caller.identity.email_verified,
        "displayName": caller.user.get("displayName", caller.identity.display_name),
        "role": caller.role.value,
    }
    if caller.user.get("preferredStyle") in STYLES:
        user["preferredStyle"] = caller.user["preferredStyle"]
    return user


def session_summary(doc: Doc) -> dict[str, Any]:
    """One row of the history: no turns, only how far it came."""
    data, turns = doc.data, doc.data.get("turns", [])
    state = data.get("revealState") or {}
    summary: dict[str, Any] = {
        "sessionId": doc.id,
        "topicIds": data.get("topicIds", []),
        "topicLabels": data.get("topicLabels", {}),
        "startedAt": data["startedAt"],
        "turnCount": len(turns),
        "lastText": turns[-1]["text"][:LAST_TEXT_CHARS] if turns else "",
        "complete": is_complete(state.get("agenda", []), state.get("coveredAngles", [])),
    }
    for key in ("endedAt", "style"):
        if data.get(key):
            summary[key] = data[key]
    return summary


def user_row(doc: Doc) -> dict[str, Any]:
    return {"uid": doc.id, **doc.data, "role": role_of(doc.data.get("role")).value}


class Reads:
    """GET routes, bound to one context."""

    def __init__(self, ctx: Context, limits: Limits) -> None:
        self._ctx = ctx
        self._limits = limits

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/api/me", self.get_me),
            web.get("/api/config", self.get_config),
            web.get("/api/topics/{topicId}", self.get_topic),
            web.get("/api/sessions", self.list_sessions),
            web.get("/api/sessions/{sessionId}", self.get_session),
            web.get("/api/admin/users", self.list_users),
            web.get("/api/admin/usage", self.list_usage),
        ]

    async def get_me(self, request: web.Request) -> web.Response:
        """Also renews the browser's cookie, so that one in use is never lost."""
        caller = await self._caller(request, None)
        response = web.json_response(me(caller))
        browsers = self._ctx.browsers
        if caller.via == "cookie" and browsers is not None:
            later = await browsers.renew(request.cookies[SESSION_COOKIE], caller.credential_id)
            if later is not None:
                csrf = browsers.csrf_of(later)
                set_cookies(request, response, later, csrf, lifetime=browsers.lifetime)
        return response

    async def get_config(self, request: web.Request) -> web.Response:
        caller = await self._caller(request, Role.APPROVED)
        config = await self._ctx.config.load()
        return web.json_response(config.to_wire(for_admin=caller.role is Role.ADMIN))

    async def get_topic(self, request: web.Request) -> web.Response:
        caller = await self._caller(request, Role.APPROVED)
        topic_id = request.match_info["topicId"]
        if not TOPIC_ID.match(topic_id):
            raise missing("There is no such topic.")
        owner = await self._owner(caller, topic_path(topic_id))
        topic = await owned_topic(self._ctx, owner, topic_id)
        if topic is None:
            raise missing("There is no such topic.")
        return web.json_response(topic.to_wire())

    async def list_sessions(self, request: web.Request) -> web.Response:
        """The caller's own, newest first; `after` is the last sessionId of the page before."""
        caller = await self._caller(request, Role.APPROVED)
        docs = await self._ctx.store.query(
            "sessions",
            where={"uid": caller.uid},
            order_by="startedAt",
            desc=True,
            limit=page_limit(request),
            after=await self._cursor(request, session_path, owner=caller.uid),
        )
        return web.json_response({"sessions": [session_summary(doc) for doc in docs]})

    async def get_session(self, request: web.Request) -> web.Response:
        caller = await self._caller(request, Role.APPROVED)
        session_id = request.match_info["sessionId"]
        doc = None
        if ID.match(session_id):
            doc = await self._ctx.store.get(session_path(session_id))
        if doc is None:
            raise missing("There is no such conversation.")
        if caller.role is not Role.ADMIN and doc.data["uid"] != caller.uid:
            raise denied("This conversation belongs to somebody else.")
        return web.json_response({"sessionId": doc.id, **doc.data})

    async def list_users(self, request: web.Request) -> web.Response:
        """All users or those of one role, newest first."""
        await self._caller(request, Role.ADMIN)
        role = request.query.get("role")
        if role is not None and role not in list(Role):
            raise about("role", f"must be one of {', '.join(Role)}")
        docs = await self._ctx.store.query(
            "users",
            where={"role": role} if role else None,
            order_by="createdAt",
            desc=True,
            limit=page_limit(request),
            after=await self._cursor(request, user_path),
        )
        return web.json_response({"users": [user_row(doc) for doc in docs]})

    async def list_usage(self, request: web.Request) -> web.Response:
        """The last 24 hours summed per user, or the counters of one UTC day (`date=yyyymmdd`);
        busiest first."""
        await self._caller(request, Role.ADMIN)
        date = request.query.get("date")
        if not date:
            now = self._ctx.clock.now()
            rows = await last_day(self._ctx.store, now)
            return web.json_response({"since": stamp(now - WINDOW), "usage": rows})
        limit = page_limit(request)
        counters = [doc.data for doc in await of_day(self._ctx.store, date)]
        busiest = sorted(counters, key=lambda data: (-data.get(CALLS, 0), data["uid"]))
        return web.json_response({"date": date, "usage": busiest[:limit]})

    async def _caller(self, request: web.Request, needed: Role | None) -> Caller:
        caller = await self._ctx.callers.authenticate(request)
        self._limits.caller(caller.uid)
        if needed is not None:
            require(caller.role, needed)
        return caller

    async def _owner(self, caller: Caller, path: str) -> str:
        """Whose document may be read: the caller's own, or for an admin anybody's."""
        if caller.role is not Role.ADMIN:
            return caller.uid
        doc = await self._ctx.store.get(path)
        return str(doc.data["uid"]) if doc else caller.uid

    async def _cursor(
        self, request: web.Request, path: Callable[[str], str], *, owner: str | None = None
    ) -> Doc | None:
        last = request.query.get("after")
        if not last:
            return None
        doc = await self._ctx.store.get(path(last)) if ID.match(last) else None
        if doc is None or (owner is not None and doc.data.get("uid") != owner):
            raise about("after", "is not an entry of this list")
        return doc


def page_limit(request: web.Request) -> int:
    """`limit` of a listing. Raises `invalid-argument`."""
    text = request.query.get("limit", str(PAGE_DEFAULT))
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= PAGE_MAX:
        raise about("limit", f"must be a number from 1 to {PAGE_MAX}")
    return int(text)

"""Reads of the news over HTTP: the catalog for learners and admins, and the runs (API-48)."""

from __future__ import annotations

from collections.abc import Iterable

from aiohttp import web

from server.complaints import about
from server.context import Context
from server.news.catalog import STATUSES, item_to_wire, list_items
from server.news.runs import RUNS
from server.reads import page_limit
from server.roles import Role, require
from server.security import Limits
from server.store.port import Doc


class NewsReads:
    """GET routes, bound to one context."""

    def __init__(self, ctx: Context, limits: Limits) -> None:
        self._ctx = ctx
        self._limits = limits

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/api/catalog", self.list_active),
            web.get("/api/admin/catalog", self.list_all),
            web.get("/api/admin/pipeline-runs", self.list_runs),
        ]

    async def list_active(self, request: web.Request) -> web.Response:
        """Every active item, latest first; whatever is asked for, no other (RULES-13)."""
        await self._require(request, Role.APPROVED)
        return _items(await list_items(self._ctx.store, "active"), for_admin=False)

    async def list_all(self, request: web.Request) -> web.Response:
        """All items or those of one `status`, latest first."""
        await self._require(request, Role.ADMIN)
        wanted = request.query.get("status")
        status = next((known for known in STATUSES if known == wanted), None)
        if wanted is not None and status is None:
            raise about("status", f"must be one of {', '.join(STATUSES)}")
        return _items(await list_items(self._ctx.store, status), for_admin=True)

    async def list_runs(self, request: web.Request) -> web.Response:
        """Records of runs by day, newest first."""
        await self._require(request, Role.ADMIN)
        docs = await self._ctx.store.query(
            RUNS, order_by="ranAt", desc=True, limit=page_limit(request)
        )
        return web.json_response({"runs": [{"day": doc.id, **doc.data} for doc in docs]})

    async def _require(self, request: web.Request, needed: Role) -> None:
        caller = await self._ctx.callers.authenticate(request)
        self._limits.caller(caller.uid)
        require(caller.role, needed)


def _items(docs: Iterable[Doc], *, for_admin: bool) -> web.Response:
    return web.json_response({"items": [item_to_wire(doc, for_admin=for_admin) for doc in docs]})

"""Operations over HTTP: `/api/<name>`, the callable envelope, admin REST forms, and health."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from server.bodies import read_json
from server.callers import bearer_of
from server.clock import stamp
from server.context import Context
from server.errors import denied, invalid
from server.openapi import openapi
from server.operations.catalog import ADMIN_CREATE_TOPIC, ADMIN_UPDATE_TOPIC
from server.operations.news_config import ADMIN_GET_NEWS_CONFIG, ADMIN_SET_NEWS_CONFIG
from server.operations.people import APPROVE_USER, MINT_INVITE, REJECT_USER, REVOKE_USER
from server.operations.pipeline import RUN_NEWS_PIPELINE
from server.operations.return_links import MINT_SIGN_IN_LINK
from server.operations.table import OPERATIONS
from server.registry import Operation, perform
from server.roles import require
from server.security import Limits, is_local, is_token
from server.store.port import StoreError
from server.version import VERSION

Handler = Callable[[web.Request], Awaitable[web.Response]]

# How long a successful write of the store vouches for the next one.
WRITE_CHECK_S = 10.0
APP_CHECK_HEADER = "X-Firebase-AppCheck"


class OperationRoutes:
    """Both wire forms of every registered operation, and its REST form for admins."""

    def __init__(self, ctx: Context, limits: Limits) -> None:
        self._ctx = ctx
        self._limits = limits

    def routes(self) -> list[web.RouteDef]:
        routes: list[web.RouteDef] = []
        for operation in OPERATIONS:
            routes.append(web.post(f"/api/{operation.name}", self._plain(operation)))
            routes.append(web.post(f"/callable/{operation.name}", self._callable(operation)))
        for verb, operation in (
            ("approve", APPROVE_USER),
            ("reject", REJECT_USER),
            ("revoke", REVOKE_USER),
            ("link", MINT_SIGN_IN_LINK),
        ):
            routes.append(web.post(f"/api/admin/users/{{uid}}/{verb}", self._on_user(operation)))
        routes.append(web.post("/api/admin/invites", self._plain(MINT_INVITE)))
        routes += [
            web.post("/api/admin/catalog", self._plain(ADMIN_CREATE_TOPIC)),
            web.patch("/api/admin/catalog/{id}", self._on_item(ADMIN_UPDATE_TOPIC)),
            web.post("/api/admin/pipeline-runs", self._bodyless(RUN_NEWS_PIPELINE)),
            web.get("/api/admin/news-config", self._bodyless(ADMIN_GET_NEWS_CONFIG)),
            web.patch("/api/admin/news-config", self._plain(ADMIN_SET_NEWS_CONFIG)),
        ]
        routes.append(web.get("/api/openapi.json", self.description))
        return routes

    def _plain(self, operation: Operation[Any, Any]) -> Handler:
        async def handler(request: web.Request) -> web.Response:
            return web.json_response(await self._perform(request, operation, lambda body: body))

        return handler

    def _callable(self, operation: Operation[Any, Any]) -> Handler:
        async def handler(request: web.Request) -> web.Response:
            result = await self._perform(request, operation, _data_of)
            return web.json_response({"result": result})

        return handler

    def _on_user(self, operation: Operation[Any, Any]) -> Handler:
        async def handler(request: web.Request) -> web.Response:
            uid = request.match_info["uid"]
            result = await self._perform(request, operation, lambda _: {"uid": uid}, bodyless=True)
            return web.json_response(result)

        return handler

    def _on_item(self, operation: Operation[Any, Any]) -> Handler:
        async def handler(request: web.Request) -> web.Response:
            where = {"id": request.match_info["id"]}
            result = await self._perform(
                request,
                operation,
                lambda body: {**body, **where} if isinstance(body, dict) else body,
            )
            return web.json_response(result)

        return handler

    def _bodyless(self, operation: Operation[Any, Any]) -> Handler:
        async def handler(request: web.Request) -> web.Response:
            result = await self._perform(request, operation, lambda _: {}, bodyless=True)
            return web.json_response(result)

        return handler

    async def _perform(
        self,
        request: web.Request,
        operation: Operation[Any, Any],
        payload_of: Callable[[Any], Any],
        *,
        bodyless: bool = False,
    ) -> dict[str, Any]:
        """Identity comes before the body is even read (AUTH-10)."""
        caller = await self._ctx.callers.authenticate(request)
        self._limits.caller(caller.uid)
        await assert_app_check(self._ctx, request)
        require(caller.role, operation.role)
        body = None if bodyless else await read_json(request, operation.body_max)
        result = await perform(self._ctx, operation, caller, payload_of(body))
        self._ctx.metrics.count("pidjin_operations_total", name=operation.name)
        return result

    async def description(self, request: web.Request) -> web.Response:
        return web.json_response(openapi(OPERATIONS, VERSION))


def _data_of(body: Any) -> Any:
    if not isinstance(body, dict) or "data" not in body:
        raise invalid('The callable envelope is {"data": …}.')
    return body["data"]


async def assert_app_check(ctx: Context, request: web.Request) -> None:
    """Attestation hook: lenient unless `enforceAppCheck` is set (AUTH-11).

    The local sign-in has nobody to verify an attestation with, so presence is what it enforces.
    """
    present = bool(request.headers.get(APP_CHECK_HEADER))
    ctx.metrics.count("pidjin_app_check_total", present=str(present).lower())
    if not present and (await ctx.config.load()).enforce_app_check:
        raise denied("This app could not be verified.")


class Health:
    """`/healthz`, `/readyz`, `/metrics`, and what anybody may know about the sign-in."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._write_due = -math.inf  # loop time

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/healthz", self.healthz),
            web.get("/readyz", self.readyz),
            web.get("/metrics", self.metrics),
            web.get("/api/identity", self.identity),
        ]

    async def healthz(self, request: web.Request) -> web.Response:
        return web.json_response({"status": "ok"})

    async def readyz(self, request: web.Request) -> web.Response:
        """200 when a lesson could start now, else 503 with what is missing."""
        waiting: dict[str, str] = {}
        store = await self._store_trouble()
        if store is not None:
            waiting["store"] = store
        if not self._ctx.models.opened:
            waiting["models"] = "not open"
        for name, check in self._ctx.readiness.items():
            problem = await check()
            if problem is not None:
                waiting[name] = problem
        status = {"status": "waiting" if waiting else "ready", "waiting": waiting}
        return web.json_response(status, status=503 if waiting else 200)

    async def _store_trouble(self) -> str | None:
        """A full disk still reads: a small record is written too, once in WRITE_CHECK_S."""
        store, now = self._ctx.store, asyncio.get_running_loop().time()
        try:
            await store.get("config/app")
        except StoreError:
            return "cannot be reached"
        if now < self._write_due:
            return None
        try:
            await store.set("health/readyz", {"at": stamp(self._ctx.clock.now())})
        except StoreError:
            return "cannot be written"
        self._write_due = now + WRITE_CHECK_S
        return None

    async def metrics(self, request: web.Request) -> web.Response:
        """Prometheus text, for this machine or the holder of the dev token."""
        known = is_token(bearer_of(request.headers), self._ctx.settings.dev_token)
        if not known and not is_local(request):
            raise denied("Metrics are for this machine only.")
        return web.Response(
            text=self._ctx.metrics.render(),
            headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"},
        )

    async def identity(self, request: web.Request) -> web.Response:
        return web.json_response(
            {
                "mode": self._ctx.settings.identity,
                "google": self._ctx.google is not None,
                "assistant": False,
                "localTutor": self._ctx.local_tutor,
                "version": VERSION,
            }
        )

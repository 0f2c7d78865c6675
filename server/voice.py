"""Puts voice on the application: the media plane, the Live connector, the lessons, their routes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from aiohttp import web

from media.live.gemini import GeminiConnector
from media.plane import MediaPlane
from server.app import LIMITS
from server.context import Context
from server.lessons import Lessons
from server.live_lessons import LiveLessons
from server.signalling import Signalling

PLANE: web.AppKey[MediaPlane] = web.AppKey("plane", MediaPlane)
LESSONS: web.AppKey[Lessons] = web.AppKey("lessons", Lessons)


def voice(app: web.Application, ctx: Context) -> None:
    """An `Extra` of `build_app`. The UDP port is bound when the application starts."""
    for handlers in (Signalling, LiveLessons):
        app.add_routes(handlers(ctx, app[LIMITS], lambda: app[LESSONS]).routes())

    async def opened(app: web.Application) -> AsyncIterator[None]:
        settings, access = ctx.settings, ctx.model_access
        plane = MediaPlane(
            host=settings.udp_host,
            udp_port=settings.udp_port,
            advertise=settings.public_ip,
        )
        connector = GeminiConnector(
            api_key=access.api_key, base_url=access.base_url, ssl_context=access.ssl_context
        )
        async with plane, Lessons(ctx, plane, connector) as lessons:
            app[PLANE], app[LESSONS] = plane, lessons
            yield
        await asyncio.to_thread(ctx.tracing.close)

    app.cleanup_ctx.append(opened)

"""The daily gathering of news at 05:00 UTC, put on the application (PIPE-8, API-45)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import time

from aiohttp import web

from server.context import Context
from server.news.lease import AlreadyRan, LeaseHeld
from server.news.pipeline import run_scheduled
from server.scheduler import Daily

NEWS_AT = time(5, 0)  # UTC


async def gather_news(ctx: Context) -> bool:
    """Whether today is settled; a run that somebody else is at is waited for, then made."""
    try:
        await run_scheduled(ctx)
    except AlreadyRan:
        return True
    except LeaseHeld:
        return False
    return True


def news_schedule(app: web.Application, ctx: Context) -> None:
    """An `Extra` of `build_app`: gathers news while the application runs."""

    async def running(_: web.Application) -> AsyncIterator[None]:
        async with Daily("news", NEWS_AT, ctx.clock, lambda: gather_news(ctx)):
            yield

    app.cleanup_ctx.append(running)

"""The daily gathering of news at 05:00 UTC, put on the application (PIPE-8, API-45)."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from datetime import time

from aiohttp import web

from server.context import Context
from server.news.lease import AlreadyRan, LeaseHeld
from server.news.pipeline import run_scheduled
from server.scheduler import Daily

log = logging.getLogger(__name__)

NEWS_AT = time(5, 0)  # UTC


async def gather_news(ctx: Context) -> bool:
    """Whether today is settled; a run that somebody else is at is waited for, then made.

    Without a model that searches there is nothing to gather, which is no failure.
    """
    if not ctx.model_access.searches:
        log.info("news_pipeline_skipped_no_search")
        return True
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

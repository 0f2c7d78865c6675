"""One gathering of news: prune, search every theme at once, write what is new one by one.

A theme that fails is recorded and holds up no other. Never touches topics, sessions or settings
(PIPE-11, PIPE-13).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from agent.failures import ModelAnswerUnusable
from agent.news import Story, find_stories
from server.clock import day
from server.config import AppConfig
from server.context import Context
from server.errors import Broken
from server.news.catalog import catalog_path, found_item, item_id, list_items
from server.news.lease import leased
from server.news.retention import prune
from server.news.runs import SCHEDULER_UID, Run, ThemeError, Trigger, run_path
from server.news.themes import Theme, themes_of
from server.store.port import AlreadyExists, Doc
from server.trouble import translate
from server.usage import Tally

log = logging.getLogger(__name__)

RUN_BUDGET_S = 540.0  # PIPE-18
# What is left of the budget after it is for writing.
SEARCH_BUDGET_S = 480.0
SEARCHES_AT_ONCE = 5
NO_SEARCH = (
    "The local tutor cannot search the web. Set GEMINI_API_KEY and start the server again to "
    "gather news."
)
TOO_LATE = "The search took too long."
UNUSABLE = "The search gave nothing that could be used."


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of one theme: its stories, or why there are none."""

    theme: Theme
    stories: tuple[Story, ...] = ()
    problem: str = ""


async def run_manually(ctx: Context, uid: str) -> Run:
    """Ignores the ingest switch (PIPE-10). Raises LeaseHeld, StoreError, TimeoutError."""
    async with asyncio.timeout(RUN_BUDGET_S), leased(ctx.store, ctx.clock):
        return await _run(ctx, "manual", uid)


async def run_scheduled(ctx: Context) -> Run | None:
    """The run of this UTC day; None when the ingest is switched off: then nothing at all happens
    (PIPE-9). Raises AlreadyRan, LeaseHeld, StoreError, TimeoutError."""
    if not (await ctx.config.load()).news_pipeline_enabled:
        log.info("news_pipeline_skipped_disabled")
        return None
    today = day(ctx.clock.now())
    async with asyncio.timeout(RUN_BUDGET_S), leased(ctx.store, ctx.clock, today):
        return await _run(ctx, "schedule", SCHEDULER_UID)


async def _run(ctx: Context, trigger: Trigger, uid: str) -> Run:
    started = ctx.clock.now()
    config = await ctx.config.load()
    pruned = await prune(ctx.store, started)
    findings = await _search_all(ctx, config, uid)
    counts = await _write_all(ctx, config, uid, findings)
    published = config.news_auto_publish
    generated = sum(counts.values())
    run = Run(
        ran_at=started,
        trigger=trigger,
        by_uid=uid,
        drafts=0 if published else generated,
        published=generated if published else 0,
        pruned=pruned,
        errors=tuple(ThemeError(f.theme.key, f.problem) for f in findings if f.problem),
        by_theme=counts,
    )
    await ctx.store.set(run_path(started), run.to_store())
    log.info(
        "news_pipeline_ran",
        extra={
            "trigger": trigger,
            "generated": run.generated,
            "published": run.published,
            "pruned": pruned,
            "failed_themes": [error.theme for error in run.errors],
        },
    )
    return run


async def _search_all(ctx: Context, config: AppConfig, uid: str) -> list[Finding]:
    """One finding per theme, in the order of the themes (PIPE-1, PIPE-2); counted and recorded
    for `uid`, but never capped (PIPE-20, AUTH-21)."""
    themes = themes_of(config.news_themes)
    if not ctx.model_access.searches:
        return [Finding(theme, problem=NO_SEARCH) for theme in themes]
    # One write before and one after: five at a time would only fight over one document.
    await ctx.usage.count_call(uid, calls=len(themes))
    tally = Tally(ctx.rates)
    deadline = asyncio.get_running_loop().time() + SEARCH_BUDGET_S
    places = asyncio.Semaphore(SEARCHES_AT_ONCE)

    async def search(theme: Theme) -> Finding:
        try:
            async with asyncio.timeout_at(deadline), places:
                return Finding(theme, await _search(ctx, config, theme, tally))
        except TimeoutError:
            return Finding(theme, problem=TOO_LATE)
        except Exception as error:  # boundary: one theme, told in its entry of the run (PIPE-15)
            return Finding(theme, problem=_sentence(theme, error))

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(search(theme), name=f"news:{theme.key}") for theme in themes]
    finally:
        await ctx.usage.add(uid, tally.bill)
    return [task.result() for task in tasks]


async def _search(ctx: Context, config: AppConfig, theme: Theme, tally: Tally) -> tuple[Story, ...]:
    return await find_stories(
        ctx.gateway,
        theme=theme.query,
        count=config.news_candidates_per_theme,
        today=ctx.clock.now().date(),
        model=config.ground_model,
        thinking_level=config.grounding_thinking_level,
        record=tally.sink,
    )


def _sentence(theme: Theme, error: Exception) -> str:
    known = translate(error)
    if known is None:
        log.exception("news_theme_failed", extra={"theme": theme.key})
        return Broken().message
    log.warning("news_theme_failed", extra={"theme": theme.key, "kind": type(error).__name__})
    return UNUSABLE if isinstance(error, ModelAnswerUnusable) else known.message


async def _write_all(
    ctx: Context, config: AppConfig, uid: str, findings: Sequence[Finding]
) -> dict[str, int]:
    """New items per theme. Serial, so that two themes with one story make one item (PIPE-2)."""
    taken = _titles(await list_items(ctx.store))
    lifetime = timedelta(hours=config.news_ttl_hours)
    counts: dict[str, int] = {}
    for finding in findings:
        counts[finding.theme.key] = 0
        for story in finding.stories:
            key = item_id(story.title)
            if key in taken:
                continue
            taken.add(key)
            now: datetime = ctx.clock.now()
            item = found_item(
                story,
                theme=finding.theme.key,
                status="active" if config.news_auto_publish else "draft",
                uid=uid,
                now=now,
                lifetime=lifetime,
            )
            counts[finding.theme.key] += await _create(ctx, key, item)
    return counts


async def _create(ctx: Context, key: str, item: dict[str, Any]) -> bool:
    try:
        await ctx.store.create(catalog_path(key), item)
    except AlreadyExists:  # an admin was faster
        return False
    return True


def _titles(items: Sequence[Doc]) -> set[str]:
    """Hashes that are taken: of every item's first title, which is its id, and its present one."""
    return {doc.id for doc in items} | {item_id(str(doc.data["title"])) for doc in items}

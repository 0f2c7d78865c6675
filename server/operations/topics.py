"""`groundTopic`: a concept or a piece of news becomes something to teach from (API-4 to 9)."""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from agent.failures import ModelError
from agent.grounding import ground_topic as ground
from agent.prompts.quoting import one_line
from agent.topic import Grounded
from server.callers import Caller
from server.context import Context
from server.errors import not_ready
from server.news.catalog import search_query_of
from server.operations.fields import NotBlank
from server.operations.owned import check_owner
from server.registry import MODEL_DEADLINE_S, Operation, Wire
from server.roles import Role
from server.store.port import Transaction
from server.store.records import (
    StoredTopic,
    own_topic_id,
    shared_topic_id,
    topic_path,
)
from server.usage import Tally

log = logging.getLogger(__name__)

# A live search takes 5 to 15 s; the turn has 60 s in all.
REFRESH_DEADLINE_S = 25.0

SearchKind = Literal["core", "news"]


class GroundTopicRequest(Wire):
    topic: Annotated[str, Field(max_length=500), NotBlank]
    kind: SearchKind = "core"
    force_refresh: bool = False


class GroundedResponse(Wire):
    """API-5; times are ISO-8601 UTC."""

    topic: str
    topic_id: str
    digest: str
    needs_grounding: bool
    sources: list[dict[str, Any]]
    grounded_at: str
    ttl_expires_at: str
    from_cache: bool
    kind: Literal["core", "news", "document"]
    depth_tier: Literal["standard", "structured", "deep"]
    outline: list[dict[str, str]]

    @classmethod
    def of(cls, topic: StoredTopic, *, from_cache: bool) -> GroundedResponse:
        return cls.model_validate({**topic.to_wire(), "fromCache": from_cache})


async def ground_topic(
    ctx: Context, caller: Caller, request: GroundTopicRequest
) -> GroundedResponse:
    title = one_line(request.topic)
    if not request.force_refresh:
        cached = await _cached(ctx, caller.uid, title, request.kind)
        if cached is not None:
            return GroundedResponse.of(cached, from_cache=True)
    if request.kind == "news":
        require_search(ctx)
    await ctx.quota.admit(caller.uid)
    grounded, at = await search(ctx, caller.uid, title, request.kind)
    stored = await _keep(ctx, caller.uid, title, grounded, at)
    return GroundedResponse.of(stored, from_cache=False)


def require_search(ctx: Context) -> None:
    """Raises `failed-precondition` where no model can search the web: news is never made up."""
    if not ctx.model_access.searches:
        raise not_ready(
            "The local tutor cannot search the web, so it has no news. Choose a concept or bring "
            "a text of your own.",
            reason="no-search",
        )


async def search(ctx: Context, uid: str, title: str, kind: SearchKind) -> tuple[Grounded, datetime]:
    """One grounding call, its tokens recorded for `uid`; news always searches (API-6), for what
    the catalog says if it has the title."""
    config = await ctx.config.load()
    query = await search_query_of(ctx.store, title) if kind == "news" else ""
    tally = Tally(ctx.rates)
    at = ctx.clock.now()
    try:
        grounded = await ground(
            ctx.gateway,
            topic=title,
            kind=kind,
            force_search=kind == "news",
            tiers=config.tiers,
            model=config.ground_model,
            thinking_level=config.grounding_thinking_level,
            record=tally.sink,
            query=query if query != title else "",
        )
    finally:
        await ctx.usage.add(uid, tally.bill)
    return grounded, at


async def lifetime(ctx: Context) -> timedelta:
    """How long a grounding counts as fresh (DATA-31)."""
    return timedelta(hours=(await ctx.config.load()).grounding_ttl_hours)


def _serves(topic: StoredTopic, kind: SearchKind, now: datetime) -> bool:
    """Whether a cached entry may answer: same kind, unexpired, news only if searched (DATA-9)."""
    if topic.grounded.kind != kind or topic.ttl_expires_at <= now:
        return False
    return kind != "news" or topic.grounded.needs_grounding


async def _cached(ctx: Context, uid: str, title: str, kind: SearchKind) -> StoredTopic | None:
    """The caller's own valid entry, else a copy of somebody's valid entry of the same title."""
    now = ctx.clock.now()
    shared_id, own_id = shared_topic_id(title), own_topic_id(title, uid)
    own = await ctx.store.get(topic_path(own_id))
    if own is not None:
        topic = StoredTopic.from_store(own_id, own.data)
        if _serves(topic, kind, now):
            return topic
    shared = await ctx.store.get(topic_path(shared_id))
    if shared is None:
        return None
    topic = StoredTopic.from_store(shared_id, shared.data)
    if not _serves(topic, kind, now):
        return None
    if topic.uid == uid:
        return topic
    copy = StoredTopic(own_id, uid, topic.grounded, topic.grounded_at, topic.ttl_expires_at)
    await ctx.store.set(topic_path(own_id), copy.to_store())
    return copy


async def _keep(
    ctx: Context, uid: str, title: str, grounded: Grounded, at: datetime
) -> StoredTopic:
    """Stores under the shared id if it is free or the caller's, else as their own copy."""
    shared_id, own_id = shared_topic_id(title), own_topic_id(title, uid)
    expires_at = at + await lifetime(ctx)

    async def work(transaction: Transaction) -> StoredTopic:
        shared = await transaction.get(topic_path(shared_id))
        own = await transaction.get(topic_path(own_id))
        mine = own is None and (shared is None or shared.data.get("uid") == uid)
        topic = StoredTopic(shared_id if mine else own_id, uid, grounded, at, expires_at)
        transaction.set(topic_path(topic.id), topic.to_store())
        return topic

    return await ctx.store.transaction(work)


async def refresh(ctx: Context, topic: StoredTopic) -> StoredTopic:
    """Grounds a news topic anew under its own id, for its owner. Raises ModelError, PidjinError."""
    require_search(ctx)
    grounded, at = await search(ctx, topic.uid, topic.grounded.topic, "news")
    fresh = StoredTopic(topic.id, topic.uid, grounded, at, at + await lifetime(ctx))

    async def work(transaction: Transaction) -> None:
        check_owner(await transaction.get(topic_path(topic.id)), topic.uid)
        transaction.set(topic_path(topic.id), fresh.to_store())

    await ctx.store.transaction(work)
    return fresh


async def up_to_date(ctx: Context, topic: StoredTopic) -> StoredTopic:
    """A stale news topic searched again before the turn (API-18); fresh ones as they are.

    A search that fails or is slow must not cost the learner the turn: the old digest goes on,
    which says itself when it was made, and the next turn tries again.
    """
    if topic.ttl_expires_at > ctx.clock.now() or not ctx.model_access.searches:
        return topic
    try:
        async with asyncio.timeout(REFRESH_DEADLINE_S):
            return await refresh(ctx, topic)
    except (ModelError, TimeoutError) as error:
        log.warning(
            "news_not_refreshed", extra={"topic_id": topic.id, "kind": type(error).__name__}
        )
        return topic


GROUND_TOPIC = Operation(
    name="groundTopic",
    summary="Grounds a concept or a piece of news: a digest, an outline and sources.",
    request=GroundTopicRequest,
    response=GroundedResponse,
    role=Role.APPROVED,
    run=ground_topic,
    quota=True,
    deadline_s=MODEL_DEADLINE_S,
)

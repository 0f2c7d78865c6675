"""Grounds a topic in one model call, searching the web where that is due (GRND-1)."""

from __future__ import annotations

from agent.gemini import ModelGateway
from agent.grounding_answer import digest_of, points_of, sources_of
from agent.prompts.grounding import topic_prompt
from agent.prompts.quoting import one_line
from agent.tiers import DEFAULT_TIERS, ContextTiers, clamp, tier_named
from agent.topic import Grounded, Kind
from agent.usage import UsageSink

HANDLER = "groundTopic"


async def ground_topic(
    gateway: ModelGateway,
    *,
    topic: str,
    kind: Kind = "core",
    force_search: bool = False,
    tiers: ContextTiers = DEFAULT_TIERS,
    model: str,
    thinking_level: str,
    record: UsageSink,
    handler: str = HANDLER,
    query: str = "",
) -> Grounded:
    """Digest, sources and outline of a core or news topic; news always searches (API-6).

    `query` tells what to search for where the title alone does not.
    Raises ModelError: nothing may be cached then. ValueError for a document or an empty title.
    """
    title = one_line(topic)
    if kind == "document":
        raise ValueError("a document is grounded from its text, not from the web")
    if not title:
        raise ValueError("the topic is empty")
    forced = force_search or kind == "news"
    answer = await gateway.generate_json(
        model=model,
        prompt=topic_prompt(topic=title, news=forced, caps=tiers.deep, query=query),
        thinking_level=thinking_level,
        key="digest",
        search=True,
        handler=handler,
        record=record,
    )
    tier = tier_named(answer.data.get("depth"))
    digest, outline = clamp(digest_of(answer.data), points_of(answer.data), tiers.caps(tier))
    # True exactly when the service reports a search; forced topics are coerced (GRND-16, GRND-22).
    needs_grounding = forced or answer.search.used
    return Grounded(
        topic=title,
        kind=kind,
        digest=digest,
        needs_grounding=needs_grounding,
        sources=sources_of(answer.data, answer.search) if needs_grounding else (),
        depth_tier=tier,
        outline=outline,
    )

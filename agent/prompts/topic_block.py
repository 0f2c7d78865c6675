"""The digest and the sources of a topic as quoted prompt lines. Pure."""

from __future__ import annotations

from agent.prompts.quoting import one_line, quote
from agent.topic import Grounded


def digest_block(topic: Grounded) -> str:
    sources = "\n".join(
        one_line(" — ".join(filter(None, (s.title, s.url, s.published_at)))) for s in topic.sources
    )
    return (
        f"GROUNDED DIGEST:\n{quote(topic.digest)}\n"
        f"SOURCES:\n{quote(sources or '(none beyond the digest)')}"
    )


def outline_block(topic: Grounded) -> str:
    """Ids and titles only: what a point says comes through get_topic_section (AGND-15)."""
    index = "\n".join(f"{s.id} {one_line(s.title)}" for s in topic.outline)
    return f"OUTLINE:\n{quote(index or '(none)')}"

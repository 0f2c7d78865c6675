"""The move agent's three tools, bound to the topic of the running turn (MOVE-2 to MOVE-6).

No tool raises: a failure is a payload that the model can read, without inner details.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from google.adk.tools.function_tool import FunctionTool

from agent.topic import Grounded
from agent.turn import CURRENT, Turn

log = logging.getLogger(__name__)

Payload = dict[str, Any]


def failed(reason: str, message: str, **more: Any) -> Payload:
    return {"status": "failed", "reason": reason, "message": message, **more}


def _guarded(
    tool: Callable[..., Awaitable[Payload]],
) -> Callable[..., Awaitable[Payload]]:
    """Notes the call on the turn and turns any exception into a payload (MOVE-6)."""

    @functools.wraps(tool)
    async def guarded(*args: Any, **kwargs: Any) -> Payload:
        CURRENT.get().tools.append(tool.__name__)
        try:
            return await tool(*args, **kwargs)
        except Exception as error:
            log.warning("tool failed", extra={"tool": tool.__name__, "error": type(error).__name__})
            return failed("unavailable", "This tool does not work now; go on without it.")

    return guarded


@_guarded
async def get_topic_context() -> Payload:
    """Gives the digest, the sources, their freshness and the outline index of this topic."""
    turn = CURRENT.get()
    return {"status": "ok", **_context(turn)}


@_guarded
async def get_topic_section(sectionId: str) -> Payload:
    """Gives the title and the summary of one outline point.

    Args:
        sectionId: an id from the outline index, such as s2.
    """
    topic = CURRENT.get().topic
    section = topic.section(sectionId.strip().lower())
    if section is None:
        ids = [known.id for known in topic.outline]
        return failed("unknown-section", "The outline has no such point.", validIds=ids)
    return {"status": "ok", **section.wire()}


@_guarded
async def refresh_topic_context(topicId: str = "") -> Payload:
    """Searches the news again for this topic. Works for news topics only.

    Args:
        topicId: not needed; the tool always acts on the topic of this lesson.
    """
    turn = CURRENT.get()
    if turn.topic.kind != "news":
        return {
            "status": "declined",
            "reason": "not-news",
            "message": "Only news topics are refreshed; this digest stays as it is.",
        }
    if turn.refresh is None:
        return failed("unavailable", "The news cannot be searched now; use the digest you have.")
    turn.topic = await turn.refresh()
    return {"status": "ok", "refreshed": True, **_context(turn)}


def _context(turn: Turn) -> Payload:
    topic: Grounded = turn.topic
    return {
        "topic": topic.topic,
        "kind": topic.kind,
        "digest": topic.digest,
        "sources": [source.wire() for source in topic.sources],
        "freshness": {
            "needsGrounding": topic.needs_grounding,
            "groundedAt": turn.request.grounded_at.isoformat(),
            "frozen": topic.kind != "news",
        },
        "outline": [{"id": s.id, "title": s.title} for s in topic.outline],
    }


def topic_tools() -> list[FunctionTool]:
    return [
        FunctionTool(get_topic_context),
        FunctionTool(get_topic_section),
        FunctionTool(refresh_topic_context),
    ]

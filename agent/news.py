"""Finds candidate stories for one news theme in one model call with web search (PIPE-1, PIPE-4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from agent.failures import ModelAnswerUnusable
from agent.gemini import ModelGateway
from agent.grounding_answer import web_source
from agent.prompts.news import news_search_prompt
from agent.prompts.quoting import one_line
from agent.topic import Source
from agent.usage import UsageSink

HANDLER = "newsPipeline"
TITLE_CHARS = 200
SUMMARY_CHARS = 1_000
# More entries than this are not even read.
STORIES_READ = 100


@dataclass(frozen=True, slots=True)
class Story:
    """One current event; `source` carries its address and, if known, its ISO date."""

    title: str
    summary: str
    source: Source


def stories_of(answer: Mapping[str, Any], limit: int) -> tuple[Story, ...]:
    """The first `limit` usable entries: one needs a title and a web address (PIPE-3, PIPE-4).

    Raises ModelAnswerUnusable when `stories` is no list.
    """
    listed = answer.get("stories")
    if not isinstance(listed, list):
        raise ModelAnswerUnusable("The model gave no list of stories.")
    found = (_story(entry) for entry in listed[:STORIES_READ])
    return tuple(story for story in found if story is not None)[:limit]


def _story(entry: object) -> Story | None:
    if not isinstance(entry, dict):
        return None
    title, summary = entry.get("title"), entry.get("summary")
    name = one_line(title, TITLE_CHARS) if isinstance(title, str) else ""
    source = web_source(name, entry.get("url"), entry.get("publishedAt"))
    if not name or source is None:
        return None
    return Story(name, one_line(summary, SUMMARY_CHARS) if isinstance(summary, str) else "", source)


async def find_stories(
    gateway: ModelGateway,
    *,
    theme: str,
    count: int,
    today: date,
    model: str,
    thinking_level: str,
    record: UsageSink,
    handler: str = HANDLER,
) -> tuple[Story, ...]:
    """At most `count` stories of today or this week; none is a valid result.

    Raises ModelError; also for stories that the service reports no search for: those are memories.
    """
    answer = await gateway.generate_json(
        model=model,
        prompt=news_search_prompt(theme=theme, count=count, today=today),
        thinking_level=thinking_level,
        key="stories",
        search=True,
        handler=handler,
        record=record,
    )
    stories = stories_of(answer.data, count)
    if stories and not answer.search.used:
        raise ModelAnswerUnusable("The model named stories without searching the web.")
    return stories

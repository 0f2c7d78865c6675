"""What the tests of the news share: stories of a theme, items of the catalog, tables of both."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from local_gemini.engine import Generated
from server.clock import stamp
from server.news.catalog import catalog_path, item_id, new_item
from tests.server.world import World, news_theme_of

SEARCHED = {"webSearchQueries": ["news"]}
THEMES = ("science", "climate", "AI", "politics-policy", "trending-viral")
STATUS = "topicPipelineStatus/20260115"
NOTHING = dict.fromkeys(THEMES, 0)


def story(title: str, **changes: Any) -> dict[str, Any]:
    fields = {
        "title": title,
        "url": "https://example.org/" + title.replace(" ", "-"),
        "summary": f"{title} happened.",
        "publishedAt": "2026-01-14",
    }
    return fields | changes


def stories(*entries: str | dict[str, Any]) -> Generated:
    """An answer with a search behind it."""
    listed = [story(entry) if isinstance(entry, str) else entry for entry in entries]
    return Generated(text=json.dumps({"stories": listed}), grounding=SEARCHED)


def per_theme(**titles: Any) -> Callable[[str], Generated]:
    """Stories by the first word of a theme; none for a theme that is not named."""

    def answer(theme: str) -> Generated:
        return stories(*titles.get(theme.split()[0].lower(), ()))

    return answer


async def put(world: World, title: str, *, age: timedelta = timedelta(), **changes: Any) -> str:
    """An item last touched `age` ago; its id."""
    fields: dict[str, Any] = {
        "description": "",
        "search_query": title,
        "themes": [],
        "status": "active",
        "uid": "somebody",
    }
    overrides = {key: changes.pop(key) for key in list(changes) if key in fields}
    item = new_item(title=title, now=world.clock.now(), **{**fields, **overrides})
    item |= {"updatedAt": stamp(world.clock.now() - age), **changes}
    await world.ctx.store.set(catalog_path(item_id(title)), item)
    return item_id(title)


async def titles(world: World) -> list[str]:
    """Titles in the catalog, sorted."""
    docs = await world.ctx.store.query("topicCatalog", limit=1000)
    return sorted(doc.data["title"] for doc in docs)


def searches(world: World) -> list[Mapping[str, Any]]:
    """The requests for stories that the model has had."""
    return [request for _, request in world.model.requests if news_theme_of(request)]

"""What a grounding answer means: digest, outline, sources. Pure (GRND-1 to 5, 16 to 22)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any
from urllib.parse import urlsplit

from agent.failures import ModelAnswerUnusable
from agent.model_answer import SearchEvidence
from agent.prompts.quoting import one_line
from agent.topic import Source

SOURCES_MAX = 5  # GRND-17
URL_CHARS = 2_000
# More points than any tier keeps are not even read.
OUTLINE_READ = 100


def digest_of(answer: Mapping[str, Any]) -> str:
    """Raises ModelAnswerUnusable for an empty digest (GRND-2)."""
    digest = answer.get("digest")
    if not isinstance(digest, str) or not digest.strip():
        raise ModelAnswerUnusable("The model gave no digest.")
    return digest.strip()


def points_of(answer: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(title, summary) of each usable outline entry; ids of the model are ignored (DATA-7)."""
    outline = answer.get("outline")
    if not isinstance(outline, list):
        return []
    points = []
    for entry in outline[:OUTLINE_READ]:
        title = entry.get("title") if isinstance(entry, dict) else None
        if isinstance(title, str) and title.strip():
            summary = entry.get("summary")
            points.append((title, summary if isinstance(summary, str) else ""))
    return points


def sources_of(answer: Mapping[str, Any], search: SearchEvidence) -> tuple[Source, ...]:
    """Sources with a web address, the model's own first, then the search's; at most five."""
    found: dict[str, Source] = {}
    listed = answer.get("sources")
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, dict):
            _add(found, entry.get("title"), entry.get("url"), entry.get("publishedAt"))
    for title, url in search.pages:
        _add(found, title, url, None)
    return tuple(found.values())[:SOURCES_MAX]


def web_source(title: object, url: object, published: object) -> Source | None:
    """A source with a usable http(s) address, named after its host without a title; else None."""
    if not isinstance(url, str) or len(url) > URL_CHARS or any(c.isspace() for c in url):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return None
    name = one_line(title) if isinstance(title, str) and title.strip() else parts.netloc
    return Source(name, url, _iso_date(published))


def _add(found: dict[str, Source], title: object, url: object, published: object) -> None:
    source = web_source(title, url, published)
    if source is not None:
        found.setdefault(source.url, source)


def _iso_date(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    try:
        return date.fromisoformat(value.strip()[:10]).isoformat()
    except ValueError:
        return None

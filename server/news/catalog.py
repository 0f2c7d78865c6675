"""Catalog items: their documents (DATA-11 to DATA-14) and how they are listed.

An item's id is the hash of the title it was made with, so no title is there twice (PIPE-6).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from agent.news import Story
from server.clock import stamp
from server.store.port import Doc, Document, Store
from server.store.records import shared_topic_id

CATALOG = "topicCatalog"
Status = Literal["draft", "active", "disabled"]
STATUSES: tuple[Status, ...] = ("draft", "active", "disabled")
# Who edited an item concerns admins only.
AUDIT_FIELDS = ("createdBy", "updatedBy")
_PAGE = 200


def catalog_path(item_id: str) -> str:
    return f"{CATALOG}/{item_id}"


def item_id(title: str) -> str:
    """The title hash, as for topics (DATA-4): case does not make another item."""
    return shared_topic_id(title)


def new_item(
    *,
    title: str,
    description: str,
    search_query: str,
    themes: Sequence[str],
    status: Status,
    uid: str,
    now: datetime,
) -> Document:
    """An item made by hand: nothing is known about it until somebody learns it (API-42)."""
    return {
        "kind": "news",
        "title": title,
        "description": description,
        "searchQuery": search_query,
        "themes": list(themes),
        "status": status,
        "refreshPolicy": "daily",
        "digest": "",
        "needsGrounding": True,
        "sources": [],
        "groundedAt": None,
        "ttlExpiresAt": None,
        "createdBy": uid,
        "updatedBy": uid,
        "updatedAt": stamp(now),
    }


def found_item(
    story: Story, *, theme: str, status: Status, uid: str, now: datetime, lifetime: timedelta
) -> Document:
    """An item made of a story that was found at `now` (PIPE-5)."""
    item = new_item(
        title=story.title,
        description=story.summary,
        search_query=story.title,
        themes=[theme],
        status=status,
        uid=uid,
        now=now,
    )
    return {
        **item,
        "digest": story.summary or story.title,
        "sources": [story.source.wire()],
        "groundedAt": stamp(now),
        "ttlExpiresAt": stamp(now + lifetime),
    }


def item_to_wire(doc: Doc, *, for_admin: bool) -> dict[str, Any]:
    """The item with its id."""
    return {
        "id": doc.id,
        **{
            name: value for name, value in doc.data.items() if for_admin or name not in AUDIT_FIELDS
        },
    }


async def list_items(store: Store, status: Status | None = None) -> list[Doc]:
    """All items, or those of one status, latest change first; never cut (UI-10)."""
    where = {"status": status} if status else None
    items: list[Doc] = []
    last: Doc | None = None
    while True:
        page = await store.query(CATALOG, where=where, limit=_PAGE, after=last)
        items += page
        if len(page) < _PAGE:
            break
        last = page[-1]
    return sorted(items, key=lambda doc: str(doc.data.get("updatedAt", "")), reverse=True)


async def search_query_of(store: Store, title: str) -> str:
    """What the active item of this title searches for; empty when there is none."""
    found = await store.query(CATALOG, where={"title": title, "status": "active"}, limit=1)
    return str(found[0].data.get("searchQuery", "")) if found else ""

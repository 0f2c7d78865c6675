"""One suite for every store: documents, written and read, whichever backend runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from server.store.port import MISSING, AlreadyExists, Conflict, Invalid, NotFound, Store
from tests.contract.stored import data

pytestmark = pytest.mark.req("CARD-10")

EVERYTHING: dict[str, Any] = {
    "s": "é\"'\\\u2028",
    "i": -5,
    "big": 2**53 + 1,
    "f": 1.5,
    "b": True,
    "n": None,
    "m": {"x": {"y": [1, "a", {"z": None}]}, "0123-ab": 1},
    "e": {},
    "l": [],
}


async def test_what_is_set_is_read_back_with_its_types(store: Store) -> None:
    assert await store.get("c/a") is None
    await store.set("c/a", EVERYTHING)
    doc = await store.get("c/a")
    assert doc is not None
    assert (doc.data, doc.id, doc.path) == (EVERYTHING, "a", "c/a")
    assert [type(doc.data[key]) for key in "bif"] == [bool, int, float]


async def test_set_replaces_the_whole_document(store: Store) -> None:
    await store.set("c/a", {"x": 1, "y": 2})
    await store.set("c/a", {"x": 3})
    assert await data(store, "c/a") == {"x": 3}


async def test_create_refuses_an_existing_document(store: Store) -> None:
    await store.create("c/a", {"x": 1})
    with pytest.raises(AlreadyExists):
        await store.create("c/a", {"x": 2})
    assert await data(store, "c/a") == {"x": 1}


async def test_update_merges_dotted_fields_and_removes_missing_ones(store: Store) -> None:
    await store.set("c/a", {"m": {"x": 1, "y": 1}, "z": 1, "q": 5})
    await store.update("c/a", {"m.x": 9, "z": MISSING, "n.k": 1, "q.r": 2})
    assert await data(store, "c/a") == {"m": {"x": 9, "y": 1}, "n": {"k": 1}, "q": {"r": 2}}


async def test_update_of_nothing_creates_nothing(store: Store) -> None:
    with pytest.raises(NotFound):
        await store.update("c/none", {"a": 1})
    assert await store.get("c/none") is None


async def test_an_update_of_no_fields_only_wants_the_document(store: Store) -> None:
    await store.set("c/a", {"x": 1})
    await store.update("c/a", {})
    assert await data(store, "c/a") == {"x": 1}
    with pytest.raises(NotFound):
        await store.update("c/none", {})


async def test_a_field_is_not_given_whole_and_in_part(store: Store) -> None:
    await store.set("c/a", {"m": {"x": 1}})
    with pytest.raises(Invalid):
        await store.update("c/a", {"m": {"y": 1}, "m.x": 2})
    assert await data(store, "c/a") == {"m": {"x": 1}}


async def test_a_map_given_whole_replaces_the_map(store: Store) -> None:
    await store.set("c/a", {"m": {"x": 1}, "n": {"x": 1}})
    await store.update("c/a", {"m": {"y": 1}, "n.y": MISSING})
    assert await data(store, "c/a") == {"m": {"y": 1}, "n": {"x": 1}}


async def test_a_version_of_a_gone_document_guards_too(store: Store) -> None:
    await store.set("c/a", {"x": 1})
    doc = await store.get("c/a")
    assert doc is not None
    await store.delete("c/a")
    with pytest.raises((NotFound, Conflict)):
        await store.update("c/a", {"x": 2}, if_version=doc.version)
    assert await store.get("c/a") is None


async def test_a_version_guards_an_update(store: Store) -> None:
    await store.set("c/a", {"x": 1})
    doc = await store.get("c/a")
    assert doc is not None
    await store.update("c/a", {"x": 2}, if_version=doc.version)
    with pytest.raises(Conflict):
        await store.update("c/a", {"x": 3}, if_version=doc.version)
    assert await data(store, "c/a") == {"x": 2}


async def test_a_version_never_comes_back(store: Store) -> None:
    await store.set("c/a", {"x": 1})
    first = await store.get("c/a")
    await store.delete("c/a")
    await store.set("c/a", {"x": 1})
    second = await store.get("c/a")
    assert first is not None
    assert second is not None
    assert first.version != second.version


async def test_delete_is_idempotent_and_keeps_nested_collections(store: Store) -> None:
    await store.set("c/a", {})
    await store.set("c/a/d/b", {"x": 1})
    await store.delete("c/a")
    await store.delete("c/a")
    assert await store.get("c/a") is None
    assert await data(store, "c/a/d/b") == {"x": 1}


async def test_opening_is_optional(store: Store) -> None:
    await store.open()
    await store.set("c/a", {})
    await store.open()
    assert await store.get("c/a") is not None


async def test_many_writes_at_once_all_arrive(store: Store) -> None:
    await asyncio.gather(*(store.set(f"cw/{i:03}", {"i": i}) for i in range(60)))
    assert len(await store.query("cw", limit=100)) == 60

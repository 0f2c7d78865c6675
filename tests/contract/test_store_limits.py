"""One suite for every store: the common subset, and what is outside of it."""

from __future__ import annotations

from typing import Any

import pytest

from server.store.port import MAX_BYTES, Invalid, Store, TooLarge
from tests.contract.stored import data

pytestmark = pytest.mark.req("CARD-10")


@pytest.mark.parametrize(
    "bad",
    [
        {"a": float("nan")},
        {"a": [[1]]},
        {"a.b": 1},
        {"": 1},
        {"__a__": 1},
        {"a": 2**63},
        {"a": b"x"},
        {"a": object()},
        {"a": "\ud800"},
        {1: "a"},
    ],
    ids=lambda bad: repr(bad)[:20],
)
async def test_values_outside_the_subset_are_refused(store: Store, bad: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        await store.set("v/a", bad)
    assert await store.get("v/a") is None


async def test_a_document_has_a_largest_size(store: Store) -> None:
    with pytest.raises(TooLarge):
        await store.set("v/a", {"a": "x" * MAX_BYTES})
    await store.set("v/a", {"a": "x" * (MAX_BYTES - 1000)})


async def test_a_document_cannot_grow_beyond_the_largest_size(store: Store) -> None:
    await store.set("v/a", {"a": "x" * (MAX_BYTES - 1000)})
    with pytest.raises(TooLarge):
        await store.update("v/a", {"b": "x" * (MAX_BYTES - 1000)})
    assert "b" not in await data(store, "v/a")


@pytest.mark.parametrize("path", ["a", "a/b/c", "a//b", "/a/b", "a/..", "a/__x__", ""])
async def test_bad_paths_are_refused(store: Store, path: str) -> None:
    with pytest.raises(Invalid):
        await store.get(path)


@pytest.mark.parametrize("field", ["a'b", "a b", "", "a..b", "1a", "a)--"])
async def test_bad_fields_are_refused(store: Store, field: str) -> None:
    with pytest.raises(Invalid):
        await store.query("q", order_by=field)
    with pytest.raises(Invalid):
        await store.query("q", where={field: 1})
    with pytest.raises(Invalid):
        await store.update("c/a", {field: 1})

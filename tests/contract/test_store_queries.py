"""One suite for every store: filters, order and pages."""

from __future__ import annotations

from typing import Any

import pytest

from server.store.port import Doc, Invalid, Store
from tests.contract.stored import ids, seed

pytestmark = pytest.mark.req("CARD-10")


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({"where": {"owner": "a"}}, ["d0", "d2", "d4", "d6", "d9"]),
        ({"where": {"flag": True}}, ["d3"]),
        ({"where": {"flag": 1}}, []),
        ({"where": {"one": 1}}, ["d1"]),
        ({"order_by": "n"}, ["d0", "d5", "d3", "d1", "d6", "d4", "d2"]),
        ({"order_by": "n", "desc": True, "limit": 3}, ["d2", "d4", "d6"]),
        ({"where": {"owner": "a"}, "order_by": "n", "desc": True}, ["d2", "d4", "d6", "d0"]),
        ({"where": {"m.k": 4}}, ["d4"]),
        ({"order_by": "m.k", "desc": True, "limit": 1}, ["d6"]),
        ({"where": {"owner": "b", "flag": True}}, ["d3"]),
    ],
    ids=str,
)
async def test_filters_are_strict_and_order_leaves_out_what_lacks_it(
    store: Store, how: dict[str, Any], expected: list[str]
) -> None:
    await seed(store)
    assert await ids(store, "q", **how) == expected


@pytest.mark.parametrize(
    "how",
    [
        {"order_by": "n"},
        {"order_by": "n", "desc": True},
        {"order_by": "owner"},
        {"order_by": "owner", "desc": True},
        {},
    ],
    ids=str,
)
async def test_pages_together_are_the_whole_list(store: Store, how: dict[str, Any]) -> None:
    await seed(store)
    paged: list[str] = []
    after = None
    while page := await store.query("q", limit=2, after=after, **how):
        paged += [doc.id for doc in page]
        assert len(paged) < 20, "the pages go round in a circle"
        after = page[-1]
    assert paged == await ids(store, "q", **how)


async def test_types_are_ordered_null_bool_number_text(store: Store) -> None:
    mixed = {"s": "z", "n": 2, "f": 1.5, "t": True, "z": None, "S": "A", "fa": False}
    for key, value in mixed.items():
        await store.set(f"mx/{key}", {"v": value})
    assert await ids(store, "mx", order_by="v") == ["z", "fa", "t", "f", "n", "S", "s"]


async def test_text_is_ordered_by_code_point(store: Store) -> None:
    for key in ("z", "é", "a", "Z", "日", "😀"):
        await store.set(f"u/{key}", {"v": key})
    assert await ids(store, "u", order_by="v") == ["Z", "a", "z", "é", "日", "😀"]
    assert await ids(store, "u") == ["Z", "a", "z", "é", "日", "😀"]


async def test_null_is_a_value_and_absence_is_not(store: Store) -> None:
    await store.set("nu/a", {"v": None})
    await store.set("nu/b", {"w": 1})
    assert await ids(store, "nu", where={"v": None}) == ["a"]


async def test_numbers_are_equal_by_value(store: Store) -> None:
    for key, value in {"i": 1, "f": 1.0, "t": True, "s": "1", "two": 2}.items():
        await store.set(f"eq/{key}", {"v": value})
    assert await ids(store, "eq", where={"v": 1}) == ["f", "i"]
    assert await ids(store, "eq", where={"v": 1.0}) == ["f", "i"]
    assert await ids(store, "eq", where={"v": True}) == ["t"]


async def test_a_nested_collection_is_its_own(store: Store) -> None:
    await seed(store)
    assert await ids(store, "q/d0/q") == ["x"]
    assert await ids(store, "q/d1/q") == []


@pytest.mark.parametrize(
    "how",
    [
        {"desc": True},
        {"limit": 0},
        {"limit": -1},
        {"where": {"owner": ["a"]}},
        {"where": {"m": {"k": 1}}},
        {"order_by": "absent", "after": Doc("q/d0", {"owner": "a"}, "")},
        {"order_by": "m", "after": Doc("q/d0", {"m": {"k": 0}}, "")},
    ],
    ids=str,
)
async def test_questions_that_backends_answer_differently_are_refused(
    store: Store, how: dict[str, Any]
) -> None:
    with pytest.raises(Invalid):
        await store.query("q", **how)


@pytest.mark.req("DATA-25")
async def test_the_four_listed_query_shapes_work(store: Store) -> None:
    await store.set("users/u1", {"role": "pending", "createdAt": "2026-01-01"})
    await store.set("users/u2", {"role": "pending", "createdAt": "2026-01-02"})
    await store.set("sessions/s1", {"uid": "u1", "startedAt": "2026-01-01"})
    item = {"kind": "news", "status": "active", "updatedAt": "2026-01-01"}
    await store.set("topicCatalog/t1", item)
    pending = await ids(store, "users", where={"role": "pending"}, order_by="createdAt", desc=True)
    assert pending == ["u2", "u1"]
    assert await ids(store, "sessions", where={"uid": "u1"}, order_by="startedAt", desc=True) == [
        "s1"
    ]
    active = {"kind": "news", "status": "active"}
    assert await ids(store, "topicCatalog", where=active, order_by="updatedAt", desc=True)
    assert await ids(store, "topicCatalog", where={"kind": "news"}, order_by="updatedAt")

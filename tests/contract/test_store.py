"""One suite for every store: what the application may rely on, whichever backend runs.

A new adapter joins with a fixture that opens it; nothing below the fixtures names a backend.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from server.store.firestore import Deadlines, FirestoreStore
from server.store.port import (
    MAX_BYTES,
    MISSING,
    AlreadyExists,
    Conflict,
    Doc,
    Invalid,
    NotFound,
    Store,
    TooLarge,
    Transaction,
)
from server.store.sqlite import SqliteStore
from tests.emulator import new_project

pytestmark = pytest.mark.req("CARD-10")


# A cold emulator on a busy machine has been seen to think for 8 s about its first call.
PATIENT = Deadlines(call=30.0, query=30.0, transaction=60.0)


@pytest.fixture
async def sqlite(tmp_path: Path) -> AsyncIterator[Store]:
    opened = SqliteStore(tmp_path / "fresh" / "store.sqlite3", indexes=("owner",))
    yield opened
    await opened.close()


@pytest.fixture
async def firestore(firestore_host: str) -> AsyncIterator[Store]:
    opened = FirestoreStore(new_project(), emulator_host=firestore_host, deadlines=PATIENT)
    yield opened
    await opened.close()


@pytest.fixture(params=["sqlite", "firestore"])
def store(request: pytest.FixtureRequest) -> Store:
    opened: Store = request.getfixturevalue(request.param)
    return opened


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


async def data(store: Store, path: str) -> dict[str, Any]:
    doc = await store.get(path)
    assert doc is not None
    return doc.data


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


# --- queries ------------------------------------------------------------------------------------


async def seed(store: Store) -> None:
    for i in range(7):
        await store.set(
            f"q/d{i}",
            {
                "owner": "ab"[i % 2],
                "n": (3 * i) % 7,
                "m": {"k": i},
                "flag": i == 3,
                "one": 1 if i == 1 else "1",
            },
        )
    await store.set("q/d9", {"owner": "a"})
    await store.set("q/d0/q/x", {"owner": "a", "n": 99})


async def ids(store: Store, collection: str, **how: Any) -> list[str]:
    return [doc.id for doc in await store.query(collection, **how)]


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


# --- transactions -------------------------------------------------------------------------------


async def test_a_transaction_commits_together_and_returns(store: Store) -> None:
    await store.set("t/a", {"n": 1})

    async def work(transaction: Transaction) -> int:
        doc = await transaction.get("t/a")
        assert doc is not None
        transaction.update("t/a", {"n": doc.data["n"] + 1})
        transaction.create("t/b", {"from": doc.data["n"]})
        return int(doc.data["n"])

    assert await store.transaction(work) == 1
    assert await data(store, "t/a") == {"n": 2}
    assert await data(store, "t/b") == {"from": 1}


async def test_an_error_inside_writes_nothing(store: Store) -> None:
    await store.set("t/a", {"n": 1})

    async def work(transaction: Transaction) -> None:
        transaction.set("t/a", {"n": 2})
        raise KeyError("x")

    with pytest.raises(KeyError):
        await store.transaction(work)
    assert await data(store, "t/a") == {"n": 1}


async def test_one_failed_write_undoes_the_others(store: Store) -> None:
    await store.set("t/there", {})

    async def work(transaction: Transaction) -> None:
        transaction.set("t/first", {})
        transaction.create("t/there", {})

    with pytest.raises(AlreadyExists):
        await store.transaction(work)
    assert await store.get("t/first") is None


async def test_reading_after_writing_is_refused(store: Store) -> None:
    async def work(transaction: Transaction) -> None:
        transaction.set("t/a", {})
        await transaction.get("t/a")

    with pytest.raises(Invalid):
        await store.transaction(work)


async def test_no_update_is_lost(store: Store) -> None:
    await store.set("t/c", {"n": 0})

    async def work(transaction: Transaction) -> None:
        doc = await transaction.get("t/c")
        assert doc is not None
        await asyncio.sleep(0)
        transaction.update("t/c", {"n": doc.data["n"] + 1})

    await asyncio.gather(*(store.transaction(work, attempts=20) for _ in range(5)))
    assert await data(store, "t/c") == {"n": 5}


async def test_no_write_skew(store: Store) -> None:
    await store.set("t/x", {"on": True})
    await store.set("t/y", {"on": True})
    both_read = asyncio.Barrier(2)
    first = {"t/x": True, "t/y": True}

    async def switch_off(mine: str, other: str) -> None:
        async def work(transaction: Transaction) -> None:
            seen = await transaction.get(other)
            await transaction.get(mine)
            if first.pop(mine, False):
                await both_read.wait()
            if seen is not None and seen.data["on"]:
                transaction.update(mine, {"on": False})

        await store.transaction(work, attempts=10)

    await asyncio.gather(switch_off("t/x", "t/y"), switch_off("t/y", "t/x"))
    assert (await data(store, "t/x"))["on"] or (await data(store, "t/y"))["on"]


async def test_creating_if_absent_happens_once(store: Store) -> None:
    async def work(transaction: Transaction) -> bool:
        if await transaction.get("t/once") is not None:
            return False
        await asyncio.sleep(0)
        transaction.create("t/once", {})
        return True

    results = await asyncio.gather(*(store.transaction(work, attempts=10) for _ in range(3)))
    assert sorted(results) == [False, False, True]


async def test_a_conflict_that_never_ends_is_told(store: Store) -> None:
    await store.set("t/c", {"n": 0})

    async def work(transaction: Transaction) -> None:
        await transaction.get("t/c")
        await store.update("t/c", {"n": 1})
        transaction.update("t/c", {"n": 2})

    with pytest.raises(Conflict):
        await store.transaction(work, attempts=2)


async def test_a_transaction_that_only_reads_gives_its_result(store: Store) -> None:
    await store.set("t/a", {"n": 1})

    async def work(transaction: Transaction) -> int:
        one, two = await asyncio.gather(transaction.get("t/a"), transaction.get("t/none"))
        assert one is not None
        assert two is None
        return int(one.data["n"])

    assert await store.transaction(work) == 1
    await store.set("t/a", {"n": 2})


async def test_a_transaction_that_only_writes_needs_no_reading(store: Store) -> None:
    await store.set("t/a", {"n": 1})

    async def work(transaction: Transaction) -> None:
        transaction.delete("t/a")
        transaction.set("t/b", {"n": 2})

    await store.transaction(work)
    assert await store.get("t/a") is None
    assert await data(store, "t/b") == {"n": 2}


async def test_a_deadline_of_the_caller_is_the_callers(store: Store) -> None:
    async def work(transaction: Transaction) -> None:
        await transaction.get("t/k")
        transaction.set("t/k", {"n": 2})
        async with asyncio.timeout(0):
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        await store.transaction(work)
    assert await store.get("t/k") is None


async def test_a_conflict_of_the_works_own_is_not_repeated(store: Store) -> None:
    runs = 0

    async def work(transaction: Transaction) -> None:
        nonlocal runs
        runs += 1
        raise Conflict("mine")

    with pytest.raises(Conflict, match="mine"):
        await store.transaction(work)
    assert runs == 1


async def test_a_cancelled_transaction_leaves_nothing_behind(store: Store) -> None:
    await store.set("t/k", {"n": 1})
    reached = asyncio.Event()

    async def work(transaction: Transaction) -> None:
        await transaction.get("t/k")
        transaction.update("t/k", {"n": 2})
        reached.set()
        await asyncio.Event().wait()

    task = asyncio.ensure_future(store.transaction(work))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await store.set("t/k", {"n": 3})
    assert await data(store, "t/k") == {"n": 3}


# --- the common subset --------------------------------------------------------------------------


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


async def test_opening_is_optional(store: Store) -> None:
    await store.open()
    await store.set("c/a", {})
    await store.open()
    assert await store.get("c/a") is not None


async def test_many_writes_at_once_all_arrive(store: Store) -> None:
    await asyncio.gather(*(store.set(f"cw/{i:03}", {"i": i}) for i in range(60)))
    assert len(await store.query("cw", limit=100)) == 60

"""One suite for every store: what happens together, or not at all."""

from __future__ import annotations

import asyncio

import pytest

from server.store.port import AlreadyExists, Conflict, Invalid, Store, Transaction
from tests.contract.stored import data

pytestmark = pytest.mark.req("CARD-10")


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

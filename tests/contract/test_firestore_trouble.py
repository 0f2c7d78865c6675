"""Firestore that is gone, silent, slow or contended: every call ends in time, as StoreDown."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from google.api_core import exceptions as api

from server.store.firestore import Deadlines, FirestoreStore
from server.store.firestore_errors import translated
from server.store.port import (
    CannotOpen,
    Conflict,
    Invalid,
    NotFound,
    Store,
    StoreDown,
    StoreError,
    TooLarge,
    Transaction,
)
from tests.emulator import new_project

pytestmark = pytest.mark.req("CARD-10")

SHORT = Deadlines(connect=1.0, call=0.3, query=0.3, transaction=0.6, rollback=0.2)
# Far below the minutes that the client library would wait by itself.
SOON_S = 5.0


@asynccontextmanager
async def silence(heard: asyncio.Event | None = None) -> AsyncIterator[str]:
    """A server that takes connections and never says a word; `heard`: somebody speaks to it."""
    connected: list[asyncio.StreamWriter] = []

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.append(writer)
        await reader.read(1)
        if heard is not None:
            heard.set()
        await reader.read()

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for writer in connected:
            writer.close()


@asynccontextmanager
async def nobody() -> AsyncIterator[str]:
    """An address where connections are refused."""
    server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    host = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    server.close()
    await server.wait_closed()
    yield host


async def _reading(transaction: Transaction) -> None:
    await transaction.get("c/a")


async def _writing(transaction: Transaction) -> None:
    transaction.set("c/a", {})


CALLS: dict[str, Callable[[Store], Awaitable[object]]] = {
    "get": lambda store: store.get("c/a"),
    "create": lambda store: store.create("c/a", {}),
    "set": lambda store: store.set("c/a", {}),
    "update": lambda store: store.update("c/a", {"x": 1}),
    "delete": lambda store: store.delete("c/a"),
    "query": lambda store: store.query("c"),
    "transaction that reads": lambda store: store.transaction(_reading),
    "transaction that writes": lambda store: store.transaction(_writing),
}


@pytest.mark.parametrize("backend", [silence, nobody])
@pytest.mark.parametrize("name", CALLS)
async def test_a_dead_backend_is_told_in_time(name: str, backend: Callable[[], object]) -> None:
    async with backend() as host:  # type: ignore[attr-defined]
        store = FirestoreStore("demo-x", emulator_host=host, deadlines=SHORT)
        async with asyncio.timeout(SOON_S):
            with pytest.raises(StoreDown):
                await CALLS[name](store)
            await store.close()


@pytest.mark.parametrize("name", CALLS)
async def test_a_cancelled_caller_is_let_go_at_once(name: str) -> None:
    heard = asyncio.Event()
    async with silence(heard) as host:
        store = FirestoreStore("demo-x", emulator_host=host)
        task = asyncio.ensure_future(CALLS[name](store))
        await heard.wait()
        task.cancel()
        async with asyncio.timeout(SOON_S / 2):
            with pytest.raises(asyncio.CancelledError):
                await task
            await store.close()


async def test_a_closed_store_is_down_and_closes_twice(firestore_host: str) -> None:
    store = FirestoreStore(new_project(), emulator_host=firestore_host)
    await store.set("c/a", {})
    await store.close()
    await store.close()
    with pytest.raises(StoreDown):
        await store.get("c/a")


async def test_work_without_end_frees_its_locks(firestore_host: str) -> None:
    store = FirestoreStore(
        new_project(), emulator_host=firestore_host, deadlines=Deadlines(call=30.0, transaction=1.0)
    )
    await store.set("c/a", {"n": 1})

    async def work(transaction: Transaction) -> None:
        await transaction.get("c/a")
        transaction.set("c/a", {"n": 2})
        await asyncio.Event().wait()

    with pytest.raises(StoreDown):
        await store.transaction(work)
    await store.set("c/a", {"n": 3})
    doc = await store.get("c/a")
    assert doc is not None
    assert doc.data == {"n": 3}
    await store.close()


async def test_writing_what_a_transaction_holds_is_a_conflict_in_time(firestore_host: str) -> None:
    store = FirestoreStore(new_project(), emulator_host=firestore_host)
    await store.set("c/a", {"n": 1})
    seen: list[StoreError] = []

    async def work(transaction: Transaction) -> None:
        await transaction.get("c/a")
        try:
            await store.set("c/a", {"n": 2})
        except StoreError as error:
            seen.append(error)
        transaction.set("c/a", {"n": 3})

    async with asyncio.timeout(2 * SOON_S):
        await store.transaction(work)
    assert isinstance(seen[0], Conflict | StoreDown)
    doc = await store.get("c/a")
    assert doc is not None
    assert doc.data == {"n": 3}
    await store.close()


@pytest.mark.req("CARD-9")
async def test_missing_credentials_are_told_with_what_to_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none.json"))
    store = FirestoreStore("demo-x")
    with pytest.raises(CannotOpen, match="GOOGLE_APPLICATION_CREDENTIALS"):
        await store.open()
    await store.close()


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (api.NotFound("No document to update: projects/p/databases/(default)/x"), NotFound),
        (api.NotFound("The database (default) does not exist for project p"), StoreDown),
        (api.Aborted("Too much contention on these documents."), Conflict),
        (api.FailedPrecondition("the stored version does not match"), Conflict),
        (api.InvalidArgument("Document exceeds the maximum allowed size of 1048576"), TooLarge),
        (api.InvalidArgument("Bad field"), Invalid),
        (api.ResourceExhausted("Quota exceeded"), StoreDown),
        (api.PermissionDenied("Missing permissions"), StoreDown),
        (api.Unauthenticated("Bad key"), StoreDown),
        (api.DeadlineExceeded("late"), StoreDown),
        (api.InternalServerError("oops"), StoreDown),
        (api.Unknown("stream removed"), StoreDown),
        (api.Cancelled("by the server"), StoreDown),
    ],
    ids=lambda value: getattr(value, "__name__", None) or type(value).__name__,
)
def test_each_answer_has_its_meaning(error: api.GoogleAPICallError, kind: type) -> None:
    assert type(translated(error)) is kind


def test_a_missing_index_is_neither_a_lost_race_nor_an_outage() -> None:
    told = translated(api.FailedPrecondition("The query requires an index. Create it here"))
    assert type(told) is StoreError

"""The embedded store: one SQLite file, every call one job (`sqlite_table`) on one thread.

WAL with `synchronous=FULL`: what was acknowledged survives a crash of process and machine.
Transactions are optimistic (versions of all reads are checked under the write lock), so nothing
is locked while user code awaits, and it holds across processes too.
"""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from server.store import sqlite_table as table
from server.store.port import (
    DEFAULT_ATTEMPTS,
    DEFAULT_LIMIT,
    Conflict,
    Doc,
    Document,
    Invalid,
    StoreDown,
    Transaction,
    check_collection,
    check_doc,
    check_fields,
    check_filters,
    check_order,
    check_value,
)
from server.store.sqlite_table import Write

T = TypeVar("T")
P = ParamSpec("P")


class SqliteStore:
    """`Store` over one file, created with its folder (owner access only) on first use."""

    def __init__(self, file: Path, *, indexes: Sequence[str] = table.INDEXED_FIELDS) -> None:
        self._file = file
        self._indexes = tuple(indexes)
        # The connection is opened, used and closed in this one thread.
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="sqlite")
        self._db: sqlite3.Connection | None = None

    async def open(self) -> None:
        await self._run(lambda db: None)

    async def get(self, path: str) -> Doc | None:
        return await self._run(table.get, check_doc(path))

    async def create(self, path: str, data: Document) -> None:
        check_value(data)
        await self._run(table.apply, [Write("create", check_doc(path), data)], {})

    async def set(self, path: str, data: Document) -> None:
        check_value(data)
        await self._run(table.apply, [Write("set", check_doc(path), data)], {})

    async def update(
        self, path: str, fields: Mapping[str, Any], *, if_version: str | None = None
    ) -> None:
        write = Write("update", check_doc(path), check_fields(fields), if_version)
        await self._run(table.apply, [write], {})

    async def delete(self, path: str) -> None:
        await self._run(table.apply, [Write("delete", check_doc(path), {})], {})

    async def query(
        self,
        collection: str,
        *,
        where: Mapping[str, Any] | None = None,
        order_by: str | None = None,
        desc: bool = False,
        limit: int = DEFAULT_LIMIT,
        after: Doc | None = None,
    ) -> list[Doc]:
        filters = check_filters(where)
        check_order(order_by, desc, limit)
        check_collection(collection)
        return await self._run(table.query, collection, filters, order_by, desc, limit, after)

    async def transaction(
        self, work: Callable[[Transaction], Awaitable[T]], *, attempts: int = DEFAULT_ATTEMPTS
    ) -> T:
        for attempt in range(attempts):
            transaction = _SqliteTransaction(self)
            result = await work(transaction)
            try:
                if transaction.writes:
                    await self._run(table.apply, transaction.writes, transaction.reads)
                return result
            except Conflict:
                if attempt == attempts - 1:
                    raise
                await asyncio.sleep(random.uniform(0, 0.01 * 2**attempt))
        raise Conflict("no attempt was allowed")

    async def close(self) -> None:
        """Idempotent; a store that was never used opens nothing."""
        if self._db is not None:
            await self._run(lambda db: db.close())
            self._db = None
        self._pool.shutdown()

    async def _run(
        self, job: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kw: P.kwargs
    ) -> T:
        def guarded() -> T:
            try:
                return job(self._open(), *args, **kw)
            except sqlite3.Error as error:  # locked too long, disk full, I/O, a foreign file
                raise StoreDown(str(error)) from error
            except OSError as error:
                raise StoreDown(str(error)) from error

        running = asyncio.get_running_loop().run_in_executor(self._pool, guarded)
        running.add_done_callback(_observed)
        # A cancelled caller never leaves a half-observed write behind.
        return await asyncio.shield(running)

    def _open(self) -> sqlite3.Connection:
        if self._db is None:
            self._db = table.opened(self._file, self._indexes)
        return self._db


def _observed(job: asyncio.Future[T]) -> None:
    """A caller that was cancelled no longer asks what became of the job."""
    if not job.cancelled():
        job.exception()


class _SqliteTransaction:
    """Remembers what was read and what is to be written; nothing is locked meanwhile."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self.reads: dict[str, str | None] = {}
        self.writes: list[Write] = []

    async def get(self, path: str) -> Doc | None:
        if self.writes:
            raise Invalid("read after write in a transaction")
        doc = await self._store.get(path)
        self.reads.setdefault(path, doc.version if doc else None)
        return doc

    def create(self, path: str, data: Document) -> None:
        check_value(data)
        self.writes.append(Write("create", check_doc(path), data))

    def set(self, path: str, data: Document) -> None:
        check_value(data)
        self.writes.append(Write("set", check_doc(path), data))

    def update(self, path: str, fields: Mapping[str, Any]) -> None:
        self.writes.append(Write("update", check_doc(path), check_fields(fields)))

    def delete(self, path: str) -> None:
        self.writes.append(Write("delete", check_doc(path), {}))

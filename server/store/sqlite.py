"""The embedded store: one SQLite file, one table of JSON texts, every call one job on one thread.

WAL with `synchronous=FULL`: what was acknowledged survives a crash of process and machine.
Transactions are optimistic (versions of all reads are checked under the write lock), so nothing
is locked while user code awaits, and it holds across processes too.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Concatenate, Literal, NamedTuple, ParamSpec, TypeVar

from server.store.port import (
    DEFAULT_ATTEMPTS,
    DEFAULT_LIMIT,
    MAX_BYTES,
    MISSING,
    AlreadyExists,
    Conflict,
    Doc,
    Document,
    Invalid,
    NotFound,
    StoreDown,
    TooLarge,
    Transaction,
    check_collection,
    check_doc,
    check_field,
    check_fields,
    check_filters,
    check_order,
    check_value,
    ordered_value,
)

T = TypeVar("T")
P = ParamSpec("P")

BUSY_TIMEOUT_S = 10.0
# Equality filters of the code (DATA-25); an unindexed scan of 50 000 documents takes a second.
INDEXED_FIELDS = ("uid", "role", "kind", "date")

_RANK = (
    "CASE json_type(data,'$.{f}') WHEN 'null' THEN 0 WHEN 'false' THEN 1 WHEN 'true' THEN 1 "
    "WHEN 'integer' THEN 2 WHEN 'real' THEN 2 WHEN 'text' THEN 3 WHEN 'array' THEN 4 ELSE 5 END"
)
_RANK_OF = {type(None): 0, bool: 1, int: 2, float: 2, str: 3}
_SCHEMA = (
    # With WITHOUT ROWID the planner ignores the expression indexes until ANALYZE has run.
    "CREATE TABLE IF NOT EXISTS docs(coll TEXT NOT NULL, id TEXT NOT NULL, ver INTEGER NOT NULL,"
    " data TEXT NOT NULL, PRIMARY KEY(coll, id))",
    # One counter for all documents: deleting and creating again never repeats a version.
    "CREATE TABLE IF NOT EXISTS clock(one INTEGER PRIMARY KEY CHECK(one=1), ver INTEGER NOT NULL)",
    "INSERT OR IGNORE INTO clock VALUES(1, 0)",
)


class _Write(NamedTuple):
    kind: Literal["create", "set", "update", "delete"]
    path: str
    value: dict[str, Any]
    if_version: str | None = None


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _put(data: Document, path: str, value: Any) -> None:
    *head, last = path.split(".")
    for key in head:
        if not isinstance(data.get(key), dict):
            data[key] = {}
        data = data[key]
    if value is MISSING:
        data.pop(last, None)
    else:
        data[last] = value


class SqliteStore:
    """`Store` over one file, created with its folder (owner access only) on first use."""

    def __init__(self, file: Path, *, indexes: Sequence[str] = INDEXED_FIELDS) -> None:
        self._file = file
        self._indexes = tuple(indexes)
        # The connection is opened, used and closed in this one thread.
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="sqlite")
        self._db: sqlite3.Connection | None = None

    async def open(self) -> None:
        await self._run(lambda db: None)

    async def get(self, path: str) -> Doc | None:
        return await self._run(_get, check_doc(path))

    async def create(self, path: str, data: Document) -> None:
        check_value(data)
        await self._run(_apply, [_Write("create", check_doc(path), data)], {})

    async def set(self, path: str, data: Document) -> None:
        check_value(data)
        await self._run(_apply, [_Write("set", check_doc(path), data)], {})

    async def update(
        self, path: str, fields: Mapping[str, Any], *, if_version: str | None = None
    ) -> None:
        write = _Write("update", check_doc(path), check_fields(fields), if_version)
        await self._run(_apply, [write], {})

    async def delete(self, path: str) -> None:
        await self._run(_apply, [_Write("delete", check_doc(path), {})], {})

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
        return await self._run(_query, collection, filters, order_by, desc, limit, after)

    async def transaction(
        self, work: Callable[[Transaction], Awaitable[T]], *, attempts: int = DEFAULT_ATTEMPTS
    ) -> T:
        for attempt in range(attempts):
            transaction = _SqliteTransaction(self)
            result = await work(transaction)
            try:
                if transaction.writes:
                    await self._run(_apply, transaction.writes, transaction.reads)
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

        # A cancelled caller never leaves a half-observed write behind.
        return await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._pool, guarded))

    def _open(self) -> sqlite3.Connection:
        if self._db is None:
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(self._file, os.O_CREAT | os.O_RDWR, 0o600))
            db = sqlite3.connect(self._file, timeout=BUSY_TIMEOUT_S, isolation_level=None)
            try:
                db.execute("PRAGMA journal_mode=WAL")
                db.execute("PRAGMA synchronous=FULL")
                for statement in _SCHEMA:
                    db.execute(statement)
                for field in self._indexes:
                    name = check_field(field).replace(".", "_")
                    db.execute(
                        f"CREATE INDEX IF NOT EXISTS by_{name} ON docs(coll, data->'$.{field}')"
                    )
            except BaseException:
                db.close()
                raise
            self._db = db
        return self._db


class _SqliteTransaction:
    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self.reads: dict[str, str | None] = {}
        self.writes: list[_Write] = []

    async def get(self, path: str) -> Doc | None:
        if self.writes:
            raise Invalid("read after write in a transaction")
        doc = await self._store.get(path)
        self.reads.setdefault(path, doc.version if doc else None)
        return doc

    def create(self, path: str, data: Document) -> None:
        check_value(data)
        self.writes.append(_Write("create", check_doc(path), data))

    def set(self, path: str, data: Document) -> None:
        check_value(data)
        self.writes.append(_Write("set", check_doc(path), data))

    def update(self, path: str, fields: Mapping[str, Any]) -> None:
        self.writes.append(_Write("update", check_doc(path), check_fields(fields)))

    def delete(self, path: str) -> None:
        self.writes.append(_Write("delete", check_doc(path), {}))


# --- jobs: each runs whole on the store's thread ------------------------------------------------


def _row(db: sqlite3.Connection, path: str) -> tuple[str, int] | None:
    row: tuple[str, int] | None = db.execute(
        "SELECT data, ver FROM docs WHERE coll=? AND id=?", tuple(path.rsplit("/", 1))
    ).fetchone()
    return row


def _get(db: sqlite3.Connection, path: str) -> Doc | None:
    row = _row(db, path)
    return Doc(path, json.loads(row[0]), str(row[1])) if row else None


def _apply(
    db: sqlite3.Connection, writes: Sequence[_Write], reads: Mapping[str, str | None]
) -> None:
    db.execute("BEGIN IMMEDIATE")
    try:
        for path, version in reads.items():
            row = _row(db, path)
            if (str(row[1]) if row else None) != version:
                raise Conflict(path)
        (now,) = db.execute("UPDATE clock SET ver=ver+1 RETURNING ver").fetchone()
        for write in writes:
            _write(db, write, now)
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _write(db: sqlite3.Connection, write: _Write, version: int) -> None:
    collection, doc_id = write.path.rsplit("/", 1)
    if write.kind == "delete":
        db.execute("DELETE FROM docs WHERE coll=? AND id=?", (collection, doc_id))
        return
    row = _row(db, write.path)
    value = write.value
    if write.kind == "create" and row:
        raise AlreadyExists(write.path)
    if write.kind == "update":
        if not row:
            raise NotFound(write.path)
        if write.if_version is not None and str(row[1]) != write.if_version:
            raise Conflict(write.path)
        value = json.loads(row[0])
        for field, field_value in write.value.items():
            _put(value, field, field_value)
    text = _dumps(value)
    if len(text.encode()) > MAX_BYTES:
        raise TooLarge(write.path)
    db.execute(
        "INSERT INTO docs VALUES(?,?,?,?)"
        " ON CONFLICT DO UPDATE SET ver=excluded.ver, data=excluded.data",
        (collection, doc_id, version, text),
    )


def _query(
    db: sqlite3.Connection,
    collection: str,
    where: Mapping[str, Any],
    order_by: str | None,
    desc: bool,
    limit: int,
    after: Doc | None,
) -> list[Doc]:
    # Field paths are identifiers (check_field), so they may stand in the statement.
    sql = "SELECT id, data, ver FROM docs WHERE coll=?"
    bound: list[Any] = [collection]
    for field, value in where.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            # Numbers are equal by value: 1 is 1.0.
            sql += f" AND json_type(data,'$.{field}') IN ('integer','real')"
            sql += f" AND data->>'$.{field}' = ?"
            bound.append(value)
        else:
            sql += f" AND data->'$.{field}' = ?"  # equality of JSON texts: true != 1, "1" != 1
            bound.append(_dumps(value))
    direction, beyond = ("DESC", "<") if desc else ("ASC", ">")
    if order_by:
        rank, column = _RANK.format(f=order_by), f"data->>'$.{order_by}'"
        sql += f" AND json_type(data,'$.{order_by}') IS NOT NULL"
        if after:
            last = ordered_value(after, order_by)
            if last is None:
                sql += f" AND ({rank}, id) {beyond} (?, ?)"
                bound += [0, after.id]
            else:
                sql += f" AND ({rank}, {column}, id) {beyond} (?, ?, ?)"
                key = int(last) if isinstance(last, bool) else last
                bound += [_RANK_OF[type(last)], key, after.id]
        sql += f" ORDER BY {rank} {direction}, {column} {direction}, id {direction}"
    else:
        if after:
            sql += f" AND id {beyond} ?"
            bound.append(after.id)
        sql += f" ORDER BY id {direction}"
    rows = db.execute(sql + " LIMIT ?", [*bound, limit])
    return [Doc(f"{collection}/{row[0]}", json.loads(row[1]), str(row[2])) for row in rows]

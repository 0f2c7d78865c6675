"""One table of JSON texts in SQLite, and the jobs on it: each runs whole on the store's thread.

Every function raises sqlite3.Error when the file cannot be used, beside what it says.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from server.store.port import (
    MAX_BYTES,
    MISSING,
    AlreadyExists,
    Conflict,
    Doc,
    Document,
    NotFound,
    TooLarge,
    check_field,
    ordered_value,
)

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


class Write(NamedTuple):
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


def opened(file: Path, indexes: Sequence[str]) -> sqlite3.Connection:
    """The file, created with its folder (owner access only), with the table and its indexes."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
    db = sqlite3.connect(file, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    try:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=FULL")
        for statement in _SCHEMA:
            db.execute(statement)
        for field in indexes:
            name = check_field(field).replace(".", "_")
            db.execute(f"CREATE INDEX IF NOT EXISTS by_{name} ON docs(coll, data->'$.{field}')")
    except BaseException:
        db.close()
        raise
    return db


def _row(db: sqlite3.Connection, path: str) -> tuple[str, int] | None:
    row: tuple[str, int] | None = db.execute(
        "SELECT data, ver FROM docs WHERE coll=? AND id=?", tuple(path.rsplit("/", 1))
    ).fetchone()
    return row


def get(db: sqlite3.Connection, path: str) -> Doc | None:
    row = _row(db, path)
    return Doc(path, json.loads(row[0]), str(row[1])) if row else None


def apply(db: sqlite3.Connection, writes: Sequence[Write], reads: Mapping[str, str | None]) -> None:
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


def _write(db: sqlite3.Connection, write: Write, version: int) -> None:
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


def query(
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

"""One attempt at a transaction of Firestore; who repeats it, and when, is the store's business."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Protocol

from google.cloud.firestore_v1.types import common, firestore

from server.store import firestore_wire as wire
from server.store.port import Conflict, Doc, Document, Invalid


class Database(Protocol):
    """The part of FirestoreStore that an attempt needs."""

    @property
    def names(self) -> wire.Names: ...

    async def read(self, request: firestore.BatchGetDocumentsRequest) -> tuple[Doc | None, bytes]:
        """The one document asked for, and the transaction that the read began, if it did."""

    async def commit(self, writes: list[Any], transaction: bytes = b"") -> None: ...

    async def roll_back(self, transaction: bytes) -> None:
        """Raises nothing of the store's."""


class FirestoreTransaction:
    """One attempt. Begun by its first read; commits at exit, or rolls back when left by an error.

    `lost`: this attempt lost against another one and may be repeated.
    """

    def __init__(self, store: Database, earlier: bytes) -> None:
        self._store = store
        self._earlier = earlier
        self._reading = asyncio.Lock()
        self._writes: list[Any] = []
        self.id = b""
        self.lost = False

    async def __aenter__(self) -> FirestoreTransaction:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        try:
            if error is None and self._writes:
                with self._contended():
                    await self._store.commit(self._writes, self.id)
                return
        except BaseException:
            await self._roll_back()
            raise
        await self._roll_back()

    async def get(self, path: str) -> Doc | None:
        if self._writes:
            raise Invalid("read after write in a transaction")
        request = firestore.BatchGetDocumentsRequest(documents=[self._store.names.document(path)])
        async with self._reading:
            if self.id:
                request.transaction = self.id
            else:
                again = common.TransactionOptions.ReadWrite(retry_transaction=self._earlier)
                request.new_transaction = common.TransactionOptions(read_write=again)
            with self._contended():
                doc, began = await self._store.read(request)
            self.id = self.id or began
        return doc

    def create(self, path: str, data: Document) -> None:
        self._writes.append(wire.create(self._store.names, path, data))

    def set(self, path: str, data: Document) -> None:
        self._writes.append(wire.replace(self._store.names, path, data))

    def update(self, path: str, fields: Mapping[str, Any]) -> None:
        self._writes.append(wire.update(self._store.names, path, fields))

    def delete(self, path: str) -> None:
        self._writes.append(wire.delete(self._store.names, path))

    @contextlib.contextmanager
    def _contended(self) -> Iterator[None]:
        try:
            yield
        except Conflict:
            self.lost = True
            raise

    async def _roll_back(self) -> None:
        if self.id:
            await self._store.roll_back(self.id)

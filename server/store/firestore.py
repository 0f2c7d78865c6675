"""The store on Firestore: the port's semantics over gRPC, every call bounded in time.

The generated client is used rather than the one on top of it: that one reads the environment,
retries a dead backend for up to five minutes whatever timeout it is given, and hides the real
error of a transaction. Commits are never repeated (their outcome may be unknown); reads are.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import google.auth
import grpc.aio  # type: ignore[import-untyped]
from google.api_core import exceptions as api
from google.auth import exceptions as auth
from google.cloud.firestore_v1.services.firestore import FirestoreAsyncClient
from google.cloud.firestore_v1.services.firestore.transports import FirestoreGrpcAsyncIOTransport
from google.cloud.firestore_v1.types import firestore, query

from server.store import firestore_wire as wire
from server.store.firestore_errors import translated
from server.store.firestore_transaction import FirestoreTransaction
from server.store.port import (
    DEFAULT_ATTEMPTS,
    DEFAULT_LIMIT,
    CannotOpen,
    Conflict,
    Doc,
    Document,
    StoreDown,
    StoreError,
    Transaction,
)

T = TypeVar("T")

SCOPES = ("https://www.googleapis.com/auth/datastore",)
READ_ATTEMPTS = 3
READ_PAUSE_S = 0.1
RETRY_PAUSE_S, RETRY_PAUSE_MAX_S = 0.05, 1.0


@dataclass(frozen=True, slots=True)
class Deadlines:
    """In seconds. `transaction` spans all attempts and the caller's own work in them."""

    connect: float = 10.0
    call: float = 5.0
    query: float = 10.0
    transaction: float = 20.0
    rollback: float = 1.0


class FirestoreStore:
    """`Store` over one database of `project`. Connects at first use, inside the running loop.

    With `emulator_host` (host:port) it talks plain text to an emulator and needs no credentials.
    """

    def __init__(
        self, project: str, *, emulator_host: str | None = None, deadlines: Deadlines | None = None
    ) -> None:
        self.names = wire.Names(project)
        self.deadlines = deadlines or Deadlines()
        self._emulator_host = emulator_host
        self._metadata = (("google-cloud-resource-prefix", self.names.database),)
        self._opening = asyncio.Lock()
        self._client: FirestoreAsyncClient | None = None
        self._closed = False

    async def open(self) -> None:
        """Raises CannotOpen when there are no credentials."""
        await self._connected()

    async def get(self, path: str) -> Doc | None:
        doc, _ = await self.read(firestore.BatchGetDocumentsRequest(documents=[self._name(path)]))
        return doc

    async def create(self, path: str, data: Document) -> None:
        await self.commit([wire.create(self.names, path, data)])

    async def set(self, path: str, data: Document) -> None:
        await self.commit([wire.replace(self.names, path, data)])

    async def update(
        self, path: str, fields: Mapping[str, Any], *, if_version: str | None = None
    ) -> None:
        await self.commit([wire.update(self.names, path, fields, if_version)])

    async def delete(self, path: str) -> None:
        await self.commit([wire.delete(self.names, path)])

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
        parent, collection_id = self.names.split_collection(collection)
        asked = wire.structured_query(
            self.names, collection_id, where, order_by, desc, limit, after
        )
        request = firestore.RunQueryRequest(
            parent=parent, structured_query=query.StructuredQuery.wrap(asked)
        )

        async def call(client: FirestoreAsyncClient) -> list[Doc]:
            stream = await client.run_query(
                request, retry=None, timeout=self.deadlines.query, metadata=self._metadata
            )
            answers = [firestore.RunQueryResponse.pb(answer) async for answer in stream]
            return [
                wire.doc_of(self.names, answer.document)
                for answer in answers
                if answer.HasField("document")
            ]

        return await self._ask(call, self.deadlines.query, attempts=READ_ATTEMPTS)

    async def transaction(
        self, work: Callable[[Transaction], Awaitable[T]], *, attempts: int = DEFAULT_ATTEMPTS
    ) -> T:
        try:
            async with asyncio.timeout(self.deadlines.transaction) as deadline:
                return await self._attempt(work, attempts)
        except TimeoutError as error:
            if not deadline.expired():
                raise
            raise StoreDown("a transaction took too long") from error

    async def close(self) -> None:
        self._closed = True
        client, self._client = self._client, None
        if client is not None:
            await client.transport.close()  # type: ignore[no-untyped-call]

    # --- for transactions, which bring their own request fields ---------------------------------

    async def read(self, request: firestore.BatchGetDocumentsRequest) -> tuple[Doc | None, bytes]:
        """The one document asked for, and the transaction that the read began, if it did."""
        request.database = self.names.database

        async def call(client: FirestoreAsyncClient) -> tuple[Doc | None, bytes]:
            stream = await client.batch_get_documents(
                request, retry=None, timeout=self.deadlines.call, metadata=self._metadata
            )
            doc, began = None, b""
            async for wrapped in stream:
                answer = firestore.BatchGetDocumentsResponse.pb(wrapped)
                began = answer.transaction or began
                if answer.HasField("found"):
                    doc = wire.doc_of(self.names, answer.found)
            return doc, began

        # A repeated read that begins a transaction leaves the first one to expire by itself.
        return await self._ask(call, self.deadlines.call, attempts=READ_ATTEMPTS)

    async def commit(self, writes: list[Any], transaction: bytes = b"") -> None:
        request = firestore.CommitRequest(
            database=self.names.database, writes=wire.writes_in(writes), transaction=transaction
        )

        async def call(client: FirestoreAsyncClient) -> None:
            await client.commit(
                request, retry=None, timeout=self.deadlines.call, metadata=self._metadata
            )

        await self._ask(call, self.deadlines.call)

    async def roll_back(self, transaction: bytes) -> None:
        """Frees the locks; when that fails, the server does so by itself after a minute."""
        request = firestore.RollbackRequest(database=self.names.database, transaction=transaction)

        async def call(client: FirestoreAsyncClient) -> None:
            await client.rollback(
                request, retry=None, timeout=self.deadlines.rollback, metadata=self._metadata
            )

        with contextlib.suppress(StoreError):
            await self._ask(call, self.deadlines.rollback)

    # --- inside ---------------------------------------------------------------------------------

    def _name(self, path: str) -> str:
        return self.names.document(path)

    async def _attempt(self, work: Callable[[Transaction], Awaitable[T]], attempts: int) -> T:
        earlier = b""
        for attempt in range(attempts):
            try:
                async with FirestoreTransaction(self, earlier) as transaction:
                    result = await work(transaction)
                return result
            except Conflict:
                if not transaction.lost or attempt == attempts - 1:
                    raise
            earlier = transaction.id
            pause_s = min(RETRY_PAUSE_S * 2**attempt, RETRY_PAUSE_MAX_S)
            await asyncio.sleep(random.uniform(0, pause_s))
        raise Conflict("no attempt was allowed")

    async def _ask(
        self,
        call: Callable[[FirestoreAsyncClient], Awaitable[T]],
        within_s: float,
        *,
        attempts: int = 1,
    ) -> T:
        client = await self._connected()
        try:
            async with asyncio.timeout(within_s):
                while True:
                    attempts -= 1
                    try:
                        return await call(client)
                    except api.ServiceUnavailable:
                        if not attempts:
                            raise
                    await asyncio.sleep(READ_PAUSE_S)
        except TimeoutError as error:
            raise StoreDown(f"Firestore did not answer within {within_s} s") from error
        except api.GoogleAPICallError as error:
            raise translated(error) from error

    async def _connected(self) -> FirestoreAsyncClient:
        async with self._opening:
            if self._closed:
                raise StoreDown("the store is closed")
            if self._client is None:
                self._client = await self._connect()
            return self._client

    async def _connect(self) -> FirestoreAsyncClient:
        if self._emulator_host is not None:
            channel = grpc.aio.insecure_channel(
                self._emulator_host, options=[("grpc.max_receive_message_length", -1)]
            )
            return FirestoreAsyncClient(transport=FirestoreGrpcAsyncIOTransport(channel=channel))
        try:
            async with asyncio.timeout(self.deadlines.connect):
                # Reads files, and asks this machine's metadata service when there are none.
                credentials, _ = await asyncio.to_thread(google.auth.default, scopes=SCOPES)
        except (auth.GoogleAuthError, TimeoutError) as error:
            raise CannotOpen(
                "PIDJIN_STORE=firestore needs credentials: set GOOGLE_APPLICATION_CREDENTIALS to "
                f"the key file of a service account ({str(error) or 'none were found in time'})"
            ) from error
        return FirestoreAsyncClient(credentials=credentials)

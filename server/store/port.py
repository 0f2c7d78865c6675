"""The whole vocabulary that the application has for stored documents, and its common subset.

Whatever one backend would treat differently from another is refused here, once, for both. A path
is `collection/id` (deeper nesting alternates); a document is a JSON object.
"""

from __future__ import annotations

import math
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

T = TypeVar("T")
Document = dict[str, Any]

# Firestore takes 1 MiB per document, overhead included.
MAX_BYTES = 900_000
MAX_DEPTH = 18
DEFAULT_LIMIT = 100
DEFAULT_ATTEMPTS = 5

_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}\Z")
# Ids that a client may choose, and keys of stored objects: what every backend takes (DATA-25).
ID = re.compile(r"(?!__.*__\Z)[A-Za-z0-9_-]{1,128}\Z")
_SEGMENT = re.compile(r"(?!__.*__\Z)(?!\.{1,2}\Z)[^/\x00]{1,200}\Z")


class StoreError(Exception):
    """Base of what a store may raise."""


class NotFound(StoreError):
    """`update` of a document that is not there."""


class AlreadyExists(StoreError):
    """`create` of a document that is there."""


class Conflict(StoreError):
    """Lost an optimistic race too often, or `if_version` did not match."""


class StoreDown(StoreError):
    """The backend is down, full or too slow."""


class CannotOpen(StoreDown):
    """The backend's packages or credentials are missing; the sentence names what to set."""


class Invalid(StoreError, ValueError):
    """A path, field or value outside the common subset."""


class TooLarge(Invalid):
    """The document would exceed MAX_BYTES."""


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


# As a value in `update`: removes the field.
MISSING: Final = _Missing()


@dataclass(frozen=True, slots=True)
class Doc:
    """One stored document. `version` is opaque and changes on every write."""

    path: str
    data: Document
    version: str

    @property
    def id(self) -> str:
        return self.path.rsplit("/", 1)[1]


def check_doc(path: str) -> str:
    segments = path.split("/")
    if len(segments) % 2 or not all(_SEGMENT.match(segment) for segment in segments):
        raise Invalid(f"not a document path: {path!r}")
    return path


def check_collection(path: str) -> str:
    segments = path.split("/")
    if len(segments) % 2 == 0 or not all(_SEGMENT.match(segment) for segment in segments):
        raise Invalid(f"not a collection path: {path!r}")
    return path


def check_field(path: str) -> str:
    """A dotted field path of identifiers (the only form both backends read alike)."""
    if not all(_FIELD.match(segment) for segment in path.split(".")):
        raise Invalid(f"bad field path: {path!r}")
    return path


def check_value(value: object, *, in_array: bool = False, depth: int = 0) -> None:
    """Raises Invalid unless `value` round-trips unchanged through every backend."""
    if depth > MAX_DEPTH:
        raise Invalid("nested too deep")
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        if not value.isascii():
            try:
                value.encode("utf-8")
            except UnicodeEncodeError:
                raise Invalid("lone surrogate in a string") from None
    elif isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise Invalid("integer out of the 64-bit range")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise Invalid("NaN and infinity are not portable")
    elif isinstance(value, list):
        if in_array:
            raise Invalid("array directly in an array")
        for item in value:
            check_value(item, in_array=True, depth=depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str) or not ID.match(key):
                raise Invalid(f"bad key: {key!r}")
            check_value(item, depth=depth + 1)
    else:
        raise Invalid(f"type {type(value).__name__} is not portable")


def check_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an `update`; no path may lie inside another one."""
    for path, value in fields.items():
        check_field(path)
        if value is not MISSING:
            check_value(value)
        if any(other.startswith(f"{path}.") for other in fields):
            raise Invalid(f"{path!r} is given whole and in part")
    return dict(fields)


def check_filters(where: Mapping[str, Any] | None) -> dict[str, Any]:
    """Equality filters: field to null, bool, number or text."""
    for path, value in (where or {}).items():
        check_field(path)
        check_value(value)
        if isinstance(value, list | dict):
            raise Invalid(f"only plain values can be filtered by: {path!r}")
    return dict(where or {})


def check_order(order_by: str | None, desc: bool, limit: int) -> None:
    if order_by is not None:
        check_field(order_by)
    elif desc:
        raise Invalid("descending order needs a field")
    if limit < 1:
        raise Invalid("a limit is at least 1")


def ordered_value(doc: Doc, order_by: str) -> Any:
    """What `doc` is ordered by: null, bool, number or text. Raises Invalid."""
    value: Any = doc.data
    for key in order_by.split("."):
        if not isinstance(value, dict) or key not in value:
            raise Invalid(f"{doc.path} has no {order_by!r} to go on after")
        value = value[key]
    if isinstance(value, list | dict):
        raise Invalid(f"{order_by!r} of {doc.path} cannot be gone on after")
    return value


class Transaction(Protocol):
    """Reads first, then writes; writes are applied together when the function returns."""

    async def get(self, path: str) -> Doc | None: ...
    def create(self, path: str, data: Document) -> None: ...
    def set(self, path: str, data: Document) -> None: ...
    def update(self, path: str, fields: Mapping[str, Any]) -> None: ...
    def delete(self, path: str) -> None: ...


class Store(Protocol):
    """Raises StoreDown from every call when the backend is gone, Invalid on a caller's mistake."""

    async def open(self) -> None:
        """Optional: tells a wrong set-up (CannotOpen) before anybody asks for something."""

    async def get(self, path: str) -> Doc | None: ...

    async def create(self, path: str, data: Document) -> None:
        """Raises AlreadyExists."""

    async def set(self, path: str, data: Document) -> None:
        """Replaces the whole document."""

    async def update(
        self, path: str, fields: Mapping[str, Any], *, if_version: str | None = None
    ) -> None:
        """Merges dotted fields; MISSING removes one. Raises NotFound, Conflict."""

    async def delete(self, path: str) -> None:
        """Idempotent; nested collections stay."""

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
        """Equality filters, one order (ties by id). Documents without `order_by` are left out.

        Without `order_by` by id. `after`: the last document of the page before, same query.
        """

    async def transaction(
        self, work: Callable[[Transaction], Awaitable[T]], *, attempts: int = DEFAULT_ATTEMPTS
    ) -> T:
        """`work` may run again: it must have no other effect. Raises Conflict."""

    async def close(self) -> None: ...

"""Between the store's documents and Firestore's messages. Pure: no client, no wait.

Raw protobuf messages are built, not their proto-plus wrappers: those cost several times as much
CPU, all of it on the event loop.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from google.cloud.firestore_v1.types import common, document, query, write

from server.store.port import (
    MAX_BYTES,
    MISSING,
    Doc,
    Document,
    Invalid,
    TooLarge,
    check_collection,
    check_doc,
    check_fields,
    check_filters,
    check_order,
    check_value,
    ordered_value,
)

_Value = document.Value.pb()
_Map = document.MapValue.pb()
_Array = document.ArrayValue.pb()
_Document = document.Document.pb()
_Write = write.Write.pb()
_Mask = common.DocumentMask.pb()
_Precondition = common.Precondition.pb()
_Query = query.StructuredQuery.pb()
_Cursor = query.Cursor.pb()
_ID = _Query.FieldReference(field_path="__name__")
_VERSION = re.compile(r"(\d{1,12})\.(\d{9})\Z")


class Names:
    """Full resource names of one database."""

    def __init__(self, project: str, database: str = "(default)") -> None:
        self.database = f"projects/{project}/databases/{database}"
        self._root = f"{self.database}/documents"

    def document(self, path: str) -> str:
        return f"{self._root}/{check_doc(path)}"

    def split_collection(self, path: str) -> tuple[str, str]:
        """Parent name and collection id."""
        parent, _, collection = check_collection(path).rpartition("/")
        return (f"{self._root}/{parent}" if parent else self._root), collection

    def path(self, name: str) -> str:
        return name.removeprefix(f"{self._root}/")


# --- values -------------------------------------------------------------------------------------


def encode(value: Any) -> Any:
    """A value that `check_value` lets pass, as a `Value` message."""
    match value:
        case None:
            return _Value(null_value=0)
        case bool():
            return _Value(boolean_value=value)
        case int():
            return _Value(integer_value=value)
        case float():
            return _Value(double_value=value)
        case str():
            return _Value(string_value=value)
        case list():
            return _Value(array_value=_Array(values=[encode(item) for item in value]))
        case dict():
            return _Value(map_value=_Map(fields=_encoded(value)))
    raise Invalid(f"type {type(value).__name__} is not portable")


def _encoded(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: encode(value) for key, value in fields.items()}


def decode(value: Any) -> Any:
    """The inverse of `encode`. Raises Invalid for a value that Pidjin never writes."""
    match value.WhichOneof("value_type"):
        case "null_value":
            return None
        case "array_value":
            return [decode(item) for item in value.array_value.values]
        case "map_value":
            return _decoded(value.map_value.fields)
        case ("boolean_value" | "integer_value" | "double_value" | "string_value") as kind:
            return getattr(value, kind)
        case kind:
            raise Invalid(f"a stored {kind} is none of ours")


def _decoded(fields: Mapping[str, Any]) -> Document:
    return {key: decode(value) for key, value in fields.items()}


def doc_of(names: Names, message: Any) -> Doc:
    """A `Document` message; its version is the time of its last change."""
    at = message.update_time
    path = names.path(message.name)
    return Doc(path, _decoded(message.fields), f"{at.seconds}.{at.nanos:09d}")


# --- writes -------------------------------------------------------------------------------------


def _checked_size(path: str, data: Document) -> Document:
    check_value(data)
    if len(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()) > MAX_BYTES:
        raise TooLarge(path)
    return data


def create(names: Names, path: str, data: Document) -> Any:
    stored = _Document(name=names.document(path), fields=_encoded(_checked_size(path, data)))
    return _Write(update=stored, current_document=_Precondition(exists=False))


def replace(names: Names, path: str, data: Document) -> Any:
    stored = _Document(name=names.document(path), fields=_encoded(_checked_size(path, data)))
    return _Write(update=stored)


def update(
    names: Names, path: str, fields: Mapping[str, Any], if_version: str | None = None
) -> Any:
    """A field in the mask that has no value is removed."""
    values: Document = {}
    for field, value in check_fields(fields).items():
        *head, last = field.split(".")
        inside = values
        for key in head:
            inside = inside.setdefault(key, {})
        if value is not MISSING:
            inside[last] = value
    return _Write(
        update=_Document(name=names.document(path), fields=_encoded(_checked_size(path, values))),
        update_mask=_Mask(field_paths=list(fields)),
        current_document=_unchanged(if_version) if if_version else _Precondition(exists=True),
    )


def _unchanged(version: str) -> Any:
    known = _VERSION.match(version)
    if known is None:
        raise Invalid(f"no version of this store: {version!r}")
    precondition = _Precondition()
    precondition.update_time.seconds = int(known[1])
    precondition.update_time.nanos = int(known[2])
    return precondition


def delete(names: Names, path: str) -> Any:
    return _Write(delete=names.document(path))


# --- queries ------------------------------------------------------------------------------------


def structured_query(
    names: Names,
    collection_id: str,
    where: Mapping[str, Any] | None,
    order_by: str | None,
    desc: bool,
    limit: int,
    after: Doc | None,
) -> Any:
    """Ties are broken by id in the direction of `order_by`, as Firestore's own indexes do."""
    check_order(order_by, desc, limit)
    filters = [_equals(field, value) for field, value in check_filters(where).items()]
    direction = _Query.DESCENDING if desc else _Query.ASCENDING
    order = [_Query.FieldReference(field_path=order_by)] if order_by else []
    asked = _Query(
        order_by=[_Query.Order(field=field, direction=direction) for field in (*order, _ID)],
    )
    asked.from_.add(collection_id=collection_id)
    asked.limit.value = limit
    if len(filters) == 1:
        asked.where.CopyFrom(filters[0])
    elif filters:
        both = _Query.CompositeFilter(op=_Query.CompositeFilter.AND, filters=filters)
        asked.where.composite_filter.CopyFrom(both)
    if after is not None:
        last = [encode(ordered_value(after, order_by))] if order_by else []
        last.append(_Value(reference_value=names.document(after.path)))
        asked.start_at.CopyFrom(_Cursor(values=last, before=False))
    return asked


def _equals(field: str, value: Any) -> Any:
    reference = _Query.FieldReference(field_path=field)
    if value is None:
        null = _Query.UnaryFilter(op=_Query.UnaryFilter.IS_NULL, field=reference)
        return _Query.Filter(unary_filter=null)
    equal = _Query.FieldFilter(field=reference, op=_Query.FieldFilter.EQUAL, value=encode(value))
    return _Query.Filter(field_filter=equal)


def writes_in(messages: Sequence[Any]) -> list[Any]:
    """Wrapped for the client, which takes no raw messages inside its own."""
    return [write.Write.wrap(message) for message in messages]

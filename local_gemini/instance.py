"""The smallest value that a JSON schema (or an OpenAPI-like Gemini schema) allows. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MAX_DEPTH = 16


def instance_of(schema: Mapping[str, Any], words: str = "", *, depth: int = 0) -> Any:
    """`words` fill strings; required properties only are filled when `required` is there."""
    return _instance(schema, schema, words, depth)


def _instance(schema: Mapping[str, Any], root: Mapping[str, Any], words: str, depth: int) -> Any:
    if depth > MAX_DEPTH:
        return None
    reference = schema.get("$ref") or schema.get("ref")
    if reference:
        found: Any = root
        for step in str(reference).removeprefix("#/").split("/"):
            found = found.get(step, {})
        return _instance(found, root, words, depth + 1)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    for either in ("anyOf", "any_of", "oneOf", "allOf"):
        if schema.get(either):
            return _instance(schema[either][0], root, words, depth + 1)
    if "default" in schema:
        return schema["default"]
    kind = schema.get("type", "object" if "properties" in schema else "string")
    if isinstance(kind, list):
        kind = kind[0]
    return _of_kind(str(kind).lower(), schema, root, words, depth)


def _of_kind(
    kind: str, schema: Mapping[str, Any], root: Mapping[str, Any], words: str, depth: int
) -> Any:
    if kind == "object":
        properties = schema.get("properties") or {}
        wanted = schema.get("required", list(properties))
        return {
            name: _instance(properties[name], root, words, depth + 1)
            for name in properties
            if name in wanted
        }
    if kind == "array":
        count = int(schema.get("minItems", schema.get("min_items", 1)))
        return [_instance(schema.get("items") or {}, root, words, depth + 1) for _ in range(count)]
    if kind in ("integer", "number"):
        return schema.get("minimum", 0)
    return {"boolean": False, "null": None}.get(kind, words)

"""The API description, generated from the registry: no operation is described twice."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import models_json_schema

from server.errors import HTTP_STATUS, Code
from server.registry import Operation, Registry

_REFERENCES = "#/components/schemas/{model}"
_ERROR_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["status", "code", "message", "details"],
            "properties": {
                "status": {"type": "string"},
                "code": {"type": "string", "enum": [code.value for code in Code]},
                "message": {"type": "string"},
                "details": {"type": "object"},
            },
        }
    },
}


def openapi(registry: Registry, version: str) -> dict[str, Any]:
    """OpenAPI 3.1 of every operation in both forms."""
    operations: list[Operation[Any, Any]] = list(registry)
    models = {op.request for op in operations} | {op.response for op in operations}
    _, definitions = models_json_schema(
        [(model, "validation") for model in sorted(models, key=lambda m: m.__name__)],
        by_alias=True,
        ref_template=_REFERENCES,
    )
    return {
        "openapi": "3.1.0",
        "info": {"title": "Pidjin", "version": version},
        "paths": {f"/api/{op.name}": {"post": _described(op)} for op in operations},
        "components": {
            "schemas": {**definitions.get("$defs", {}), "Error": _ERROR_SCHEMA},
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": "pidjin_session"},
            },
        },
        "security": [{"bearer": []}, {"cookie": []}],
    }


def _described(operation: Operation[Any, Any]) -> dict[str, Any]:
    errors = {
        str(status): {
            "description": "Refused or failed",
            "content": _json("Error"),
        }
        for status in sorted(set(HTTP_STATUS.values()))
    }
    return {
        "operationId": operation.name,
        "summary": operation.summary,
        "description": (
            f"Needs the role `{operation.role.value}`. In the callable envelope: "
            f"`POST /callable/{operation.name}` with `data`."
            + (" Counts against the daily cap." if operation.quota else "")
        ),
        "requestBody": {"required": True, "content": _json(operation.request.__name__)},
        "responses": {
            "200": {"description": "Done", "content": _json(operation.response.__name__)},
            **errors,
        },
    }


def _json(schema: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": _REFERENCES.format(model=schema)}}}

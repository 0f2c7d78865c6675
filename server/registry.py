"""Operations as data: one table feeds HTTP, the callable envelope and the API description.

`perform` keeps the order of API-3: identity (by then proven), role, input; ownership, quota and
work are the operation's own, in that order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from server.callers import Caller
from server.complaints import complaint
from server.context import Context
from server.errors import Code, Unavailable, invalid
from server.roles import Role, require
from server.trouble import translated

# API-49: operations that call a model, and the rest.
MODEL_DEADLINE_S = 60.0
PLAIN_DEADLINE_S = 30.0
# The largest body any operation but `groundDocument` needs, in bytes.
BODY_MAX = 128 * 1024


class Wire(BaseModel):
    """A JSON object on the wire: camelCase, no coercion of types, unknown fields ignored."""

    model_config = ConfigDict(
        strict=True,
        frozen=True,
        extra="ignore",
        alias_generator=to_camel,
        populate_by_name=True,
    )


RequestT = TypeVar("RequestT", bound=Wire)
ResponseT = TypeVar("ResponseT", bound=Wire)


@dataclass(frozen=True, slots=True)
class Operation(Generic[RequestT, ResponseT]):
    """One named operation. `quota`: it counts against the daily cap when it calls a model."""

    name: str
    summary: str
    request: type[RequestT]
    response: type[ResponseT]
    role: Role
    run: Callable[[Context, Caller, RequestT], Awaitable[ResponseT]]
    quota: bool = False
    deadline_s: float = PLAIN_DEADLINE_S
    body_max: int = BODY_MAX


class Registry:
    """Operations by name; a name is taken once."""

    def __init__(self, operations: Iterable[Operation[Any, Any]]) -> None:
        self._operations: dict[str, Operation[Any, Any]] = {}
        for operation in operations:
            if operation.name in self._operations:
                raise ValueError(f"operation {operation.name} is registered twice")
            self._operations[operation.name] = operation

    def __iter__(self) -> Iterator[Operation[Any, Any]]:
        return iter(self._operations.values())

    def __getitem__(self, name: str) -> Operation[Any, Any]:
        return self._operations[name]


def parse(model: type[RequestT], payload: object) -> RequestT:
    """`payload` as `model`. Raises `invalid-argument` naming every wrong field."""
    if not isinstance(payload, dict):
        raise invalid("The request must be a JSON object.")
    try:
        return model.model_validate(payload)
    except ValidationError as error:
        raise complaint(error) from None


async def perform(
    ctx: Context, operation: Operation[Any, Any], caller: Caller, payload: object
) -> dict[str, Any]:
    """Checks, runs within the operation's deadline, and gives the JSON of the response."""
    require(caller.role, operation.role)
    request = parse(operation.request, payload)
    try:
        with translated():
            async with asyncio.timeout(operation.deadline_s):
                response: Wire = await operation.run(ctx, caller, request)
    except TimeoutError as error:
        raise Unavailable(
            "This took too long and was stopped. Please try again.",
            code=Code.DEADLINE_EXCEEDED,
            details={"reason": "too-slow"},
        ) from error
    return to_json(response)


def to_json(response: Wire) -> dict[str, Any]:
    """Fields that were not set are absent; fields set to null stay null."""
    return response.model_dump(mode="json", by_alias=True, exclude_unset=True)

"""The one error tree of the server, and its wire form. No I/O.

Adapters translate foreign exceptions into these; a message is a sentence for the person in front
of the screen, `details` is for programs, and neither ever carries a key or a stack trace.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class Code(StrEnum):
    """The callable error codes of API-1."""

    INVALID_ARGUMENT = "invalid-argument"
    FAILED_PRECONDITION = "failed-precondition"
    UNAUTHENTICATED = "unauthenticated"
    PERMISSION_DENIED = "permission-denied"
    NOT_FOUND = "not-found"
    ABORTED = "aborted"
    RESOURCE_EXHAUSTED = "resource-exhausted"
    INTERNAL = "internal"
    UNAVAILABLE = "unavailable"
    DEADLINE_EXCEEDED = "deadline-exceeded"


HTTP_STATUS: Mapping[Code, int] = {
    Code.INVALID_ARGUMENT: 400,
    Code.FAILED_PRECONDITION: 400,
    Code.UNAUTHENTICATED: 401,
    Code.PERMISSION_DENIED: 403,
    Code.NOT_FOUND: 404,
    Code.ABORTED: 409,
    Code.RESOURCE_EXHAUSTED: 429,
    Code.INTERNAL: 500,
    Code.UNAVAILABLE: 503,
    Code.DEADLINE_EXCEEDED: 504,
}


class PidjinError(Exception):
    """Base of every error that may reach a client. `retry_after_s` is in seconds."""

    def __init__(
        self,
        code: Code,
        message: str,
        *,
        details: Mapping[str, Any] | None = None,
        retry_after_s: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details: dict[str, Any] = dict(details or {})
        self.retry_after_s = retry_after_s

    @property
    def http_status(self) -> int:
        return HTTP_STATUS[self.code]

    def to_wire(self) -> dict[str, Any]:
        """The envelope of DESIGN 3.1; its `status` is what Firebase callable clients read."""
        return {
            "error": {
                "status": self.code.value.upper().replace("-", "_"),
                "code": self.code.value,
                "message": self.message,
                "details": self.details,
            }
        }


class Refused(PidjinError):
    """The caller can do something about it: other input, another account, later."""


class Unavailable(PidjinError):
    """A dependency is down or slow: the same call may work later."""

    def __init__(
        self,
        message: str,
        *,
        code: Code = Code.UNAVAILABLE,
        details: Mapping[str, Any] | None = None,
        retry_after_s: int | None = 5,
    ) -> None:
        super().__init__(code, message, details=details, retry_after_s=retry_after_s)


class Broken(PidjinError):
    """Our own bug: logged with its cause, told in one neutral sentence."""

    def __init__(self) -> None:
        super().__init__(
            Code.INTERNAL, "Something went wrong on our side. Please try again in a moment."
        )


def invalid(message: str, **details: Any) -> Refused:
    return Refused(Code.INVALID_ARGUMENT, message, details=details)


def denied(message: str, **details: Any) -> Refused:
    return Refused(Code.PERMISSION_DENIED, message, details=details)


def not_ready(message: str, **details: Any) -> Refused:
    """`failed-precondition`: right input, wrong moment."""
    return Refused(Code.FAILED_PRECONDITION, message, details=details)


def missing(message: str, **details: Any) -> Refused:
    return Refused(Code.NOT_FOUND, message, details=details)

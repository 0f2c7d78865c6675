"""Where foreign errors end: store and model failures become sentences with a callable code."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from agent.failures import ModelError, ModelRefused, ModelTimeout, ModelUnavailable
from server.errors import Code, PidjinError, Refused, Unavailable, invalid, not_ready
from server.store.port import Conflict, Invalid, StoreDown, TooLarge

log = logging.getLogger(__name__)


def translate(error: Exception) -> PidjinError | None:
    """The error a client may see, or None for one that only a bug explains."""
    match error:
        case PidjinError():
            return error
        case ModelTimeout():
            return Unavailable(
                "The tutor took too long to answer. Please try again.",
                code=Code.DEADLINE_EXCEEDED,
                details={"reason": "model-slow"},
            )
        case ModelUnavailable():
            return Unavailable(
                "The tutor cannot be reached right now. Please try again shortly.",
                details={"reason": "model-down"},
            )
        case ModelRefused():
            return not_ready(str(error), reason="model-refused")
        case ModelError():
            return Unavailable(
                "The tutor’s answer could not be used. Please try again.",
                details={"reason": "model-answer"},
            )
        case StoreDown():
            return Unavailable(
                "Your data cannot be reached right now. Please try again shortly.",
                details={"reason": "store-down"},
            )
        case Conflict():
            return Refused(
                Code.ABORTED,
                "Somebody changed this at the same moment. Please try again.",
                details={"reason": "changed"},
                retry_after_s=1,
            )
        case TooLarge():
            return not_ready("This conversation is full. Please start a new one.", reason="full")
        case Invalid():
            return invalid(
                "The request contains a name or value that cannot be stored.", reason="unstorable"
            )
        case _:
            return None


@contextmanager
def translated() -> Iterator[None]:
    """Turns known failures of store and model into PidjinError; logs what caused them."""
    try:
        yield
    except PidjinError:
        raise
    except Exception as error:  # boundary: re-raised, translated or as it is
        known = translate(error)
        if known is None:
            raise
        log.warning(
            "dependency_failed",
            extra={
                "kind": type(error).__name__,
                "detail": error.detail if isinstance(error, ModelError) else str(error),
            },
        )
        raise known from error

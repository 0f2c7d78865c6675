"""What Firestore's refusals mean to the application. No I/O."""

from __future__ import annotations

from google.api_core import exceptions as api

from server.store.port import (
    AlreadyExists,
    Conflict,
    Invalid,
    NotFound,
    StoreDown,
    StoreError,
    TooLarge,
)


def translated(error: api.GoogleAPICallError) -> StoreError:
    """What an answer of the service means to the application."""
    text = str(error.message)
    match error:
        case api.AlreadyExists():
            return AlreadyExists(text)
        case api.NotFound():
            # Also the answer of a project that has no such database.
            return StoreDown(text) if "The database" in text else NotFound(text)
        case api.FailedPrecondition():
            # "The query requires an index": a mistake of the deployment, not a lost race.
            return StoreError(text) if "index" in text.lower() else Conflict(text)
        case api.Aborted():
            return Conflict(text)
        case api.InvalidArgument():
            too_large = "maximum" in text and "size" in text
            return TooLarge(text) if too_large else Invalid(text)
        case api.Unknown() | api.ServerError() | api.Cancelled() | api.TooManyRequests():
            return StoreDown(text)
        case api.Forbidden() | api.Unauthorized():
            return StoreDown(text)
        case _:
            return StoreError(text)

"""Field types that several operations share, with their limits."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from agent.prompts.quoting import one_line
from server.email_address import MAX_CHARS, email_address
from server.errors import invalid
from server.store.port import ID


def _storable(value: str) -> str:
    if not ID.match(value):
        raise ValueError("must not begin and end with __")
    return value


# The pattern is for the API's description: it cannot say what `ID` says.
StoreId = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,128}$"), AfterValidator(_storable)
]
SessionId = StoreId
TopicId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Uid = StoreId
Style = Literal["socratic", "conversational", "lecture"]

Name = Annotated[str, Field(max_length=80), AfterValidator(one_line)]
Email = Annotated[str, Field(max_length=MAX_CHARS), AfterValidator(email_address)]

REVEAL_STATE_MAX_CHARS = 32_000


def _not_blank(value: str) -> str:
    """Spaces and invisible characters alone are nothing to work with."""
    if not one_line(value):
        raise ValueError("must not be empty")
    return value


NotBlank = AfterValidator(_not_blank)


def check_words(text: str) -> None:
    """Raises `invalid-argument` unless there is a letter or digit of any script."""
    if not any(char.isalnum() for char in text):
        raise invalid("There are no sentences to read in this text.")

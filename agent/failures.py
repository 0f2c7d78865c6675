"""What can go wrong with a model, in words a person can read. Never carries a key or a prompt."""

from __future__ import annotations


class ModelError(Exception):
    """`detail` is for logs: scrubbed of the key, at most 200 characters."""

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.detail = detail


class ModelUnavailable(ModelError):
    """The service is overloaded, rate-limited or unreachable; a later try may work."""


class ModelTimeout(ModelUnavailable):
    """No answer within the deadline."""


class ModelRefused(ModelError):
    """The service will not answer this request: bad key, unknown model, blocked prompt."""


class ModelAnswerUnusable(ModelError):
    """An answer arrived that cannot be used: empty, cut off, or not the JSON asked for."""


class EmptyAnswer(ModelAnswerUnusable):
    """Neither text nor a function call (MOVE-16); worth another attempt."""

    def __init__(self, finish_reason: str, part_kinds: tuple[str, ...]) -> None:
        kinds = ", ".join(part_kinds) or "no parts"
        super().__init__("The model gave an empty answer.", f"{finish_reason}: {kinds}")
        self.finish_reason = finish_reason
        self.part_kinds = part_kinds


class ToolLoop(ModelAnswerUnusable):
    """The model kept calling tools instead of answering; worth another attempt."""

    def __init__(self, calls: int) -> None:
        super().__init__("The model found no end.", f"{calls} calls without an answer")


class NoDecision(ModelAnswerUnusable):
    """No usable decision after every attempt (MOVE-11)."""

    def __init__(self, attempts: int, detail: str) -> None:
        super().__init__("The tutor could not decide on its next step.", detail)
        self.attempts = attempts

"""What other parts of the process must hear about at once: access that ended, sessions that went.

Subscribers are called synchronously, in order, and must not block.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from server.roles import Role

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SignedOut:
    """A credential was revoked; voice lessons opened with it end (AUTH-24)."""

    uid: str
    credential_id: str


@dataclass(frozen=True, slots=True)
class RoleChanged:
    uid: str
    role: Role


@dataclass(frozen=True, slots=True)
class SessionClosed:
    """A session was ended or deleted; nothing more may be stored for it."""

    session_id: str
    uid: str


@dataclass(frozen=True, slots=True)
class StyleChanged:
    session_id: str
    uid: str
    style: str


Announcement = SignedOut | RoleChanged | SessionClosed | StyleChanged
Subscriber = Callable[[Announcement], None]


class Announcements:
    def __init__(self) -> None:
        self._subscribers: list[Subscriber] = []

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Returns the function that ends the subscription."""
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)

    def publish(self, announcement: Announcement) -> None:
        for subscriber in tuple(self._subscribers):
            try:
                subscriber(announcement)
            except Exception:  # boundary: one subscriber's bug must not undo a done write
                log.exception("subscriber_failed", extra={"event": type(announcement).__name__})

"""Tokens that were verified a moment ago, and sign-ins that ended early. Bounded; no clock, no I/O.

Only hashes of tokens are kept. Overflow: what was used longest ago is forgotten.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from datetime import datetime
from typing import Generic, TypeVar

V = TypeVar("V")

ENTRIES_MAX = 4096


def digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


class Expiring(Generic[V]):
    """A bounded map whose entries end at their own moment."""

    def __init__(self, entries_max: int = ENTRIES_MAX) -> None:
        self._entries_max = entries_max
        self._entries: OrderedDict[bytes, tuple[V, datetime]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: bytes, now: datetime) -> V | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        value, until = entry
        if until <= now:
            del self._entries[key]
            return None
        self._entries.move_to_end(key)
        return value

    def put(self, key: bytes, value: V, until: datetime) -> None:
        self._entries[key] = (value, until)
        self._entries.move_to_end(key)
        if len(self._entries) > self._entries_max:
            self._entries.popitem(last=False)

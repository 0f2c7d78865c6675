"""One lock per session, so that its turns are stored in the order they were asked for (API-25)."""

from __future__ import annotations

import asyncio
from weakref import WeakValueDictionary


class SessionLocks:
    """Locks live as long as somebody holds or awaits them: no growth with past sessions."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def of(self, session_id: str) -> asyncio.Lock:
        lock = self._locks.get(session_id)
        if lock is None:
            lock = self._locks[session_id] = asyncio.Lock()
        return lock

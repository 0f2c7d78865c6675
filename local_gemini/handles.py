"""Session resumption: which handle brings back which conversation, and when it is refused.

Time comes in as UTC datetimes; no I/O.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from local_gemini.engine import Mind
from local_gemini.usage import Context
from local_gemini.wire import WireError

# A handle is good for two hours after its connection ended.
VALID = timedelta(hours=2)
HANDLES_PER_SESSION = 8
MAX_HANDLES = 8000
MAX_HISTORY = 200


@dataclass(slots=True)
class Memory:
    """What outlives a connection: the tutor's mind, the context window, the words so far."""

    mind: Mind
    context: Context
    model: str
    history: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=MAX_HISTORY))
    handles: deque[str] = field(default_factory=deque)
    connected: bool = True
    left_at: datetime | None = None

    def remember(self, role: str, text: str) -> None:
        self.history.append((role, text))


class Handles:
    """All handles of a server; the oldest are forgotten beyond MAX_HANDLES."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Memory] = OrderedDict()

    def issue(self, memory: Memory) -> str:
        """A new handle; only the newest HANDLES_PER_SESSION of a conversation stay valid."""
        handle = secrets.token_urlsafe(24)
        self._known[handle] = memory
        memory.handles.append(handle)
        while len(memory.handles) > HANDLES_PER_SESSION:
            self._known.pop(memory.handles.popleft(), None)
        while len(self._known) > MAX_HANDLES:
            self._known.popitem(last=False)
        return handle

    def take(self, handle: str, model: str, now: datetime) -> Memory:
        """The conversation of a handle, marked connected. Raises WireError: 1008 unknown or
        expired, 1011 while the old socket is open, 1007 for another model."""
        memory = self._known.get(handle)
        if memory is None:
            raise WireError("BidiGenerateContent session not found.", 1008)
        if memory.connected:
            raise WireError("The session is still connected on another socket.", 1011)
        if memory.left_at is not None and now - memory.left_at > VALID:
            self._forget(memory)
            raise WireError("BidiGenerateContent session expired.", 1008)
        if memory.model != model:
            raise WireError("The model of a resumed session cannot change.")
        memory.connected = True
        return memory

    def leave(self, memory: Memory, now: datetime) -> None:
        """The connection is over; the two hours begin. Conversations past theirs are forgotten."""
        memory.connected = False
        memory.left_at = now
        for other in list(self._known.values()):
            if other.left_at is not None and not other.connected and now - other.left_at > VALID:
                self._forget(other)

    def _forget(self, memory: Memory) -> None:
        for handle in memory.handles:
            self._known.pop(handle, None)
        memory.handles.clear()

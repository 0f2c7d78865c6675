"""The single reader of a Live link: passes every event on, and keeps what the link itself needs.

That is the newest resumable handle, the deadline of the connection, open tool calls, and the budget
that a completed turn gives back.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import NoReturn

from media.live.limits import LinkStats
from media.live.port import (
    GoAway,
    Handle,
    Interaction,
    LiveEvent,
    LiveSession,
    ToolCall,
    ToolCancelled,
    TurnComplete,
    Unknown,
)
from media.live.recovery import Recovery
from media.live.rotation import Rotation
from media.live.sender import Sender

# A reply comes in a burst, and a frame that waits is read without a turn of the loop: 60 of them
# are 15 ms in which no lesson of the process is heard or speaks.
FRAMES_IN_A_ROW = 4
# Messages that nobody knows are all counted; a service that sends nothing else fills no log.
UNKNOWN_LOGGED = 20
KEYS_CHARS = 200

_LOG = logging.getLogger(__name__)


class Receiver:
    """`handle` is the newest resumable one or empty; `rotation` belongs to the open connection."""

    def __init__(
        self,
        emit: Callable[[LiveEvent], None],
        sender: Sender,
        recovery: Recovery,
        stats: LinkStats,
    ) -> None:
        self.handle = ""
        self.rotation = Rotation(0.0)
        self._emit = emit
        self._sender = sender
        self._recovery = recovery
        self._stats = stats

    async def run(self, session: LiveSession, current: Callable[[], bool]) -> NoReturn:
        """Reads until the session ends. Raises LiveClosed.

        `current` turns False when this session is no longer the link's: a reader that ignored its
        cancellation then passes nothing on.
        """
        frames = 0
        while True:
            for event in await session.receive():
                if current():
                    self._heed(event)
                    self._emit(event)
            frames += 1
            if frames % FRAMES_IN_A_ROW == 0:
                await asyncio.sleep(0)

    def _heed(self, event: LiveEvent) -> None:
        now = asyncio.get_running_loop().time()
        match event:
            case Handle(value, True) if value:
                # One that is not resumable comes without a value: the old one stays (VOICE-12).
                self.handle = value
            case TurnComplete(Interaction.IDLE):
                self._recovery.turn_completed()
            case GoAway(time_left_s):
                _LOG.info("live service leaves", extra={"time_left_s": time_left_s})
                self.rotation.go_away(now, time_left_s)
                self._sender.stir()
            case ToolCall(call_id, name):
                self._sender.calls.opened(call_id, name, now)
                self._sender.stir()
            case ToolCancelled(call_ids):
                self._sender.calls.cancelled(call_ids)
                self._sender.stir()
            case Unknown(keys):
                self._stats.unknown += 1
                if self._stats.unknown <= UNKNOWN_LOGGED:
                    told = ",".join(keys)[:KEYS_CHARS]
                    _LOG.info("live message not understood", extra={"keys": told})

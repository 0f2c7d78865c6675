"""A reply once more: what was heard of one of the last, from memory, without the model.

It is no turn: nothing is stored, the observer and the Live service hear nothing of it, and it ends
as soon as anybody has something to say.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from pydantic import BaseModel

from media.playout import Playout
from media.replay import Replay
from media.sound import BYTES_PER_MS
from server import rtvi

log = logging.getLogger(__name__)

GONE = "That reply cannot be played again any more."
BUSY = "Nothing can be played again while somebody speaks."


class Replays:
    """`sounding` is told when a replay begins and when it has ended."""

    def __init__(
        self,
        playout: Playout,
        tell: Callable[[BaseModel | str], None],
        sounding: Callable[[bool], None],
    ) -> None:
        self._playout, self._tell, self._sounding = playout, tell, sounding
        self._current: Replay | None = None

    @property
    def running(self) -> bool:
        return self._current is not None

    def start(self, turn_id: str, rate: float, *, quiet: bool) -> None:
        """Plays what was heard of a reply, from its beginning; a replay that runs gives way."""
        recording = self._playout.recording(turn_id)
        played = round(self._playout.heard(turn_id).played_ms * BYTES_PER_MS) & ~1
        if not quiet:
            self._tell(rtvi.Notice(text=BUSY, code="replay-busy"))
        elif recording is None or not played:
            self._tell(rtvi.Notice(text=GONE, code="replay-gone"))
        else:
            log.debug("replay", extra={"turn": turn_id, "rate": rate})
            before, self._current = self._current, Replay(turn_id, recording[:played], rate)
            if before is None:
                self._tell("bot-started-speaking")
                self._sounding(True)

    def pull(self) -> bytes | None:
        """The next 20 ms, PCM16 mono 24 kHz; None when there is none."""
        if self._current is None:
            return None
        block = self._current.pull()
        if block is None:
            self._current = None
            self._tell("bot-stopped-speaking")
            self._sounding(False)
        return block

    def halt(self) -> None:
        """Dies away within a block."""
        if self._current is not None:
            self._current.halt()

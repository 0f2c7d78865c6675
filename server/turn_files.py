"""Files of the turn logs of lessons, for whoever has to find out why a turn went wrong.

Only when the setting asks for them. A file is bounded by the log itself, their number by FILES_MAX;
the words in them are masked. A disk that fails ends the log, not the lesson.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TextIO

from media.turn_events import Closed, Effect, TurnEvent
from media.turn_log import TurnLog

log = logging.getLogger(__name__)

FOLDER = "turn-logs"
FILES_MAX = 200
# Lines reach the disk in pieces of this size, and at the end.
BUFFER_BYTES = 64 * 1024


class TurnFile:
    """The log of one lesson: `begin` tells how its machine was made, the first event opens it."""

    def __init__(self, data_dir: Path, session_id: str, started_at: datetime) -> None:
        self._folder = data_dir / FOLDER
        name = "".join(char if char.isalnum() or char in "-_" else "_" for char in session_id)
        self._path = self._folder / f"{started_at:%Y%m%dT%H%M%S.%f}-{name[:80]}.jsonl"
        self._file: TextIO | None = None
        self._log: TurnLog | None = None
        self._over = False
        self._made = ("", True)

    def begin(self, prefix: str, *, link_up: bool) -> None:
        """How the machine of the lesson was made."""
        self._made = (prefix, link_up)

    def record(self, event: TurnEvent, effects: Sequence[Effect]) -> None:
        if self._over or (self._log is None and isinstance(event, Closed)):
            return  # a lesson that nobody joined leaves no file
        try:
            if self._log is None:
                self._log = self._open()
            self._log.record(event, effects)
        except OSError as error:
            self._give_up(error)

    def _open(self) -> TurnLog:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for old in sorted(self._folder.glob("*.jsonl"))[: -(FILES_MAX - 1)]:
            old.unlink(missing_ok=True)
        self._file = self._path.open("x", encoding="utf-8", buffering=BUFFER_BYTES)
        prefix, link_up = self._made
        return TurnLog(self._write, prefix=prefix, link_up=link_up)

    def close(self) -> None:
        """Nothing is recorded any more."""
        self._over = True
        if self._log is not None and self._log.lost:
            log.warning(
                "turn log was full", extra={"file": self._path.name, "lost": self._log.lost}
            )
        self._log = None
        self._shut()

    def _shut(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            try:
                file.close()
            except OSError as error:
                log.warning(
                    "turn log not closed", extra={"file": self._path.name, "why": str(error)}
                )

    def _write(self, line: str) -> None:
        if self._file is not None:
            self._file.write(line + "\n")

    def _give_up(self, error: OSError) -> None:
        self._over, self._log = True, None
        log.warning("turn log ended", extra={"file": self._path.name, "why": str(error)})
        self._shut()

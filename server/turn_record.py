"""What a lesson keeps of its turns besides the conversation: their log, and what went wrong."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from media import turn_events as ev
from media.turns import Turns
from server.diagnostics import Diagnostics
from server.turn_files import TurnFile

log = logging.getLogger(__name__)

# Turns that end unsaved without anything being wrong.
_ORDINARY = ("noise", "no_learner", "closed")


class TurnRecord:
    """`begin` each machine that tracks the turns of the lesson; `observe` sees every event of it
    with its effects, before they are performed.

    `lost_track`: turn tracking was lost (OWN-76); `cut_in`: the learner interrupted the tutor.
    """

    def __init__(
        self,
        diagnostics: Diagnostics,
        file: TurnFile | None,
        *,
        lost_track: Callable[[], None],
        cut_in: Callable[[], None],
    ) -> None:
        self._diagnostics, self._file = diagnostics, file
        self._lost_track, self._cut_in = lost_track, cut_in
        self._begun = False

    def begin(self, turns: Turns) -> None:
        """A log is that of one machine: with the next one it ends."""
        if self._file is not None and self._begun:
            self._file.close()
            self._file = None
        elif self._file is not None:
            self._file.begin(turns.prefix, link_up=turns.link_up)
        self._begun = True

    def observe(self, event: ev.TurnEvent, effects: Sequence[ev.Effect]) -> None:
        if self._file is not None:
            self._file.record(event, effects)
        for effect in effects:
            match effect:
                case ev.Trouble(code="turn_tracking"):
                    self._diagnostics.note(event.at, "trouble.turn_tracking")
                    self._lost_track()
                case ev.Trouble(code=code):
                    self._diagnostics.note(event.at, f"trouble.{code}")
                case ev.DropReply(why=why) if why not in _ORDINARY:
                    self._diagnostics.note(event.at, f"dropped.{why}")
                case ev.ShowInterrupted():
                    self._cut_in()
        if isinstance(event, ev.LinkLost):
            self._diagnostics.note(event.at, "link.lost")

    def close(self) -> None:
        """The lesson is over: what went wrong is summed up, without words."""
        if self._file is not None:
            self._file.close()
        if self._diagnostics.total:
            log.info("lesson had mishaps", extra={"mishaps": dict(self._diagnostics.total)})

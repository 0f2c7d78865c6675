"""What the tutor is told without a word to the learner: where the lesson stands, that its time is
nearly over, how to speak from now on. Into the Live session at its next quiet moment."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pydantic import BaseModel

from agent.prompts.wrap_up import ANNOUNCE, wrap_up
from server import rtvi
from server.floor import Floor
from server.last_minute import LastMinute
from server.live_side import LiveSide


class Steering:
    """`agenda` gives that of the moment. A lesson that ends is not to be steered (OBS-23)."""

    def __init__(
        self,
        live: LiveSide,
        floor: Floor,
        *,
        agenda: Callable[[], rtvi.Agenda],
        tell: Callable[[BaseModel], None],
        stopping: Callable[[], bool],
    ) -> None:
        self._live, self._floor = live, floor
        self._agenda, self._stopping = agenda, stopping
        self._now = asyncio.get_running_loop().time
        self._told_at: float | None = None
        self.last_minute = LastMinute(tell, self._wrap_up, self._announce)

    def note(self, text: str) -> None:
        """What the observer has decided."""
        if not self._stopping():
            self._live.link.context(self.last_minute.steered(text))

    def _wrap_up(self) -> None:
        """Only a Live model that words its replies has any use for it."""
        if self._floor.renewable and not self._stopping():
            agenda = self._agenda()
            self._told_at = self._now()
            self._live.link.context(wrap_up(agenda.agenda, agenda.covered_angles))

    def _announce(self) -> None:
        """Nobody has spoken since the tutor was told, so nobody has heard it: it is asked to say
        it now. A session that sleeps has nobody to say it to."""
        talk, link = self._floor.talk, self._live.link
        silent = self._told_at is not None and talk.last_voice_at < self._told_at
        if silent and talk.quiet and link.up and self._floor.renewable and not self._stopping():
            link.prompt(ANNOUNCE)

    def restyle(self) -> None:
        """Where the Live session carries the style, one that has the new one takes over."""
        if self._floor.renewable and not self._stopping():
            self._live.link.renew()

"""Opens the sessions of a link by the rules of recovery: which setup, with which handle, how often.

A session that is resumed keeps its model and needs no store; a fresh one is composed anew, from a
state that already holds whatever waited to be told to the one before.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

from media.live.dialer import NO_SETUP, Dialer
from media.live.limits import LinkStats
from media.live.link_events import LinkUp
from media.live.port import LiveRefused, LiveSession, LiveSetup
from media.live.receiver import Receiver
from media.live.recovery import Lane, Recovery, Redial, Stop
from media.live.sender import Sender

_LOG = logging.getLogger(__name__)


class Opening:
    """One instance lives as long as the link; `dial` is run once per session."""

    def __init__(
        self,
        dialer: Dialer,
        recovery: Recovery,
        receiver: Receiver,
        sender: Sender,
        stats: LinkStats,
    ) -> None:
        self._dialer, self._recovery = dialer, recovery
        self._receiver, self._sender = receiver, sender
        self._stats = stats
        self._setup: LiveSetup | None = None

    async def dial(self, dial: Redial) -> tuple[LiveSession, LinkUp] | Stop:
        """Connects until a session is open or recovery gives up."""
        while True:
            await asyncio.sleep(dial.delay_s)
            try:
                return await self._open(dial)
            except LiveRefused as refused:
                first = self._stats.connects == 0 and dial.lane is Lane.FRESH
                _LOG.info(
                    "live session refused", extra={"code": refused.code, "reason": refused.reason}
                )
                verdict = self._recovery.refused(refused, tried=dial.lane, first=first)
            if isinstance(verdict, Stop):
                return verdict
            dial = verdict

    async def _open(self, dial: Redial) -> tuple[LiveSession, LinkUp]:
        resumed = dial.lane is Lane.RESUME
        if not resumed:
            # The stored state that composes a fresh session already holds what waits here.
            self._receiver.handle = ""
            self._sender.held.clear()
            self._sender.renewing = False
        setup = await self._next_setup(resumed)
        session = await self._dialer.connect(setup)
        first = self._stats.connects == 0
        self._stats.connects += 1
        self._stats.resumptions += resumed
        self._stats.reseeds += not resumed and not first
        self._setup = setup
        return session, LinkUp(first, resumed, not resumed and not first, setup.model)

    async def _next_setup(self, resumed: bool) -> LiveSetup:
        """The setup of the session that is resumed stands in when none comes."""
        resumption, before = self._recovery.resumption, self._setup if resumed else None
        try:
            setup = await self._dialer.compose()
        except LiveRefused as refused:
            if before is None or refused.code != NO_SETUP:
                raise
            setup = before
        if not resumed:
            return replace(setup, handle=None, resumption=resumption)
        # Everything but the model may change when a session is resumed.
        model = before.model if before else setup.model
        return replace(
            setup, model=model, handle=self._receiver.handle, seeds=(), resumption=resumption
        )

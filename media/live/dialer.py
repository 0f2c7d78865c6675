"""Opens and closes sessions for a link within deadlines, whatever connector and composer do.

Both are foreign code: they may hang, and a connector may even ignore its cancellation. A session
that opens too late is closed again, so that no socket outlives the link.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from media.live.fence import fenced
from media.live.limits import LinkLimits
from media.live.port import LiveConnector, LiveRefused, LiveSession, LiveSetup

_LOG = logging.getLogger(__name__)

# HTTP's words for it: nothing answered in time; what we need ourselves is missing.
NO_ANSWER = 504
NO_SETUP = 503


class Dialer:
    """All failures leave as LiveRefused."""

    def __init__(
        self,
        connector: LiveConnector,
        compose: Callable[[], Awaitable[LiveSetup]],
        limits: LinkLimits,
    ) -> None:
        self._connector = connector
        self._compose = compose
        self._limits = limits

    async def compose(self) -> LiveSetup:
        """The setup of a session that starts now. Raises LiveRefused; 503 when it cannot be had."""
        try:
            async with asyncio.timeout(self._limits.compose_s):
                return await fenced(self._composing(), name="live-link:compose")
        except LiveRefused:
            raise
        except Exception as error:  # the composer's edge: a lesson outlives a store
            _LOG.exception("live setup could not be composed")
            raise LiveRefused(NO_SETUP, f"no setup: {type(error).__name__}") from error

    async def connect(self, setup: LiveSetup) -> LiveSession:
        """An open session. Raises LiveRefused; 504 when `setupComplete` does not come in time."""
        opened: list[LiveSession] = []
        wanted = True

        async def connecting() -> LiveSession:
            session = await self._connector.connect(setup)
            if wanted:
                opened.append(session)
            else:
                await session.close()
            return session

        try:
            async with asyncio.timeout(self._limits.connect_s):
                return await fenced(connecting(), name="live-link:connect")
        except (TimeoutError, asyncio.CancelledError) as stopped:
            wanted = False
            for session in opened:
                await self.hang_up(session)
            if isinstance(stopped, asyncio.CancelledError):
                raise
            reason = f"setupComplete did not arrive within {self._limits.connect_s:g} s"
            raise LiveRefused(NO_ANSWER, reason) from stopped

    async def hang_up(self, session: LiveSession) -> None:
        """Closes `session`, or leaves it behind after the deadline."""
        try:
            async with asyncio.timeout(self._limits.hang_up_s):
                await fenced(session.close(), name="live-link:hang-up")
        except TimeoutError:
            _LOG.warning("live session did not close in time")

    async def _composing(self) -> LiveSetup:
        return await self._compose()

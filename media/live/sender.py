"""The single writer of a Live link: what goes to the service, in which order, and when it may.

One instance lives as long as the link and is run once per session, so that what one session could
not take is sent to the next. It decides nothing about recovery and never closes a socket.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from enum import Enum
from typing import Any

from media.live.arrivals import Arrivals
from media.live.calls import Calls
from media.live.capabilities import Capabilities
from media.live.limits import LinkLimits, LinkStats
from media.live.outbox import SAMPLE_BYTES, Bracket, Item, Outbox, Sound, Typed
from media.live.port import RATE_UP, LiveClosed, LiveSession
from media.live.rotation import Rotation
from media.live.steering import HeldUpdate

BYTES_PER_MS = RATE_UP * SAMPLE_BYTES // 1000


class Ending(Enum):
    """Why the sender gives a living session up."""

    ROTATE = "rotation"
    SLEEP = "sleep"
    RENEW = "renewal"


class Sender:
    """Queues are filled from the loop's own thread; `run` is the one task that empties them."""

    def __init__(
        self,
        quiet: Callable[[], bool],
        limits: LinkLimits,
        stats: LinkStats,
        on_sent: Callable[[float], None],
    ) -> None:
        self.outbox = Outbox(limits.batch_ms * BYTES_PER_MS, limits.queue_ms * BYTES_PER_MS)
        self.held = HeldUpdate()
        self.calls = Calls()
        self.sleepy = False
        self.renewing = False
        self.wake = asyncio.Event()
        self._quiet = quiet
        self._limits = limits
        self._stats = stats
        self._arrivals = Arrivals()
        self._on_sent = on_sent
        self._in_bracket = False
        self._flush_at: float | None = None

    def audio(self, pcm: bytes, at: float | None = None, *, up: bool) -> None:
        """`at`: when its newest block arrived. `up`: a session is open, so that a backlog is
        draining and the bound may narrow."""
        outbox = self.outbox
        steady = self._limits.queue_ms * BYTES_PER_MS
        if up and outbox.bound_bytes > steady >= outbox.queued_bytes + len(pcm):
            outbox.bound_bytes = steady
        if up and len(pcm) > self._limits.batch_ms * BYTES_PER_MS:
            # What was said before the gate opened: its beginning is not the oldest to be dropped.
            outbox.bound_bytes = max(outbox.bound_bytes, steady + len(pcm))
        was_empty = outbox.empty
        outbox.audio(pcm)
        self._arrivals.came(len(pcm), at)
        self._stats.samples_dropped = outbox.dropped_bytes // SAMPLE_BYTES
        if was_empty or outbox.ready:
            self.stir()

    def disconnected(self) -> None:
        """No session is up: calls died with it, and sound is kept for longer."""
        self.calls.clear()
        self.outbox.bound_bytes = self._limits.reconnect_queue_ms * BYTES_PER_MS

    def stir(self) -> None:
        """Something changed that the sending task must look at."""
        self.sleepy = self.sleepy and self.outbox.empty
        self.wake.set()

    async def run(
        self,
        session: LiveSession,
        row: Capabilities,
        rotation: Rotation,
        current: Callable[[], bool],
    ) -> Ending:
        """Sends until the session should be given up. Raises LiveClosed.

        `current` turns False when this session is no longer the link's: then nothing more is taken
        from the queues, even when a send that ignored its cancellation returns late.
        """
        loop = asyncio.get_running_loop()
        self._flush_at = None
        if self._in_bracket:
            # Sound outside of a bracket closes a session with manual activity.
            await self._bounded(session.send_activity(True))
        while current():
            now = loop.time()
            self._stats.calls_expired += self.calls.expire(now)
            quiet = self._quiet() and not self._in_bracket and not self.calls.pending
            if self.sleepy and self.outbox.empty and not (quiet and self.held.text):
                return Ending.SLEEP
            if self.renewing and quiet:
                return Ending.RENEW
            if rotation.due(now, quiet):
                return Ending.ROTATE
            if not await self._send_next(session, row, quiet, now, current):
                await self._wait(rotation, now)
        return Ending.ROTATE

    async def _send_next(
        self,
        session: LiveSession,
        row: Capabilities,
        quiet: bool,
        now: float,
        current: Callable[[], bool],
    ) -> bool:
        """Sends one thing; False when nothing may go out now."""
        if self.calls.answers:
            answer = self.calls.answers[0]
            await self._bounded(
                session.send_tool_response(answer.call_id, answer.name, answer.response)
            )
            if self.calls.answers and self.calls.answers[0] is answer:
                self.calls.answers.popleft()
            return True
        if quiet and self.held.text:
            await self._send_update(session, row)
            return True
        hold = row.blocking_tools and self.calls.pending
        partial = self._flush_at is not None and now >= self._flush_at
        item = self.outbox.take(partial=partial, hold_audio=hold)
        if item is None:
            if hold or not self.outbox.queued_bytes:
                self._flush_at = None
            elif self._flush_at is None:
                self._flush_at = now + self._limits.batch_ms / 1000
            return False
        self._flush_at = None
        try:
            await self._send_item(session, item)
        except (LiveClosed, asyncio.CancelledError):
            if current():
                self.outbox.restore(item)
            raise
        return True

    async def _send_update(self, session: LiveSession, row: Capabilities) -> None:
        text = self.held.text
        if row.context_mid_session:
            await self._bounded(session.send_context(text))
            self._stats.updates_sent += 1
        else:
            # This model closes on it (1007); the next session is composed from the same state.
            self._stats.updates_withheld += 1
        self.held.sent(text)

    async def _send_item(self, session: LiveSession, item: Item) -> None:
        match item:
            case Sound(pcm):
                due = self._arrivals.taken(len(pcm), self.outbox.queued_bytes)
                await self._bounded(session.send_audio(pcm))
                self._stats.samples_sent += len(pcm) // SAMPLE_BYTES
                now = asyncio.get_running_loop().time()
                for at in due:
                    self._on_sent(now - at)
            case Bracket(started):
                await self._bounded(session.send_activity(started))
                self._in_bracket = started
            case Typed(text, realtime):
                send = session.send_realtime_text if realtime else session.send_prompt
                await self._bounded(send(text))
                self._stats.prompts_sent += 1

    async def _bounded(self, sending: Coroutine[Any, Any, None]) -> None:
        """A send that does not get through in time means that the line is dead."""
        try:
            async with asyncio.timeout(self._limits.send_s):
                await sending
        except TimeoutError as stuck:
            reason = f"a send took longer than {self._limits.send_s:g} s"
            raise LiveClosed(1006, reason, "local") from stuck

    async def _wait(self, rotation: Rotation, now: float) -> None:
        """Until something changes, or the next deadline of anything that waits."""
        deadlines = [rotation.next_check(now), self._flush_at, self.calls.next_deadline()]
        try:
            async with asyncio.timeout_at(min(at for at in deadlines if at is not None)):
                await self.wake.wait()
        except TimeoutError:
            pass
        self.wake.clear()

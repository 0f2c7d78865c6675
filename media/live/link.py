"""One Live session kept alive for a lesson: connect, hand over, resume, re-seed, sleep, wake.

The link owns the socket's lifetime and the order of things around it; what is sent when is the
`Sender`'s, what to do after a failure is `Recovery`'s, and who speaks is nobody's here. All methods
are called from the loop's thread; `run` ends after `close` or after `LinkFailed`.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from media.live.capabilities import capabilities_of
from media.live.dialer import Dialer
from media.live.fence import fenced
from media.live.limits import LinkLimits, LinkStats
from media.live.link_events import LinkAsleep, LinkAwake, LinkDown, LinkEvent, LinkFailed, LinkUp
from media.live.opening import Opening
from media.live.port import (
    LiveClosed,
    LiveConnector,
    LiveEvent,
    LiveSession,
    LiveSetup,
)
from media.live.receiver import Receiver
from media.live.recovery import Lane, Recovery, Redial, Stop
from media.live.rotation import SHORTEST_S, Rotation
from media.live.sender import Ending, Sender

__all__ = [
    "LinkAsleep",
    "LinkAwake",
    "LinkDown",
    "LinkEvent",
    "LinkFailed",
    "LinkLimits",
    "LinkStats",
    "LinkUp",
    "LiveLink",
]

_LOG = logging.getLogger(__name__)


class LiveLink:
    """`compose` gives the setup of a session that starts now, seeds included, and is asked before
    every connection: it may raise LiveRefused to end the link (code 403: the learner's role is
    gone). `sink` gets every event in order and must not block. `quiet` tells whether neither side
    speaks; `quiet_moment` must be called whenever it becomes true. `jitter` returns 0..1. `on_sent`
    gets the seconds from the arrival of each block to its send. `handle` resumes a session that
    another process has left; where it is refused, a fresh one is opened.
    """

    def __init__(
        self,
        connector: LiveConnector,
        compose: Callable[[], Awaitable[LiveSetup]],
        sink: Callable[[LiveEvent | LinkEvent], None],
        *,
        quiet: Callable[[], bool],
        limits: LinkLimits | None = None,
        jitter: Callable[[], float] = random.random,
        on_sent: Callable[[float], None] = lambda seconds: None,
        handle: str = "",
    ) -> None:
        self._limits = limits or LinkLimits()
        self._dialer = Dialer(connector, compose, self._limits)
        self._sink = sink
        self._stats = LinkStats()
        self._sender = Sender(quiet, self._limits, self._stats, on_sent)
        self._recovery = Recovery(jitter)
        self._receiver = Receiver(self._emit, self._sender, self._recovery, self._stats)
        self._receiver.handle = handle
        self._opening = Opening(
            self._dialer, self._recovery, self._receiver, self._sender, self._stats
        )
        self._session: LiveSession | None = None
        self._main: asyncio.Task[None] | None = None
        self._asleep = False
        self._closed = False

    @property
    def up(self) -> bool:
        """A session is open."""
        return self._session is not None

    @property
    def asleep(self) -> bool:
        return self._asleep

    @property
    def stats(self) -> LinkStats:
        """Live counters; not to be changed."""
        return self._stats

    @property
    def handle(self) -> str:
        """The newest resumable handle, or an empty text."""
        return self._receiver.handle

    def audio(self, pcm: bytes, at: float | None = None) -> None:
        """Microphone sound that may leave, PCM16 mono 16 kHz; its newest block arrived at `at`.

        Raises ValueError for half a sample.
        """
        if len(pcm) % 2:
            raise ValueError("PCM16 has whole samples")
        if pcm and not self._closed:
            self._sender.audio(pcm, at, up=self.up)

    def activity(self, started: bool) -> None:
        """Start or end of the learner's turn, in order with the sound around it."""
        if not self._closed:
            self._sender.outbox.bracket(started)
            self._sender.stir()

    def prompt(self, text: str) -> None:
        """A typed learner turn, in order with the sound; refused and counted when 16 wait."""
        if self._closed or not text.strip():
            return
        if not self._sender.outbox.prompt(text):
            self._stats.prompts_refused += 1
        self._sender.stir()

    def read_aloud(self, text: str) -> bool:
        """Asks for an exact read by realtime text (VOICE-34); False when it cannot be sent now."""
        if self._closed or not self.up:
            return False
        asked = self._sender.outbox.prompt(text, realtime=True)
        self._sender.stir()
        return asked

    def renew(self) -> None:
        """A fresh session, composed anew, takes over at the next quiet moment; nobody notices."""
        self._sender.renewing = not self._closed
        self._sender.stir()

    def holds(self, text: str) -> bool:
        """Whether this typed turn still waits to be sent: then it need not be said again."""
        return self._sender.outbox.holds(text)

    def context(self, text: str) -> None:
        """A silent update: the latest wins, sent at a quiet moment (OBS-19..23)."""
        if self._closed:
            return
        self._stats.updates_superseded += self._sender.held.put(text)
        self._sender.stir()

    def answer(self, call_id: str, response: dict[str, object]) -> bool:
        """Answers an open tool call; False when it is not open (any more)."""
        known = not self._closed and self._sender.calls.answered(call_id, response)
        self._sender.stir()
        return known

    def withdraw(self, call_id: str) -> None:
        """Nobody waits for this call any more: it is not answered, and holds nothing back."""
        self._sender.calls.cancelled((call_id,))
        self._sender.stir()

    def sleep(self) -> None:
        """Closes the socket once nothing waits to be sent; taken back by sound that comes first."""
        self._sender.sleepy = self._sender.outbox.empty
        self._sender.stir()

    def quiet_moment(self) -> None:
        """Neither side speaks: a due hand-over or a held update goes now."""
        self._sender.stir()

    async def run(self) -> None:
        """Keeps the session until `close` or a final failure. Runs once."""
        if self._closed or self._main is not None:
            return
        try:
            async with asyncio.TaskGroup() as group:
                # A child, so that `close` can cancel it without touching whoever awaits `run`.
                self._main = group.create_task(self._keep(), name="live-link")
        finally:
            self._closed = True
            self._sender.outbox.clear()

    async def close(self) -> None:
        """Idempotent; at most 1 s, even when the connector ignores its cancellation."""
        first, self._closed = not self._closed, True
        main = self._main
        if main is None or main.done():
            return
        if first:
            main.cancel()
        await asyncio.wait({main}, timeout=self._limits.close_s)

    async def _keep(self) -> None:
        dial: Redial | None = self._redial()
        while dial is not None:
            opened = await self._opening.dial(dial)
            if isinstance(opened, Stop):
                self._emit(LinkFailed(opened.code, opened.reason))
                return
            dial = await self._serve(*opened)

    # --- serving -------------------------------------------------------------------------------

    async def _serve(self, session: LiveSession, up: LinkUp) -> Redial | None:
        """Runs one session to its end; how to go on, or None after LinkFailed."""
        opened_at = asyncio.get_running_loop().time()
        self._session = session
        self._receiver.rotation = Rotation(opened_at)
        try:
            self._emit(up)
            ending = await self._exchange(session, up.model)
            self._session = None
            if ending is not Ending.SLEEP:
                self._emit(LinkDown(_words(ending)))
        finally:
            self._session = None
            self._sender.disconnected()
            # Before anything else: the service refuses a handle whose old socket is still open.
            await self._dialer.hang_up(session)
        if ending is Ending.SLEEP:
            return await self._sleep()
        if ending is Ending.ROTATE:
            self._stats.rotations += 1
            if asyncio.get_running_loop().time() - opened_at >= SHORTEST_S:
                return self._redial()
            ending = LiveClosed(1001, "the service left at once", "peer")
        if ending is Ending.RENEW:
            self._receiver.handle = ""
            return Redial(Lane.FRESH)
        assert isinstance(ending, LiveClosed)
        verdict = self._recovery.lost(ending, resumable=bool(self._receiver.handle))
        if isinstance(verdict, Stop):
            self._emit(LinkFailed(verdict.code, verdict.reason))
            return None
        return verdict

    async def _exchange(self, session: LiveSession, model: str) -> Ending | LiveClosed:
        def current() -> bool:
            return self._session is session

        row, rotation = capabilities_of(model), self._receiver.rotation
        send = _ended(self._sender.run(session, row, rotation, current))
        receive = _ended(self._receiver.run(session, current))
        async with asyncio.TaskGroup() as group:
            sending = group.create_task(fenced(send, name="live-link:send"))
            receiving = group.create_task(fenced(receive, name="live-link:receive"))
            await asyncio.wait((sending, receiving), return_when=asyncio.FIRST_COMPLETED)
            ending = (receiving if receiving.done() else sending).result()
            sending.cancel()
            receiving.cancel()
        return ending

    async def _sleep(self) -> Redial:
        loop = asyncio.get_running_loop()
        since = loop.time()
        self._stats.sleeps += 1
        self._asleep = True
        self._emit(LinkAsleep())
        try:
            while self._sender.outbox.empty:
                await self._sender.wake.wait()
                self._sender.wake.clear()
        finally:
            self._asleep = False
            self._sender.sleepy = False
        if loop.time() - since >= self._limits.handle_ttl_s:
            self._receiver.handle = ""
        self._emit(LinkAwake())
        return self._redial()

    def _redial(self) -> Redial:
        """The lane of a connection that we gave up ourselves: no failure, no delay."""
        resumable = bool(self._receiver.handle) and not self._sender.renewing
        return Redial(Lane.RESUME if resumable else Lane.FRESH)

    def _emit(self, event: LiveEvent | LinkEvent) -> None:
        if not self._closed:
            self._sink(event)


async def _ended(work: Coroutine[Any, Any, Ending]) -> Ending | LiveClosed:
    try:
        return await work
    except LiveClosed as closed:
        return closed


def _words(ending: Ending | LiveClosed) -> str:
    if isinstance(ending, Ending):
        return ending.value
    return f"{ending.code} {ending.reason}".strip()

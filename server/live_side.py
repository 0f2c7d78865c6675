"""The Live session of one lesson: what comes of it goes to whoever holds the conversation, to the
meter and to the store of handles. Where it cannot be had the lesson goes on without, and this side
tries in the background to have one again (design 5.6)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, fields

from media.live import link as live
from media.live import port
from media.live.link import LinkStats, LiveLink
from media.spans import MIC_TO_LIVE, Spans
from server.boundary import Boundary
from server.floor import Floor
from server.handle_keeper import HandleKeeper
from server.meter import Meter
from server.way_back import Trial, Waits

log = logging.getLogger(__name__)

LiveSideEvent = port.LiveEvent | live.LinkEvent


@dataclass(frozen=True, slots=True)
class Dialling:
    """How a Live session is had: `compose` gives the setup of one that starts now."""

    connector: port.LiveConnector
    compose: Callable[[], Awaitable[port.LiveSetup]]
    spans: Spans


class LiveSide:
    """`run` is owned by the lesson, `close` ends it; `failed` is told the code of each session
    that is gone for good. `floor` is there before the first event comes."""

    def __init__(
        self,
        dialling: Dialling,
        boundary: Boundary,
        *,
        handle: str,
        floor: Callable[[], Floor],
        meter: Meter,
        handles: HandleKeeper,
        failed: Callable[[str], None],
    ) -> None:
        self._dialling, self._boundary = dialling, boundary
        self._floor, self._meter, self._handles = floor, meter, handles
        self._failed = failed
        self._loop = asyncio.get_running_loop()
        self._before = LinkStats()
        self._waits = Waits()
        self._trial: tuple[Trial, LiveLink] | None = None
        self._stirred = asyncio.Event()
        self._closed = asyncio.Event()
        self._hopeless = False
        self.link = self._dial(self._take, handle)

    def _dial(self, ear: Callable[[LiveSideEvent], None], handle: str = "") -> LiveLink:
        spans = self._dialling.spans
        return LiveLink(
            self._dialling.connector,
            self._dialling.compose,
            self._boundary.guarded(ear, None),
            quiet=lambda: self._floor().talk.quiet,
            on_sent=lambda seconds: spans.add(MIC_TO_LIVE, seconds),
            handle=handle,
        )

    # --- life -------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Until `close`; whenever the session is gone for good, the way back begins."""
        await self.link.run()
        while not (self._closed.is_set() or self._hopeless):
            await self._within(self._closed.wait(), self._waits.next())
            while not self._closed.is_set() and await self._try():
                pass

    async def close(self) -> None:
        """Idempotent; as bounded as `LiveLink.close`."""
        self._closed.set()
        self._stirred.set()
        trial = self._trial
        if trial is not None:
            trial[0].call_off()
            await trial[1].close()
        await self.link.close()

    def stir(self) -> None:
        """It may be quiet now."""
        self._stirred.set()

    # --- the way back -----------------------------------------------------------------------------

    async def _try(self) -> bool:
        """One try, from a quiet moment to the end of the session that it gave. True: the service
        is there, but somebody spoke up: the next quiet moment is as good."""
        if not await self._quiet():
            return False
        began_at = self._loop.time()
        trial = Trial(self._take)
        link = self._dial(trial.hear)
        self._trial = trial, link
        async with asyncio.TaskGroup() as group:
            group.create_task(link.run(), name="lesson:way-back")
            stands = await trial.stands()
            self._trial = None
            if stands and self._undisturbed(began_at):
                trial.taken = True
                self._take_over(link, trial.model)
            else:
                log.info("no way back yet", extra={"reached": stands})
                await link.close()
        if trial.taken:
            self._waits.lasted(self._loop.time() - began_at)
        return stands and not trial.taken

    def _undisturbed(self, since: float) -> bool:
        """Nobody has spoken, and nothing has come to be due."""
        talk = self._floor().talk
        return talk.quiet and talk.last_voice_at <= since

    async def _quiet(self) -> bool:
        """Waits for a moment at which nobody speaks and nothing is due; False: closed before."""
        while not (self._closed.is_set() or self._floor().talk.quiet):
            self._stirred.clear()
            await self._stirred.wait()
        return not self._closed.is_set()

    def _take_over(self, link: LiveLink, model: str) -> None:
        log.info("live again")
        self._before = self.stats
        self.link = link
        self._meter.bind(model)
        if link.handle:
            self._handles.note(link.handle)
        self._floor().restore(link)

    @staticmethod
    async def _within(waiting: Awaitable[object], seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await waiting
        except TimeoutError:
            pass

    # --- what comes of it -------------------------------------------------------------------------

    def _take(self, event: LiveSideEvent) -> None:
        talk = self._floor().talk
        match event:
            case port.Usage():
                self._meter.count(event)
            case port.Handle(value=handle, resumable=True) if handle:
                self._handles.note(handle)
            case port.ReplyAudio(pcm=pcm, rate=rate):
                self._meter.sound(len(pcm) / 2 / rate * 1000)
                talk.live(event)
            case port.TurnComplete():
                self._meter.turn_ended()
                talk.live(event)
            case live.LinkUp(model=model):
                self._meter.bind(model)
                talk.link_restored()
            case live.LinkDown(reason=reason):
                talk.link_lost(planned=reason in ("rotation", "renewal"))
            case live.LinkFailed(code=code, reason=reason):
                log.error("live link failed", extra={"code": code, "why": reason})
                # 1007 is never retried with the same setup (design 5.5).
                self._hopeless = code == "invalid"
                self._failed(code)
            case live.LinkAsleep() | live.LinkAwake():
                log.info("live link", extra={"event": type(event).__name__})
            case _:
                talk.live(event)

    # --- figures ----------------------------------------------------------------------------------

    @property
    def stats(self) -> LinkStats:
        """Counters of every session that this lesson has had."""
        sums = LinkStats()
        for field in fields(LinkStats):
            before, now = (getattr(one, field.name) for one in (self._before, self.link.stats))
            setattr(sums, field.name, before + now)
        return sums

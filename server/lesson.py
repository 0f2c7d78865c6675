"""One voice lesson: the owner of its peer, its Live session, its conversation and its bookkeeping.

One TaskGroup, ended by `stop`; shutdown is ordered and bounded. A lesson outlives its peer for a
while, so that the same person may come back with a new one (design 5.6), and its Live session
lives and dies inside it.
"""

from __future__ import annotations

import asyncio
import logging

from pydantic import BaseModel

from media.live import port
from media.plane import MediaPlane
from media.spans import Spans
from server import rtvi
from server.attendance import Attendance
from server.books import Books
from server.boundary import Boundary
from server.captions import Captions
from server.channel import Channel
from server.deadline import Deadline
from server.diagnostics import Diagnostics
from server.ending import Ending
from server.errands import Errands
from server.errors import Code, PidjinError
from server.exchanges import Exchanges
from server.farewell import CLOSED_TEXT, STYLE_NEXT
from server.floor import Floor
from server.handle_keeper import HandleKeeper
from server.lesson_plan import LessonPlan, LessonPorts
from server.lesson_seeds import with_unsaved
from server.live_setup import LiveComposition
from server.live_side import Dialling, LiveSide
from server.meter import Meter
from server.room import Room
from server.steering import Steering
from server.style_change import StyleChange
from server.tracing import TracedConnector
from server.turn_metrics import timed
from server.turn_record import TurnRecord
from server.vitals import Vitals
from server.wishes import Wishes

log = logging.getLogger(__name__)

# After this much real silence the Live session sleeps: no tokens are billed (design 5.5).
SLEEP_AFTER_S = 30.0
# A forgotten page ends its lesson (PAINS T22).
IDLE_AFTER_S = 600.0
IDLE_CHECK_S = 1.0
# Bound of the ordered shutdown of sound; the books have their own.
CLOSE_S = 3.0


class Lesson:
    """`run` is owned by the registry; `attach` answers an offer, `stop` ends everything."""

    def __init__(
        self,
        plan: LessonPlan,
        ports: LessonPorts,
        plane: MediaPlane,
        connector: port.LiveConnector,
        spans: Spans,
    ) -> None:
        self.plan = plan
        self.credential_id = plan.credential_id
        self._ports = ports
        self._loop = asyncio.get_running_loop()
        self._boundary = Boundary(self._broke)
        now, guarded = self._loop.time, self._boundary.guarded
        self._agenda = plan.agenda
        self._closing: asyncio.Task[None] | None = None
        self.silent = asyncio.Event()
        # What is told, what is written down, and when it ends.
        self.channel = Channel(lambda got: self._wishes.take(got), now)
        self._captions = Captions(self._tell, ports.stamp, plan.uid, plan.scripts)
        self._books = Books(
            Exchanges(ports.save, self._tell, lambda text: self._steering.note(text), self._denied),
            Meter(ports.used, self._tell, ports.rates),
            HandleKeeper(ports.handles),
            StyleChange(ports.choose_style, self.restyled, self._tell),
            self._boundary,
        )
        self._errands = Errands()
        self._ending = Ending(plan.session_id, self._arm)
        self.diagnostics = Diagnostics(now())
        self._record = TurnRecord(
            self.diagnostics,
            ports.turn_file,
            lost_track=lambda: self.stop("turn-tracking"),
            cut_in=self._ending.cut_in,
        )
        # Who speaks: the Live session, the talk that it is heard in, and what steers them.
        self._live = LiveSide(
            Dialling(TracedConnector(connector, ports.trace), self._compose, spans),
            self._boundary,
            handle=plan.handle,
            floor=lambda: self._floor,
            meter=self._books.meter,
            handles=self._books.handles,
            failed=self._live_failed,
        )
        room = Room(
            captions=self._captions,
            tell=self._tell,
            tell_level=self.channel.send_if_ready,
            ports=ports.agent,
            errands=self._errands,
            record=self._record,
            finished=self._books.exchanges.add,
            timed=timed(ports.trace.turn, spans),
            denied=self._denied,
            armed=self._arm,
            now=now,
            spans=spans,
        )
        self._floor: Floor = Floor(plan, room, self._live.link)
        self._steering: Steering = Steering(
            self._live,
            self._floor,
            agenda=lambda: self._agenda,
            tell=self._tell,
            stopping=lambda: self.stopping,
        )
        self._turn_deadline = Deadline(guarded(lambda: self._floor.talk.time_passed(), None))
        # Who listens: the learner's page and peer.
        self._wishes: Wishes = Wishes(
            self.channel,
            self._floor,
            self._captions,
            self._books.styles,
            self._ending,
            snapshot=lambda: (self._captions.status, self._agenda, self._books.meter.cost),
            stop=self.stop,
        )
        self._attendance = Attendance(
            plane,
            self.channel,
            hear=guarded(lambda pcm, at: self._floor.talk.hear(pcm, at), None),
            pull=guarded(lambda at: self._floor.talk.pull(at), None),
            message=guarded(self.channel.received, None),
            missing=lambda: self.stop("peer-lost"),
            unheard=guarded(lambda seconds: self._floor.talk.unheard(seconds), None),
            absent=guarded(lambda: self._floor.talk.absent(), None),
            spans=spans,
        )
        self.vitals = Vitals(
            self._attendance, self._floor, self._live, self._captions, self._books.meter
        )

    # --- life -------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Until `stop`; ends when the sound is shut (CLOSE_S) and the books are closed (DRAIN_S).
        What a child raises ends the lesson and is the caller's to log."""
        name, kept = f"lesson:{self.plan.session_id}", self._boundary.kept
        self._ending.limit(self.plan.minutes * 60)
        self._steering.last_minute.limit(self.plan.minutes * 60)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(kept(self._live.run), name=f"{name}:link")
                group.create_task(kept(self._errands.run), name=f"{name}:errands")
                watching = group.create_task(kept(self._watch), name=f"{name}:silence")
                group.create_task(self._books.run(name, self.silent), name=f"{name}:books")
                await self._ending.reached.wait()
                watching.cancel()
                await self._shutdown()
        finally:
            await self._shutdown()

    def _broke(self, error: Exception) -> None:
        log.error("lesson broke", exc_info=error, extra={"session": self.plan.session_id})
        self.stop("internal")

    def stop(self, reason: str) -> None:
        """Ends the lesson; the first reason counts."""
        self._ending.now(reason)

    def wind_down(self, reason: str) -> None:
        """Ends the lesson after the sentence that is being said; tells at once."""
        if not self.stopping:
            self._tell(rtvi.Notice(text=CLOSED_TEXT[reason], code=reason))
            self._ending.when_quiet(reason)

    @property
    def stopping(self) -> bool:
        return self._ending.reached.is_set()

    async def discard(self, reason: str) -> None:
        """Ends a lesson that was never run."""
        self.stop(reason)
        await self._shutdown()

    async def _shutdown(self) -> None:
        """Once, and not to be cut short by whoever cancels the lesson."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._shut(), name="lesson:close")
        await asyncio.shield(self._closing)

    async def _shut(self) -> None:
        """Sound first, then the page, then the services: nothing speaks after `closed`."""
        reason = self._ending.reason or "internal"
        try:
            talk = self._floor.talk
            talk.on_deadline_changed = lambda: None
            self._turn_deadline.set(None)
            self._steering.last_minute.close()
            self._boundary.guarded(talk.close, None)()
            self._captions.show("closed", reason=reason)
            farewell = rtvi.Closed(reason=reason, text=CLOSED_TEXT[reason])
            leaving = asyncio.create_task(self._attendance.end(farewell), name="lesson:peer")
            hanging_up = asyncio.create_task(self._live.close(), name="lesson:hang-up")
            done, late = await asyncio.wait((leaving, hanging_up), timeout=CLOSE_S)
            for task in late:
                log.error("not closed in time", extra={"task": task.get_name()})
            for task in done:
                if (error := task.exception()) is not None:
                    log.error("could not be closed", exc_info=error)
        finally:
            self._record.close()
            self._ports.trace.end(reason)
            self._books.finish(survives=reason == "shutdown")
            self._errands.finish()
            self.silent.set()

    # --- the peer and its page --------------------------------------------------------------------

    async def attach(self, offer_sdp: str, credential_id: str) -> tuple[str, str]:
        """As `Attendance.attach`; the lesson then ends with the credential that came last."""
        answer = await self._attendance.attach(offer_sdp)
        self.credential_id = credential_id
        return answer

    def fits(self, composition: LiveComposition) -> bool:
        """Whether a new offer may go on with this lesson, in the Live session that it has."""
        return self.plan.fits(composition) and not self._floor.degraded

    @property
    def peer_id(self) -> str | None:
        return self._attendance.peer_id

    def _tell(self, message: BaseModel | str) -> None:
        if isinstance(message, rtvi.Agenda):
            self._agenda = message
        self.channel.send(message)

    # --- the tutor --------------------------------------------------------------------------------

    async def _compose(self) -> port.LiveSetup:
        try:
            # What is being stored right now was said all the same.
            said = self._books.exchanges.unsaved
            setup = await self._ports.compose()
            return with_unsaved(setup, said) if self.plan.native else setup
        except port.LiveRefused as refused:
            if refused.code == 403:  # access, ended while nobody announced it (RTC-20)
                self.stop("access")
            raise

    def _live_failed(self, code: str) -> None:
        self.diagnostics.note(self._loop.time(), f"link.failed.{code}")
        if not self.stopping:
            self._floor.degrade(code)

    def restyled(self) -> None:
        """The lesson goes on: the next reply has the new style (VOICE-54)."""
        if not self.stopping:
            self._tell(rtvi.Notice(text=STYLE_NEXT, code="style"))
            self._steering.restyle()

    def _denied(self, error: PidjinError) -> None:
        self.stop("signed-out" if error.code is Code.UNAUTHENTICATED else "access")

    # --- time -------------------------------------------------------------------------------------

    def _arm(self) -> None:
        if self._floor.talk.quiet:
            self._ending.quiet()
            self._live.stir()
        self._turn_deadline.set(self._floor.talk.next_deadline())

    async def _watch(self) -> None:
        """The only clock on a lesson that nobody uses."""
        while True:
            await asyncio.sleep(IDLE_CHECK_S)
            self._mind_silence()

    def _mind_silence(self) -> None:
        """Sleep first, then goodbye."""
        talk, link = self._floor.talk, self._live.link
        silent_s = self._loop.time() - talk.last_voice_at
        if silent_s >= IDLE_AFTER_S:
            self._captions.show("idle", reason="silence")
            self.stop("idle")
        elif silent_s >= SLEEP_AFTER_S and talk.quiet and link.up:
            link.sleep()

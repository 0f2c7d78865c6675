"""One voice lesson: the owner of its peer, its Live session, its conversation and its bookkeeping.

One TaskGroup, ended by `stop`; shutdown is ordered and bounded. A lesson outlives its peer for a
while, so that the same person may come back with a new one (design 5.6), and its Live session
lives and dies inside it.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import Counter

from pydantic import BaseModel

from agent.prompts.wrap_up import wrap_up
from media.gate import Gate
from media.live import link as live
from media.live import port
from media.live.link import LiveLink
from media.peer import PeerStats
from media.plane import MediaPlane
from media.spans import MIC_TO_LIVE, Spans
from media.turns import Turns
from media.vad import Vad
from server import rtvi
from server.attendance import Attendance
from server.boundary import Boundary
from server.captions import Captions
from server.channel import Channel
from server.conversation import Conversation
from server.deadline import Deadline
from server.diagnostics import Diagnostics
from server.ending import Ending
from server.errands import Errands
from server.errors import Code, PidjinError
from server.exchanges import Exchanges
from server.farewell import CLOSED_TEXT, STYLE_NEXT
from server.floor import Floor, Room
from server.handle_keeper import HandleKeeper
from server.last_minute import LastMinute
from server.lesson_plan import LessonPlan, LessonPorts
from server.lesson_seeds import with_unsaved
from server.lesson_totals import LessonFigures
from server.live_setup import LiveComposition
from server.meter import Meter
from server.stand_in import StandIn
from server.style_change import StyleChange
from server.tracing import TracedConnector
from server.turn_record import TurnRecord

log = logging.getLogger(__name__)

# After this much real silence the Live session sleeps: no tokens are billed (design 5.5).
SLEEP_AFTER_S = 30.0
# A forgotten page ends its lesson (PAINS T22).
IDLE_AFTER_S = 600.0
IDLE_CHECK_S = 1.0
# Bound of the ordered shutdown of sound; the bookkeeping of finished exchanges has its own.
CLOSE_S = 3.0
DRAIN_S = 10.0


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
        self._boundary = Boundary(self._broke)
        guarded = self._boundary.guarded
        self._loop = asyncio.get_running_loop()
        now = self._loop.time
        self._born = now()
        self.channel = Channel(self._received, now)
        self._captions = Captions(self._tell, ports.stamp, plan.uid, plan.scripts)
        self._exchanges = Exchanges(ports.save, self._tell, self._steer, self._denied)
        # A resumed session meets the ids of its earlier lessons on the same page.
        turns = Turns(prefix=f"{secrets.token_hex(3)}-", link_up=False)
        self._errands = Errands()
        self._conversation = Conversation(
            gate=Gate(Vad(), plan.gate),
            turns=turns,
            captions=self._captions,
            tell=self._tell,
            tell_level=self.channel.send_if_ready,
            finished=self._exchanges.add,
            now=now,
            spans=spans,
            manual_activity=not plan.vad_enabled,
            stand_in=StandIn(ports.agent.speak, self._errands),
        )
        self._conversation.on_turn = ports.trace.turn
        self._link = LiveLink(
            TracedConnector(connector, ports.trace),
            self._compose,
            guarded(self._live, None),
            quiet=lambda: self._floor.talk.quiet,
            on_sent=lambda seconds: spans.add(MIC_TO_LIVE, seconds),
            handle=plan.handle,
        )
        self._conversation.connect(self._link)
        self._conversation.on_deadline_changed = self._arm
        room = Room(
            captions=self._captions,
            tell=self._tell,
            tell_level=self.channel.send_if_ready,
            ports=ports.agent,
            errands=self._errands,
            denied=self._denied,
            armed=self._arm,
            now=now,
            spans=spans,
        )
        self._floor = Floor(plan, self._conversation, self._link, room)
        self._meter = Meter(ports.used, self._tell, ports.rates)
        self._handles = HandleKeeper(ports.handles)
        self._last_minute = LastMinute(self._tell, self._wrap_up)
        self._styles = StyleChange(ports.choose_style, self.restyled, self._tell)
        self._agenda = plan.agenda
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
        self._ending = Ending(plan.session_id, self._arm)
        self.diagnostics = Diagnostics(self._born)
        self._record = TurnRecord(
            self.diagnostics,
            ports.turn_file,
            turns,
            lost_track=lambda: self.stop("turn-tracking"),
            cut_in=self._ending.cut_in,
        )
        self._conversation.on_turned = self._record.observe
        self._turn_deadline = Deadline(guarded(lambda: self._floor.talk.time_passed(), None))
        self._closing: asyncio.Task[None] | None = None
        self.silent = asyncio.Event()

    # --- life -----------------------------------------------------------------------------------

    async def run(self) -> None:
        """Until `stop`; ends after the sound is shut (CLOSE_S) and the bookkeeping done (DRAIN_S).

        What a child raises ends the lesson and is the caller's to log.
        """
        name, kept = f"lesson:{self.plan.session_id}", self._boundary.kept
        self._ending.limit(self.plan.minutes * 60)
        self._last_minute.limit(self.plan.minutes * 60)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(kept(self._link.run()), name=f"{name}:link")
                group.create_task(kept(self._errands.run()), name=f"{name}:errands")
                watching = group.create_task(kept(self._watch()), name=f"{name}:silence")
                books = [
                    group.create_task(self._exchanges.run(), name=f"{name}:observer"),
                    group.create_task(self._meter.run(), name=f"{name}:usage"),
                    group.create_task(kept(self._handles.run()), name=f"{name}:handle"),
                    group.create_task(kept(self._styles.run()), name=f"{name}:style"),
                ]
                await self._ending.reached.wait()
                watching.cancel()
                await self._shutdown()
                _, late = await asyncio.wait(books, timeout=DRAIN_S)
                for task in late:
                    waiting = self._exchanges.waiting
                    log.error(
                        "bookkeeping cut off", extra={"task": task.get_name(), "waiting": waiting}
                    )
                    task.cancel()
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
            self._last_minute.close()
            self._boundary.guarded(talk.close, None)()
            self._captions.show("closed", reason=reason)
            farewell = rtvi.Closed(reason=reason, text=CLOSED_TEXT[reason])
            leaving = asyncio.create_task(self._attendance.end(farewell), name="lesson:peer")
            hanging_up = asyncio.create_task(self._link.close(), name="lesson:hang-up")
            done, late = await asyncio.wait((leaving, hanging_up), timeout=CLOSE_S)
            for task in late:
                log.error("not closed in time", extra={"task": task.get_name()})
            for task in done:
                if (error := task.exception()) is not None:
                    log.error("could not be closed", exc_info=error)
        finally:
            self._record.close()
            self._ports.trace.end(reason)
            if self.diagnostics.total:
                log.info("lesson had mishaps", extra={"mishaps": dict(self.diagnostics.total)})
            self._exchanges.finish()
            self._meter.finish()
            self._handles.finish(survives=reason == "shutdown")
            self._styles.finish()
            self._errands.finish()
            self.silent.set()

    async def discard(self, reason: str) -> None:
        """Ends a lesson that was never run."""
        self.stop(reason)
        await self._shutdown()

    # --- the peer and its page --------------------------------------------------------------------

    async def attach(self, offer_sdp: str, credential_id: str) -> tuple[str, str]:
        """As `Attendance.attach`; the lesson then ends with the credential that came last."""
        answer = await self._attendance.attach(offer_sdp)
        self.credential_id = credential_id
        return answer

    def fits(self, composition: LiveComposition) -> bool:
        """Whether a new offer may go on with this lesson: the same topic, in the same mode, and
        the Live service has not been given up on."""
        plan = self.plan
        known = (plan.topic_id, plan.mode, plan.model)
        wanted = (composition.topic_id, composition.mode, composition.setup.model)
        return known == wanted and not self._floor.degraded

    @property
    def joined(self) -> bool:
        """Somebody has been on the line."""
        return self._attendance.joined

    @property
    def peer_id(self) -> str | None:
        return self._attendance.peer_id

    # --- what an admin sees -----------------------------------------------------------------------

    @property
    def line(self) -> PeerStats | None:
        """Of the peer that is connected now."""
        return self._attendance.stats

    @property
    def cost(self) -> rtvi.Cost:
        return self._meter.cost

    @property
    def state(self) -> str:
        return self._captions.status.state

    @property
    def age_s(self) -> float:
        return self._loop.time() - self._born

    @property
    def figures(self) -> LessonFigures:
        counts, link = self._conversation.metrics.counts, self._link.stats
        return LessonFigures(
            turns=counts["turns"],
            interruptions=counts["interruptions"],
            false_interruptions=counts["false_interruptions"],
            troubles=Counter(self._captions.troubles),
            dropped_s=link.samples_dropped / port.RATE_UP,
            resumptions=link.resumptions,
            reseeds=link.reseeds,
            sleeps=link.sleeps,
            asleep=self._link.asleep,
        )

    @property
    def reply_s(self) -> float | None:
        """From the end of the learner's speech to the first sound of the last reply."""
        return self._floor.talk.reply_s

    def _tell(self, message: BaseModel | str) -> None:
        if isinstance(message, rtvi.Agenda):
            self._agenda = message
        self.channel.send(message)

    def _received(self, got: rtvi.Received) -> None:
        match got.message:
            case rtvi.ClientReady():
                snapshot = [self._captions.status, self._agenda, self._meter.cost]
                self.channel.reply_ready(got.id, list(snapshot))
            case rtvi.SendText(content=content):
                self._typed(content, got.id)
            case rtvi.PushToTalk(down=down):
                self._floor.talk.push_to_talk(down)
            case rtvi.Mic(on=on) | rtvi.TrackStatus(enabled=on, receiver_index=0):
                self._mute(not on)
            case rtvi.ReplySpeech(on=on):
                self._floor.talk.speech_on = on
            case rtvi.ReplayRequest(turn_id=turn_id, rate=rate):
                self._conversation.replay(turn_id, rate)
            case rtvi.StyleChoice(style=style):
                self._styles.choose(style)
            case rtvi.Stop(after_reply=True):
                self._ending.after_reply("stopped")
            case rtvi.Stop() | rtvi.DisconnectBot():
                self.stop("stopped")
            case _:
                pass

    def _mute(self, muted: bool) -> None:
        """Told when it changes: every page says how its microphone is when it comes."""
        if self._floor.talk.microphone_on is muted:
            self._tell("user-mute-started" if muted else "user-mute-stopped")
        self._floor.talk.microphone_on = not muted

    def _typed(self, text: str, message_id: str) -> None:
        """OWN-69: words first, then whether there is time left, then the service."""
        if not text.strip():
            self.channel.refuse(message_id, "There are no words in that message.")
        elif self._ending.expiring:
            self.channel.refuse(message_id, "This voice session is ending.")
        else:
            self._ending.cut_in()
            self._captions.wrote(text)
            self._floor.talk.typed(text, message_id)

    def restyled(self) -> None:
        """The lesson goes on: the next reply has the new style. Where the Live session carries the
        style, one that has the new one takes over at the next quiet moment."""
        if not self.stopping:
            self._tell(rtvi.Notice(text=STYLE_NEXT, code="style"))
            if self._floor.renewable:
                self._link.renew()

    # --- the Live session -------------------------------------------------------------------------

    async def _compose(self) -> port.LiveSetup:
        try:
            # What is being stored right now was said all the same.
            said = self._exchanges.unsaved
            setup = await self._ports.compose()
            return with_unsaved(setup, said) if self._floor.renewable else setup
        except port.LiveRefused as refused:
            if refused.code == 403:  # access, ended while nobody announced it (RTC-20)
                self.stop("access")
            raise

    def _live(self, event: port.LiveEvent | live.LinkEvent) -> None:
        match event:
            case port.Usage():
                self._meter.count(event)
            case port.Handle(value=handle, resumable=True) if handle:
                self._handles.note(handle)
            case port.ReplyAudio(pcm=pcm, rate=rate):
                self._meter.sound(len(pcm) / 2 / rate * 1000)
                self._floor.talk.live(event)
            case port.TurnComplete():
                self._meter.turn_ended()
                self._floor.talk.live(event)
            case live.LinkUp(model=model):
                self._meter.bind(model)
                self._floor.talk.link_restored()
            case live.LinkDown(reason=reason):
                self._floor.talk.link_lost(planned=reason in ("rotation", "renewal"))
            case live.LinkFailed(code=code, reason=reason):
                log.error("live link failed", extra={"code": code, "why": reason})
                self.diagnostics.note(self._loop.time(), f"link.failed.{code}")
                if not self.stopping:
                    self._floor.degrade(code)
            case live.LinkAsleep() | live.LinkAwake():
                log.info("live link", extra={"event": type(event).__name__})
            case _:
                self._floor.talk.live(event)

    # --- bookkeeping ------------------------------------------------------------------------------

    def _steer(self, update: str) -> None:
        """Into the Live session at the next quiet moment; a dead one gets nothing (OBS-23)."""
        if not self.stopping:
            self._link.context(self._last_minute.steered(update))

    def _wrap_up(self) -> None:
        """A silent word to the tutor, where the Live model is the tutor."""
        if self._floor.renewable and not self.stopping:
            self._link.context(wrap_up(self._agenda.agenda, self._agenda.covered_angles))

    def _denied(self, error: PidjinError) -> None:
        self.stop("signed-out" if error.code is Code.UNAUTHENTICATED else "access")

    # --- time -------------------------------------------------------------------------------------

    def _arm(self) -> None:
        if self._floor.talk.quiet:
            self._ending.quiet()
        self._turn_deadline.set(self._floor.talk.next_deadline())

    async def _watch(self) -> None:
        """The only clock on a lesson that nobody uses: sleep first, then goodbye."""
        while True:
            await asyncio.sleep(IDLE_CHECK_S)
            silent_s = self._loop.time() - self._floor.talk.last_voice_at
            if silent_s >= IDLE_AFTER_S:
                self._captions.show("idle", reason="silence")
                self.stop("idle")
            elif silent_s >= SLEEP_AFTER_S and self._floor.talk.quiet and self._link.up:
                self._link.sleep()

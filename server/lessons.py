"""All voice lessons of this process: opens them, hands peers over, ends them, waits for them.

A lesson is registered before its answer is sent and stays until its sound is off; what it still
has to store then finishes on its own, and a shutdown waits for that too.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Self

from media.live import port
from media.peer import OfferRefused
from media.plane import MediaPlane
from media.spans import Spans
from server import deleted_sessions
from server.access_watch import watch_access
from server.admission import give_way
from server.announcements import (
    Announcement,
    RoleChanged,
    SessionClosed,
    SignedOut,
    StyleChanged,
)
from server.books import DRAIN_S
from server.callers import Caller
from server.context import Context
from server.ending import SENTENCE_S
from server.errors import Unavailable, denied, invalid
from server.lesson import CLOSE_S, Lesson
from server.lesson_plan import LessonPlan, plan_of, ports_of
from server.lesson_samples import samples_of
from server.lesson_totals import LessonTotals
from server.live_setup import LiveComposition, compose_live
from server.locks import SessionLocks
from server.metrics import Sample
from server.operations.fields import Style
from server.roles import Role, require
from server.store.port import StoreError
from server.tidying import Tidying
from server.voice_sessions import VoiceSessions

log = logging.getLogger(__name__)

RESTARTING = "The server restarts. Please try again in a moment."


@dataclass(frozen=True, slots=True)
class Opened:
    """The answer to an offer."""

    sdp: str
    peer_id: str
    session_config: dict[str, Any]


class Lessons:
    """An async context manager; `connector` opens Live sessions for all of them."""

    def __init__(self, ctx: Context, plane: MediaPlane, connector: port.LiveConnector) -> None:
        self._ctx, self._plane, self._connector = ctx, plane, connector
        self.spans = Spans()
        self._totals = LessonTotals()
        self._voice_sessions = VoiceSessions(ctx.store, ctx.clock)
        self._by_session: dict[str, Lesson] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._tidying = Tidying(lambda: bool(self._tasks))
        self._opening = SessionLocks()
        self._draining = False
        self._closing = asyncio.Event()
        self._group: asyncio.Future[asyncio.TaskGroup] = asyncio.Future()
        self._owner: asyncio.Task[None] | None = None
        self._unsubscribe: Callable[[], None] = lambda: None

    async def __aenter__(self) -> Self:
        self._owner = asyncio.create_task(self._own(), name="lessons")
        await self._group
        self._unsubscribe = self._ctx.announcements.subscribe(self._heed)
        self._ctx.metrics.add_source(self._samples)
        self._ctx.drain.append(self.drain)
        try:
            await self._voice_sessions.purge()
            await deleted_sessions.purge(self._ctx.store, self._ctx.clock.now())
        except StoreError as error:
            log.warning("old records not removed", extra={"why": str(error)})
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.drain()
        self._unsubscribe()
        self._closing.set()
        if self._owner is not None:
            await self._owner
        self._tidying.close()

    async def _own(self) -> None:
        """The one task that all lessons belong to."""
        ctx = self._ctx
        async with asyncio.TaskGroup() as group:
            watch = group.create_task(
                watch_access(ctx.store, ctx.announcements, ctx.browsers, self._sign_ins),
                name="lessons:access",
            )
            self._group.set_result(group)
            await self._closing.wait()
            watch.cancel()

    def _sign_ins(self) -> set[tuple[str, str]]:
        running = (one for one in self._by_session.values() if not one.stopping)
        return {(one.plan.uid, one.credential_id) for one in running}

    # --- opening --------------------------------------------------------------------------------

    async def open(
        self, caller: Caller, session_id: str, topic_id: str, offer_sdp: str, style: Style | None
    ) -> Opened:
        """Starts a lesson, or hands a running one of the same person to the new peer.

        Raises PidjinError: `invalid-argument` for an offer nobody can use, ownership, quota, and
        `unavailable` while the process drains.
        """
        require(caller.role, Role.APPROVED)
        if self._draining:
            raise Unavailable(RESTARTING, details={"reason": "restarting"})
        async with self._opening.of(session_id):
            lesson = await self._running(session_id)
            composition = await compose_live(self._ctx, caller, session_id, topic_id, style)
            if lesson is None:
                return await self._start(caller, composition, offer_sdp, style)
            if lesson.plan.uid != caller.uid:
                raise denied("This conversation belongs to somebody else.")
            if not lesson.fits(composition):
                lesson.stop("replaced")
                await self._fall_silent(lesson)
                return await self._start(caller, composition, offer_sdp, style)
            return await self._attach(lesson, caller, composition, offer_sdp)

    async def _running(self, session_id: str) -> Lesson | None:
        """The lesson of a session; one that ends is waited for until its sound is off."""
        lesson = self._by_session.get(session_id)
        if lesson is None or not lesson.stopping:
            return lesson
        await self._fall_silent(lesson)
        return None

    @staticmethod
    async def _fall_silent(lesson: Lesson) -> None:
        try:
            async with asyncio.timeout(CLOSE_S + 1):
                await lesson.silent.wait()
        except TimeoutError:
            log.error("a lesson did not fall silent", extra={"session": lesson.plan.session_id})

    async def _start(
        self, caller: Caller, composition: LiveComposition, offer_sdp: str, style: Style | None
    ) -> Opened:
        ctx, session_id = self._ctx, composition.session_id
        config = await ctx.config.load()
        plan = plan_of(caller, composition, config, ctx.clock.now())
        plan, ends_at = await self._resumed(plan)
        if self._draining:
            raise Unavailable(RESTARTING, details={"reason": "restarting"})
        for lesson in give_way(self._by_session.values(), caller.uid):
            lesson.stop("superseded")
        handles = self._voice_sessions.place(plan, ends_at)
        ports = ports_of(ctx, caller, plan, style, handles)
        lesson = Lesson(plan, ports, self._plane, self._connector, self.spans)
        self._by_session[session_id] = lesson
        try:
            opened = await self._attach(lesson, caller, composition, offer_sdp)
            await ctx.quota.admit(caller.uid)  # RTC-2: before any Live session is opened
        except BaseException:
            self._forget(lesson)
            await lesson.discard("stopped")
            raise
        task = self._group.result().create_task(self._run(lesson), name=f"lesson:{session_id}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(self._tidying.lesson_over)
        ctx.metrics.count("pidjin_lessons_opened_total")
        return opened

    async def _resumed(self, plan: LessonPlan) -> tuple[LessonPlan, datetime]:
        """The plan with the Live session that a process before this one has left, and what is left
        of its time; else as it is, with all of it."""
        left = await self._voice_sessions.resumption(plan)
        if left is None:
            return plan, plan.started_at + timedelta(minutes=plan.minutes)
        rest = left.ends_at - plan.started_at
        log.info("lesson goes on", extra={"session": plan.session_id, "left_s": rest.seconds})
        minutes = min(plan.minutes, rest / timedelta(minutes=1))
        return replace(plan, handle=left.handle, minutes=minutes), left.ends_at

    async def _attach(
        self, lesson: Lesson, caller: Caller, composition: LiveComposition, offer_sdp: str
    ) -> Opened:
        try:
            answer, peer_id = await lesson.attach(offer_sdp, caller.credential_id)
        except OfferRefused as refused:
            raise invalid(str(refused)) from refused
        return Opened(answer, peer_id, composition.session_config)

    async def _run(self, lesson: Lesson) -> None:
        """The boundary of a lesson: its failure is its own, the others go on."""
        forgetting = asyncio.create_task(self._forget_silent(lesson), name="lesson:forget")
        try:
            await lesson.run()
        except BaseExceptionGroup as group:
            crashed, rest = group.split(Exception)
            if crashed is not None:
                self._crashed(lesson, crashed)
            if rest is not None:
                raise rest from None
        except Exception as error:
            self._crashed(lesson, error)
        finally:
            await forgetting

    def _crashed(self, lesson: Lesson, error: Exception) -> None:
        log.error("lesson failed", exc_info=error, extra={"session": lesson.plan.session_id})
        self._ctx.metrics.count("pidjin_lessons_failed_total")

    async def _forget_silent(self, lesson: Lesson) -> None:
        await lesson.silent.wait()
        self._forget(lesson)

    def _forget(self, lesson: Lesson) -> None:
        if self._by_session.get(lesson.plan.session_id) is lesson:
            del self._by_session[lesson.plan.session_id]
            self._totals.ended(lesson.vitals.figures)

    # --- ending -----------------------------------------------------------------------------------

    def owner_of(self, peer_id: str) -> Lesson | None:
        """The lesson whose peer this is."""
        return next((item for item in self._by_session.values() if item.peer_id == peer_id), None)

    def close_peer(self, caller: Caller, peer_id: str) -> bool:
        """Ends the lesson of a peer; False when there is none. Raises `permission-denied`."""
        lesson = self.owner_of(peer_id)
        if lesson is None:
            return False
        if lesson.plan.uid != caller.uid:
            raise denied("This voice session belongs to somebody else.")
        lesson.stop("stopped")
        return True

    async def drain(self) -> None:
        """Admits nobody, lets every tutor end the sentence, waits for what is stored. Bounded
        (CARD-17)."""
        self._draining = True
        for lesson in tuple(self._by_session.values()):
            lesson.wind_down("shutdown")
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=SENTENCE_S + CLOSE_S + DRAIN_S)

    def _heed(self, announcement: Announcement) -> None:
        """Access that ends, ends the voice at once (AUTH-24, RTC-20)."""
        match announcement:
            case SignedOut(uid=uid, credential_id=credential):
                ended = self._of(
                    lambda one: one.plan.uid == uid and one.credential_id == credential
                )
                reason = "signed-out"
            case RoleChanged(uid=uid, role=role) if role not in (Role.APPROVED, Role.ADMIN):
                ended, reason = self._of(lambda one: one.plan.uid == uid), "access"
            case SessionClosed(session_id=session_id):
                ended = self._of(lambda one: one.plan.session_id == session_id)
                reason = "session-closed"
            case StyleChanged(session_id=session_id):
                for lesson in self._of(lambda one: one.plan.session_id == session_id):
                    lesson.restyled()
                return
            case _:
                return
        for lesson in ended:
            lesson.stop(reason)

    def _of(self, matches: Callable[[Lesson], bool]) -> list[Lesson]:
        return [lesson for lesson in self._by_session.values() if matches(lesson)]

    def running(self) -> tuple[Lesson, ...]:
        """Oldest first."""
        return tuple(self._by_session.values())

    def of_session(self, session_id: str) -> Lesson | None:
        return self._by_session.get(session_id)

    # --- figures ----------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._by_session)

    def _samples(self) -> Iterable[Sample]:
        return samples_of(self.running(), self._totals, self._plane, self.spans)

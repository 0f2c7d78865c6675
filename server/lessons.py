"""All voice lessons of this process: opens them, hands peers over, ends them, waits for them.

A lesson is registered before its answer is sent and stays until its sound is off; what it still
has to store then finishes on its own, and a shutdown waits for that too.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Self

from agent.usage import TokenUsage
from media.live import port
from media.peer import MediaPlane, OfferRefused
from media.spans import Spans
from server import rtvi
from server.announcements import (
    Announcement,
    RoleChanged,
    SessionClosed,
    SignedOut,
    StyleChanged,
)
from server.callers import Caller
from server.clock import stamp
from server.context import Context
from server.errors import Code, PidjinError, Refused, Unavailable, denied, invalid
from server.exchanges import LEARNER_MAX, TUTOR_MAX, Exchange, Saved
from server.lesson import CLOSE_S, DRAIN_S, Lesson, LessonPlan, LessonPorts
from server.live_setup import LiveComposition, compose_live
from server.locks import SessionLocks
from server.metrics import Sample
from server.operations.dialogue import DialogueTurnRequest, dialogue_turn
from server.operations.preferences import SetSessionStyleRequest, set_session_style
from server.roles import Role, require, role_of
from server.store.records import user_path

log = logging.getLogger(__name__)

# One person, several tabs on several conversations: more is a mistake or an abuse.
LESSONS_PER_LEARNER = 3
# Beyond this a process would stutter (design 10: 32 lessons a core are the budget).
LESSONS_MAX = 128


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
        self._by_session: dict[str, Lesson] = {}
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
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.drain()
        self._unsubscribe()
        self._closing.set()
        if self._owner is not None:
            await self._owner

    async def _own(self) -> None:
        """The one task that all lessons belong to."""
        async with asyncio.TaskGroup() as group:
            self._group.set_result(group)
            await self._closing.wait()

    # --- opening --------------------------------------------------------------------------------

    async def open(
        self, caller: Caller, session_id: str, topic_id: str, offer_sdp: str, style: str | None
    ) -> Opened:
        """Starts a lesson, or hands a running one of the same person to the new peer.

        Raises PidjinError: `invalid-argument` for an offer nobody can use, ownership, quota, and
        `unavailable` while the process drains.
        """
        require(caller.role, Role.APPROVED)
        if self._draining:
            raise Unavailable("The server restarts. Please try again in a moment.")
        async with self._opening.of(session_id):
            composition = await compose_live(self._ctx, caller, session_id, topic_id, style)
            lesson = await self._running(session_id)
            if lesson is None:
                return await self._start(caller, composition, offer_sdp, style)
            if lesson.plan.uid != caller.uid:
                raise denied("This conversation belongs to somebody else.")
            if lesson.plan.topic_id != topic_id:
                lesson.stop("replaced")
                await lesson.silent.wait()
                return await self._start(caller, composition, offer_sdp, style)
            return await self._attach(lesson, composition, offer_sdp)

    async def _running(self, session_id: str) -> Lesson | None:
        """The lesson of a session; one that ends is waited for until its sound is off."""
        lesson = self._by_session.get(session_id)
        if lesson is None or not lesson.stopping:
            return lesson
        try:
            async with asyncio.timeout(CLOSE_S + 1):
                await lesson.silent.wait()
        except TimeoutError:
            log.error("a lesson did not fall silent", extra={"session": session_id})
        return None

    async def _start(
        self, caller: Caller, composition: LiveComposition, offer_sdp: str, style: str | None
    ) -> Opened:
        mine = sum(1 for lesson in self._by_session.values() if lesson.plan.uid == caller.uid)
        if mine >= LESSONS_PER_LEARNER:
            raise Refused(
                Code.RESOURCE_EXHAUSTED,
                f"You have {mine} voice lessons open. Close one of them first.",
                retry_after_s=15,
            )
        if len(self._by_session) >= LESSONS_MAX:
            raise Unavailable("All lines are busy. Please try again in a minute.", retry_after_s=60)
        config = await self._ctx.config.load()
        plan = LessonPlan(
            session_id=composition.session_id,
            topic_id=composition.topic_id,
            uid=caller.uid,
            credential_id=caller.credential_id,
            minutes=config.live_session_minutes,
            vad_enabled=composition.setup.vad_enabled,
            silence_ms=composition.setup.silence_ms,
            agenda=rtvi.Agenda(
                agenda=list(composition.agenda),
                covered_angles=list(composition.covered),
                complete=bool(composition.agenda)
                and set(composition.agenda) <= set(composition.covered),
            ),
        )
        ports = self._ports(caller, plan, composition.setup.model, style)
        lesson = Lesson(plan, ports, self._plane, self._connector, self.spans)
        try:
            opened = await self._attach(lesson, composition, offer_sdp)
            await self._ctx.quota.admit(caller.uid)  # RTC-2: before any Live session is opened
        except BaseException:
            await lesson.discard("stopped")
            raise
        self._by_session[plan.session_id] = lesson
        self._group.result().create_task(self._run(lesson), name=f"lesson:{plan.session_id}")
        self._ctx.metrics.count("pidjin_lessons_opened_total")
        return opened

    async def _attach(self, lesson: Lesson, composition: LiveComposition, offer_sdp: str) -> Opened:
        try:
            answer, peer_id = await lesson.attach(offer_sdp)
        except OfferRefused as refused:
            raise invalid(str(refused)) from refused
        return Opened(answer, peer_id, composition.session_config)

    async def _run(self, lesson: Lesson) -> None:
        forget = asyncio.ensure_future(self._forget(lesson))
        try:
            await lesson.run()
        except BaseExceptionGroup as group:
            # The boundary of a lesson: its failure is its own, the others go on.
            crashed, rest = group.split(Exception)
            if crashed is not None:
                log.error("lesson failed", exc_info=crashed)
                self._ctx.metrics.count("pidjin_lessons_failed_total")
            if rest is not None:
                raise rest from None
        finally:
            await forget

    async def _forget(self, lesson: Lesson) -> None:
        await lesson.silent.wait()
        if self._by_session.get(lesson.plan.session_id) is lesson:
            del self._by_session[lesson.plan.session_id]

    # --- what a lesson asks of the product --------------------------------------------------------

    def _ports(
        self, caller: Caller, plan: LessonPlan, model: str, style: str | None
    ) -> LessonPorts:
        ctx = self._ctx

        async def current() -> Caller:
            """The same person with the role of this moment (RTC-20)."""
            user = await ctx.store.get(user_path(caller.uid))
            data = user.data if user else {}
            now = Caller(
                caller.identity, role_of(data.get("role")), data, caller.credential_id, caller.via
            )
            require(now.role, Role.APPROVED)
            return now

        async def save(exchange: Exchange) -> Saved:
            request = DialogueTurnRequest(
                session_id=plan.session_id,
                topic_id=plan.topic_id,
                user_utterance_summary=exchange.learner[:LEARNER_MAX],
                tutor_reply=exchange.tutor[:TUTOR_MAX],
                tutor_interrupted=exchange.interrupted,
            )
            return await dialogue_turn(ctx, await current(), request)

        async def compose() -> port.LiveSetup:
            try:
                composition = await compose_live(
                    ctx, await current(), plan.session_id, plan.topic_id, style
                )
            except PidjinError as error:
                raise port.LiveRefused(error.http_status, error.message) from error
            return composition.setup

        async def choose_style(chosen: str) -> None:
            request = SetSessionStyleRequest.model_validate(
                {"sessionId": plan.session_id, "style": chosen}
            )
            await set_session_style(ctx, await current(), request)

        async def used(usage: port.Usage) -> None:
            tokens = TokenUsage(
                input=usage.prompt,
                output=usage.response,
                thoughts=usage.thoughts,
                cached=usage.cached,
                total=usage.total,
            )
            await ctx.usage.record(caller.uid, "live", model, tokens)

        return LessonPorts(
            save=save,
            compose=compose,
            choose_style=choose_style,
            used=used,
            stamp=lambda: stamp(ctx.clock.now()),
        )

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
        """Admits nobody, ends every lesson, waits for what they store. Bounded (CARD-17)."""
        self._draining = True
        for lesson in tuple(self._by_session.values()):
            lesson.stop("shutdown")
        running = [task for task in asyncio.all_tasks() if task.get_name().startswith("lesson:")]
        running = [task for task in running if task is not asyncio.current_task()]
        if running:
            await asyncio.wait(running, timeout=CLOSE_S + DRAIN_S + 1)

    def _heed(self, announcement: Announcement) -> None:
        """Access that ends, ends the voice at once (AUTH-24, RTC-20)."""
        match announcement:
            case SignedOut(uid=uid, credential_id=credential):
                ended = self._of(lambda p: p.uid == uid and p.credential_id == credential)
                reason = "signed-out"
            case RoleChanged(uid=uid, role=role) if role not in (Role.APPROVED, Role.ADMIN):
                ended, reason = self._of(lambda p: p.uid == uid), "access"
            case SessionClosed(session_id=session_id):
                ended = self._of(lambda p: p.session_id == session_id)
                reason = "session-closed"
            case StyleChanged(session_id=session_id):
                for lesson in self._of(lambda p: p.session_id == session_id):
                    lesson.restyled()
                return
            case _:
                return
        for lesson in ended:
            lesson.stop(reason)

    def _of(self, matches: Callable[[LessonPlan], bool]) -> list[Lesson]:
        return [lesson for lesson in self._by_session.values() if matches(lesson.plan)]

    # --- figures ----------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._by_session)

    def _samples(self) -> Iterable[Sample]:
        yield "pidjin_lessons", (), float(len(self._by_session))
        for name in self.spans.names():
            for q in (0.5, 0.95, 0.99):
                value = self.spans.quantile(name, q)
                if value is not None:
                    labels = (("quantile", str(q)), ("span", name))
                    yield "pidjin_span_seconds", labels, value

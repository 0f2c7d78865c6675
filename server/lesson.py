"""One voice lesson: the owner of its peer, its Live session, its conversation and its bookkeeping.

One TaskGroup, ended by `stop`; shutdown is ordered and bounded. A lesson outlives its peer for a
while, so that the same person may come back with a new one (design 5.6), and its Live session
lives and dies inside it.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pydantic import BaseModel

from media.gate import Gate, GateSettings
from media.live import link as live
from media.live import port
from media.live.link import LiveLink
from media.peer import MediaPlane, Peer, PeerState
from media.spans import OFFER_TO_ANSWER, Spans
from media.turns import Turns
from media.vad import Vad
from server import rtvi
from server.channel import Channel
from server.conversation import Conversation
from server.errors import Code, PidjinError, Unavailable
from server.exchanges import Exchange, Exchanges, Saved

log = logging.getLogger(__name__)

# A peer that went away may be replaced within this time (design 5.6).
PEER_GRACE_S = 15.0
# After this much real silence the Live session sleeps: no tokens are billed (design 5.5).
SLEEP_AFTER_S = 30.0
# A forgotten page ends its lesson (PAINS T22).
IDLE_AFTER_S = 600.0
IDLE_CHECK_S = 1.0
# Bound of the ordered shutdown of sound; the bookkeeping of finished exchanges has its own.
CLOSE_S = 3.0
DRAIN_S = 10.0

STYLE_STOPS_VOICE = "Voice stopped to apply the new style. Tap the mic to continue."

CLOSED_TEXT = {
    "stopped": "Voice is off.",
    "replaced": "This conversation goes on in another window.",
    "peer-lost": "The connection was lost. Tap the mic to continue.",
    "session-limit": "This voice session has reached its time limit. Tap the mic to continue.",
    "idle": "Voice paused after a long silence. Tap the mic to continue.",
    "style": STYLE_STOPS_VOICE,
    "access": "Your access has changed. Please reload the page.",
    "signed-out": "You have signed out.",
    "session-closed": "This conversation was closed elsewhere.",
    "live-unavailable": "The voice service cannot be reached right now. You can go on by typing.",
    "shutdown": "The server restarts. Tap the mic in a moment to continue.",
    "internal": "Something went wrong on our side. Tap the mic to continue.",
}

# Why the Live service could not be had, in words that a learner can act on.
LIVE_FAILED_TEXT = {
    "quota": "The voice service is over its limit right now. You can go on by typing.",
    "setup_timeout": "The voice service did not answer in time. Tap the mic to try again.",
}


@dataclass(frozen=True, slots=True)
class LessonPlan:
    """What a lesson needs to know of the product: composed once, when it opens."""

    session_id: str
    topic_id: str
    uid: str
    credential_id: str
    minutes: float
    vad_enabled: bool
    silence_ms: int
    agenda: rtvi.Agenda


@dataclass(frozen=True, slots=True)
class LessonPorts:
    """How a lesson reaches the rest of the product. `save` stores one exchange as the observer
    sees it; `compose` gives the setup of a Live session that starts now; `choose_style` stores a
    style (and comes back as `restyled`); `used` counts the tokens of one report."""

    save: Callable[[Exchange], Awaitable[Saved]]
    compose: Callable[[], Awaitable[port.LiveSetup]]
    choose_style: Callable[[str], Awaitable[None]]
    used: Callable[[port.Usage], Awaitable[None]]
    stamp: Callable[[], str]


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
        self._ports, self._plane, self._spans = ports, plane, spans
        loop = asyncio.get_running_loop()
        self._loop, self._now = loop, loop.time
        self._channel = Channel(self._received, self._now)
        settings = (
            GateSettings(trailing_ms=plan.silence_ms)
            if plan.vad_enabled
            else GateSettings(hangover_ms=plan.silence_ms, service_ends_turns=False)
        )
        self._conversation = Conversation(
            gate=Gate(Vad(), settings),
            # A resumed session meets the ids of its earlier lessons on the same page.
            turns=Turns(prefix=f"{secrets.token_hex(3)}-", link_up=False),
            tell=self._tell,
            tell_level=self._channel.send_if_ready,
            finished=self._finished,
            now=self._now,
            stamp=ports.stamp,
            uid=plan.uid,
            spans=spans,
            manual_activity=not plan.vad_enabled,
        )
        self._link = LiveLink(
            connector, ports.compose, self._live, quiet=lambda: self._conversation.quiet
        )
        self._conversation.connect(self._link)
        self._conversation.on_deadline_changed = self._arm
        self._exchanges = Exchanges(ports.save, self._tell, self._steer, self._denied)
        self._usage: asyncio.Queue[port.Usage | None] = asyncio.Queue(256)
        self._cost = rtvi.Cost(input_tokens=0, output_tokens=0, cached_tokens=0, usd=None, model="")
        self._agenda = plan.agenda
        self._peer: Peer | None = None
        self._attaching = asyncio.Lock()
        self._stopped = asyncio.Event()
        self._reason = ""
        self._group: asyncio.TaskGroup | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._grace: asyncio.TimerHandle | None = None
        self._shut = False
        self.silent = asyncio.Event()

    # --- life -----------------------------------------------------------------------------------

    async def run(self) -> None:
        """Until `stop`; ends after the sound is shut (CLOSE_S) and the bookkeeping done (DRAIN_S).

        What a child raises ends the lesson and is the caller's to log.
        """
        limit = self._loop.call_later(self.plan.minutes * 60, self.stop, "session-limit")
        name = f"lesson:{self.plan.session_id}"
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                group.create_task(self._keep_link(), name=f"{name}:link")
                saving = group.create_task(self._exchanges.run(), name=f"{name}:observer")
                counting = group.create_task(self._count_usage(), name=f"{name}:usage")
                watching = group.create_task(self._watch_silence(), name=f"{name}:silence")
                await self._stopped.wait()
                self._group = None
                watching.cancel()
                await self._shutdown()
                _, late = await asyncio.wait((saving, counting), timeout=DRAIN_S)
                for task in late:
                    log.error("bookkeeping cut off", extra={"task": task.get_name()})
                    task.cancel()
        finally:
            limit.cancel()
            self._group = None
            await self._shutdown()

    async def _keep_link(self) -> None:
        """A bug in the link ends the lesson, not the saving of what was already said."""
        try:
            await self._link.run()
        except* Exception:
            log.exception("live link broke", extra={"session": self.plan.session_id})
            self.stop("internal")

    def stop(self, reason: str) -> None:
        """Ends the lesson; the first reason counts."""
        if not self._stopped.is_set():
            self._reason = reason
            log.info("lesson ends", extra={"session": self.plan.session_id, "why": reason})
            self._stopped.set()

    @property
    def stopping(self) -> bool:
        return self._stopped.is_set()

    @property
    def peer_id(self) -> str | None:
        return self._peer.id if self._peer else None

    async def _shutdown(self) -> None:
        """Sound first, then the page, then the services: nothing speaks after `closed`."""
        if self._shut:
            return
        self._shut = True
        self._conversation.on_deadline_changed = lambda: None
        for timer in (self._deadline, self._grace):
            if timer is not None:
                timer.cancel()
        self._conversation.close()
        self._exchanges.finish()
        reason = self._reason or "internal"
        self._conversation.show("closed", reason=reason)
        self._tell(rtvi.Closed(reason=reason, text=CLOSED_TEXT[reason]))
        await asyncio.wait(
            (
                asyncio.ensure_future(self._drop_peer()),
                asyncio.ensure_future(self._link.close()),
            ),
            timeout=CLOSE_S,
        )
        self._usage.put_nowait(None)
        self.silent.set()

    async def discard(self, reason: str) -> None:
        """Ends a lesson that was never run."""
        self.stop(reason)
        await self._shutdown()

    # --- the peer -------------------------------------------------------------------------------

    async def attach(self, offer_sdp: str) -> tuple[str, str]:
        """Answers an offer: (answer SDP, peer id). A peer before it is told and closed first.

        Raises OfferRefused, Unavailable when the lesson is ending.
        """
        async with self._attaching:
            if self.stopping:
                raise Unavailable("This voice session is ending. Please try again.")
            started = self._now()
            peer = self._plane.peer(
                on_audio=self._conversation.hear,
                pull=self._conversation.pull,
                on_message=self._channel.received,
                on_state=lambda state: self._peer_moved(peer, state),
            )
            answer = await peer.answer(offer_sdp)
            self._spans.add(OFFER_TO_ANSWER, self._now() - started)
            if self._peer is not None:
                self._tell(rtvi.Closed(reason="replaced", text=CLOSED_TEXT["replaced"]))
                await self._drop_peer()
            if self.stopping:
                await peer.close()
                raise Unavailable("This voice session is ending. Please try again.")
            self._peer = peer
            self._channel.attach(peer.send)
            self._await_peer()
            return answer, peer.id

    async def _drop_peer(self) -> None:
        peer, self._peer = self._peer, None
        self._channel.detach()
        if peer is not None:
            await peer.close()

    def _peer_moved(self, peer: Peer, state: PeerState) -> None:
        if peer is not self._peer:
            return
        if state is PeerState.CONNECTED:
            if self._grace is not None:
                self._grace.cancel()
                self._grace = None
        elif state is PeerState.LOST:
            self._await_peer()

    def _await_peer(self) -> None:
        """Nobody is connected now: somebody has to be soon."""
        if self._grace is None and not self.stopping:
            self._grace = self._loop.call_later(PEER_GRACE_S, self.stop, "peer-lost")

    # --- the page -------------------------------------------------------------------------------

    def _tell(self, message: BaseModel | str) -> None:
        if isinstance(message, rtvi.Agenda):
            self._agenda = message
        self._channel.send(message)

    def _received(self, got: rtvi.Received) -> None:
        match got.message:
            case rtvi.ClientReady():
                self._channel.reply_ready(got.id, [self._conversation.status, self._agenda])
            case rtvi.SendText(content=content):
                self._conversation.typed(content, got.id)
            case rtvi.Mic(on=on) | rtvi.TrackStatus(enabled=on, receiver_index=0):
                self._conversation.microphone_on = on
                self._tell("user-mute-stopped" if on else "user-mute-started")
            case rtvi.ReplySpeech(on=on):
                self._conversation.speech_on = on
            case rtvi.StyleChoice(style=style):
                if self._group is not None:
                    self._group.create_task(self._restyle(style))
            case rtvi.Stop() | rtvi.DisconnectBot():
                self.stop("stopped")
            case _:
                pass

    async def _restyle(self, style: str) -> None:
        try:
            await self._ports.choose_style(style)
        except PidjinError as error:
            self._tell(rtvi.Notice(text=error.message, code=error.code))

    def restyled(self) -> None:
        """VOICE-53: a new style needs a new Live session; the next tap opens it."""
        self._tell(rtvi.Notice(text=STYLE_STOPS_VOICE, code="style"))
        self.stop("style")

    # --- the Live session -------------------------------------------------------------------------

    def _live(self, event: port.LiveEvent | live.LinkEvent) -> None:
        match event:
            case port.Usage():
                self._count(event)
            case live.LinkUp(model=model):
                self._cost = self._cost.model_copy(update={"model": model})
                self._conversation.link_restored()
            case live.LinkDown():
                self._conversation.link_lost()
                if not self.stopping:
                    self._conversation.show("reconnecting")
            case live.LinkFailed(code=code, reason=reason):
                log.error("live link failed", extra={"code": code, "why": reason})
                text = LIVE_FAILED_TEXT.get(code, CLOSED_TEXT["live-unavailable"])
                self._tell(rtvi.Notice(text=text, code=f"live-{code}"))
                self.stop("live-unavailable")
            case live.LinkAsleep() | live.LinkAwake():
                log.info("live link", extra={"event": type(event).__name__})
            case _:
                self._conversation.live(event)

    def _count(self, usage: port.Usage) -> None:
        cost = self._cost
        self._cost = cost.model_copy(
            update={
                "input_tokens": cost.input_tokens + usage.prompt,
                "output_tokens": cost.output_tokens + usage.response + usage.thoughts,
                "cached_tokens": cost.cached_tokens + usage.cached,
            }
        )
        self._tell(self._cost)
        if self._usage.qsize() < self._usage.maxsize - 1:
            self._usage.put_nowait(usage)
        else:
            log.error("usage report dropped", extra={"session": self.plan.session_id})

    async def _count_usage(self) -> None:
        while (usage := await self._usage.get()) is not None:
            try:
                await self._ports.used(usage)
            except PidjinError as error:
                log.error("usage not counted", extra={"why": error.code})

    # --- bookkeeping ------------------------------------------------------------------------------

    def _finished(self, exchange: Exchange) -> None:
        self._exchanges.add(exchange)

    def _steer(self, update: str) -> None:
        """Into the Live session at the next quiet moment; a dead one gets nothing (OBS-23)."""
        if not self.stopping:
            self._link.context(update)

    def _denied(self, error: PidjinError) -> None:
        reason = "signed-out" if error.code == Code.UNAUTHENTICATED else "access"
        self.stop(reason)

    # --- time -------------------------------------------------------------------------------------

    def _arm(self) -> None:
        """Keeps one timer at the turn machine's next deadline."""
        due = self._conversation.next_deadline()
        timer = self._deadline
        if timer is not None:
            if due is not None and not timer.cancelled() and timer.when() == due:
                return
            timer.cancel()
        self._deadline = None if due is None else self._loop.call_at(due, self._due)

    def _due(self) -> None:
        self._deadline = None
        self._conversation.time_passed()

    async def _watch_silence(self) -> None:
        """The only clock on a lesson that nobody uses: sleep first, then goodbye."""
        while True:
            await asyncio.sleep(IDLE_CHECK_S)
            silent_s = self._now() - self._conversation.last_voice_at
            if silent_s >= IDLE_AFTER_S:
                self._conversation.show("idle", reason="silence")
                self.stop("idle")
            elif silent_s >= SLEEP_AFTER_S and self._conversation.quiet and self._link.up:
                self._link.sleep()

"""What a lesson knows of the product, and how it reaches it. Everything else it gets as events."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from agent.usage import TokenUsage
from media.gate import GateSettings
from media.live import port
from media.modes.voice_mode import VoiceMode
from media.script_check import LATIN, scripts_of
from server import rtvi
from server.agent_ports import AgentPorts, agent_ports_of
from server.callers import Caller
from server.clock import stamp
from server.config import AppConfig
from server.context import Context
from server.errors import Code, PidjinError, Refused
from server.exchanges import LEARNER_MAX, TUTOR_MAX, Exchange, Saved
from server.handle_keeper import HandlePlace
from server.live_setup import LiveComposition, compose_live
from server.operations.dialogue import DialogueTurnRequest, dialogue_turn
from server.operations.fields import Style
from server.operations.preferences import SetSessionStyleRequest, set_session_style
from server.prices import Rates, spoken_nano
from server.roles import Role, require, role_of
from server.settings import Settings
from server.store.records import user_path
from server.tracing import LessonTrace
from server.trouble import translated
from server.turn_files import TurnFile


@dataclass(frozen=True, slots=True)
class LessonPlan:
    """Composed once, when a lesson opens."""

    session_id: str
    topic_id: str
    uid: str
    credential_id: str
    minutes: float
    vad_enabled: bool
    silence_ms: int
    agenda: rtvi.Agenda
    topic: str
    started_at: datetime
    # Scripts that the learner may be expected to speak in.
    scripts: frozenset[str] = frozenset({LATIN})
    # Of a Live session that another process left, to go on with.
    handle: str = ""
    mode: VoiceMode = VoiceMode.NATIVE
    model: str = ""
    voice: str = ""
    # As far as the Live session carries it.
    style: str = ""

    @property
    def native(self) -> bool:
        """The Live model words its replies itself."""
        return self.mode is VoiceMode.NATIVE

    def fits(self, composition: LiveComposition) -> bool:
        """Whether an offer that is composed now is about the same topic, in the same mode."""
        known = (self.topic_id, self.mode, self.model)
        return known == (composition.topic_id, composition.mode, composition.setup.model)

    @property
    def gate(self) -> GateSettings:
        """RTC-8: the service hears enough silence to end the turn by itself; without its
        detection the gate's hang-over ends it."""
        if self.vad_enabled:
            return GateSettings(trailing_ms=self.silence_ms)
        return GateSettings(hangover_ms=self.silence_ms, service_ends_turns=False)


@dataclass(frozen=True, slots=True)
class LessonPorts:
    """`save` stores one exchange as the observer sees it; `compose` gives the setup of a Live
    session that starts now; `choose_style` stores a style and tells whether there was a session
    to store it in; `agent` is asked for replies where the Live model does not make them; `used`
    counts the tokens of one report of a model, and `rates` tells what that
    model costs; `handles` keeps what another process needs to go on. The awaitables but those of
    `handles` raise PidjinError."""

    save: Callable[[Exchange], Awaitable[Saved]]
    compose: Callable[[], Awaitable[port.LiveSetup]]
    choose_style: Callable[[Style], Awaitable[bool]]
    agent: AgentPorts
    used: Callable[[port.Usage, str], Awaitable[None]]
    rates: Callable[[str], Rates | None]
    handles: HandlePlace
    trace: LessonTrace
    stamp: Callable[[], str]
    turn_file: TurnFile | None = None


def plan_of(
    caller: Caller, composition: LiveComposition, config: AppConfig, now: datetime
) -> LessonPlan:
    agenda, covered = composition.agenda, composition.covered
    return LessonPlan(
        session_id=composition.session_id,
        topic_id=composition.topic_id,
        uid=caller.uid,
        credential_id=caller.credential_id,
        minutes=config.live_session_minutes,
        vad_enabled=composition.setup.vad_enabled,
        silence_ms=composition.setup.silence_ms,
        agenda=rtvi.Agenda(
            agenda=list(agenda),
            covered_angles=list(covered),
            complete=bool(agenda) and set(agenda) <= set(covered),
        ),
        topic=composition.topic.topic,
        started_at=now,
        scripts=scripts_of(composition.topic.topic + composition.topic.digest) | {LATIN},
        mode=composition.mode,
        model=composition.setup.model,
        voice=composition.setup.voice_name,
        style=carried_style(composition),
    )


def carried_style(composition: LiveComposition) -> str:
    """The style that a Live session speaks in; none where the agent words every reply."""
    return composition.style if composition.mode is VoiceMode.NATIVE else ""


def turn_file_of(settings: Settings, plan: LessonPlan) -> TurnFile | None:
    """None unless the setting asks for logs of turns."""
    if not settings.turn_logs:
        return None
    return TurnFile(settings.data_dir, plan.session_id, plan.started_at)


def ports_of(
    ctx: Context, caller: Caller, plan: LessonPlan, style: Style | None, handles: HandlePlace
) -> LessonPorts:
    """`style`: chosen before anything was stored, at the offer or since; the first stored turn
    keeps it."""
    early = style
    trace = ctx.tracing.lesson(session=plan.session_id, mode=plan.mode.value, model=plan.model)

    async def current() -> Caller:
        """The same person with the role of this moment (RTC-20)."""
        user = await ctx.store.get(user_path(caller.uid))
        data = user.data if user else {}
        role = role_of(data.get("role"))
        now = Caller(caller.identity, role, data, caller.credential_id, caller.via)
        require(now.role, Role.APPROVED)
        return now

    async def save(exchange: Exchange) -> Saved:
        request = DialogueTurnRequest(
            session_id=plan.session_id,
            topic_id=plan.topic_id,
            user_utterance_summary=exchange.learner[:LEARNER_MAX],
            tutor_reply=exchange.tutor[:TUTOR_MAX],
            tutor_interrupted=exchange.interrupted,
            style=early,
        )
        with trace.timed("observer"), translated():
            return await dialogue_turn(ctx, await current(), request)

    async def compose() -> port.LiveSetup:
        try:
            with translated():
                composition = await compose_live(
                    ctx,
                    await current(),
                    plan.session_id,
                    plan.topic_id,
                    early,
                    pinned=(plan.mode, plan.model),
                )
        except PidjinError as error:
            raise port.LiveRefused(error.http_status, error.message) from error
        setup = composition.setup
        handles.composed(voice=setup.voice_name, style=carried_style(composition))
        return setup

    async def choose_style(chosen: Style) -> bool:
        nonlocal early
        early = chosen
        request = SetSessionStyleRequest.model_validate(
            {"sessionId": plan.session_id, "style": chosen}
        )
        try:
            with translated():
                await set_session_style(ctx, await current(), request)
        except Refused as refused:
            if refused.code is Code.FAILED_PRECONDITION:
                return False
            raise
        return True

    async def used(usage: port.Usage, model: str) -> None:
        tokens = TokenUsage(
            input=usage.prompt,
            output=usage.response,
            thoughts=usage.thoughts,
            cached=usage.cached,
            total=usage.total,
        )
        rates = ctx.rates(model)
        nano = spoken_nano(rates, usage) if rates else None
        with translated():
            await ctx.usage.record(caller.uid, "live", model, tokens, rates, nano)

    return LessonPorts(
        save=save,
        compose=compose,
        choose_style=choose_style,
        agent=agent_ports_of(
            ctx,
            current,
            session_id=plan.session_id,
            topic_id=plan.topic_id,
            style=lambda: early,
        ),
        used=used,
        rates=ctx.rates,
        handles=handles,
        trace=trace,
        stamp=lambda: stamp(ctx.clock.now()),
        turn_file=turn_file_of(ctx.settings, plan),
    )

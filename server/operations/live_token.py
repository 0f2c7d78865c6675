"""`getLiveSessionToken`: for a client that talks to the Live service itself (API-26 to API-33)."""

from __future__ import annotations

from typing import Any

from pydantic import model_validator

from agent.live_token import LiveConstraints, Tool
from agent.prompts.classic import compose_live_classic_instruction
from media.live.port import LiveSetup
from server.callers import Caller
from server.clock import stamp
from server.config import AppConfig
from server.context import Context
from server.errors import not_ready
from server.live_setup import base_setup, compose_live, session_config
from server.operations.fields import SessionId, TopicId
from server.operations.owned import owned_session, owned_topic
from server.registry import MODEL_DEADLINE_S, Operation, Wire
from server.roles import Role


class LiveTokenRequest(Wire):
    topic_id: TopicId | None = None
    session_id: SessionId | None = None

    @model_validator(mode="after")
    def _some(self) -> LiveTokenRequest:
        if self.topic_id is None and self.session_id is None:
            raise ValueError("send topicId, sessionId or both")
        return self


class LiveTokenResponse(Wire):
    """The style is locked into a native token. A client that holds one ends its voice session when
    the style changes, with the notice `Voice stopped to apply the new style. Tap the mic to
    continue.`, and mints another; in every other mode it shows `Style changes apply from the next
    reply.` and goes on. A lesson over WebRTC needs neither: the server changes the style in it."""

    token: str
    model: str
    expire_time: str
    uses: int
    session_config: dict[str, Any]


async def get_live_session_token(
    ctx: Context, caller: Caller, request: LiveTokenRequest
) -> LiveTokenResponse:
    """The instruction is locked into the token and never returned (API-29)."""
    config = await ctx.config.load()
    setup, told = await _composed(ctx, caller, request, config)
    await ctx.quota.admit(caller.uid)
    now = ctx.clock.now()
    token = await ctx.gateway.mint_live_token(
        constraints_of(setup),
        uses=config.live_token_uses,
        expire_time=now + config.live_session_lifetime,
        new_session_expire_time=now + config.live_open_window,
    )
    return LiveTokenResponse(
        token=token.name,
        model=token.model,
        expire_time=stamp(token.expire_time),
        uses=token.uses,
        session_config=told,
    )


async def _composed(
    ctx: Context, caller: Caller, request: LiveTokenRequest, config: AppConfig
) -> tuple[LiveSetup, dict[str, Any]]:
    """Setup and `sessionConfig`. Without both session and topic it only listens (API-30, API-32);
    a stored session knows its latest topic."""
    session_id, topic_id = request.session_id, request.topic_id
    if topic_id is None and session_id is not None:
        session = await owned_session(ctx, caller.uid, session_id)
        topic_id = session["topicIds"][-1] if session is not None else None
    if session_id is not None and topic_id is not None:
        live = await compose_live(ctx, caller, session_id, topic_id)
        return live.setup, live.session_config
    if topic_id is not None and await owned_topic(ctx, caller.uid, topic_id) is None:
        raise not_ready("Choose a topic first: this one has not been prepared yet.")
    mode = config.voice_mode(bound=False)
    setup = LiveSetup(
        **base_setup(config, mode, config.live_model),
        instruction=compose_live_classic_instruction(),
    )
    return setup, session_config(config, mode)


def constraints_of(setup: LiveSetup) -> LiveConstraints:
    """The same setup that the peer's session is opened with, as a token is locked to it."""
    return LiveConstraints(
        model=setup.model,
        instruction=setup.instruction,
        vad_enabled=setup.vad_enabled,
        silence_ms=setup.silence_ms,
        prefix_ms=setup.prefix_ms,
        start_sensitivity=setup.start_sensitivity,
        end_sensitivity=setup.end_sensitivity,
        voice_name=setup.voice_name,
        output_transcription=setup.output_transcription,
        tools=tuple(Tool(tool.name, tool.description, tool.parameters) for tool in setup.tools),
        thinking_level=setup.thinking_level,
    )


GET_LIVE_SESSION_TOKEN = Operation(
    name="getLiveSessionToken",
    summary="Mints a token that opens this lesson’s Live session and nothing else.",
    request=LiveTokenRequest,
    response=LiveTokenResponse,
    role=Role.APPROVED,
    run=get_live_session_token,
    quota=True,
    deadline_s=MODEL_DEADLINE_S,
)

"""`getLiveSessionToken`: for a client that talks to the Live service itself (API-26 to API-33)."""

from __future__ import annotations

from typing import Any

from pydantic import model_validator

from agent.live_token import LiveConstraints
from media.live.port import LiveSetup
from server.callers import Caller
from server.clock import stamp
from server.context import Context
from server.errors import not_ready
from server.live_setup import compose_live
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
    session_id, topic_id = await _bound(ctx, caller, request)
    live = await compose_live(ctx, caller, session_id, topic_id)
    await ctx.quota.admit(caller.uid)
    now = ctx.clock.now()
    token = await ctx.gateway.mint_live_token(
        constraints_of(live.setup),
        uses=config.live_token_uses,
        expire_time=now + config.live_session_lifetime,
        new_session_expire_time=now + config.live_open_window,
    )
    return LiveTokenResponse(
        token=token.name,
        model=token.model,
        expire_time=stamp(token.expire_time),
        uses=token.uses,
        session_config=live.session_config,
    )


async def _bound(ctx: Context, caller: Caller, request: LiveTokenRequest) -> tuple[str, str]:
    """Session and topic of the request; a stored session knows its latest topic (API-30)."""
    if request.session_id is not None and request.topic_id is not None:
        return request.session_id, request.topic_id
    if request.session_id is not None:
        session = await owned_session(ctx, caller.uid, request.session_id)
        if session is not None:
            return request.session_id, session["topicIds"][-1]
        raise not_ready("This conversation is new: send topicId too.", reason="no-topic")
    if request.topic_id is not None:
        await owned_topic(ctx, caller.uid, request.topic_id)
    raise not_ready("A spoken lesson belongs to a conversation: send sessionId too.")


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
        output_transcription=True,
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

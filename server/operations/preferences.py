"""`setSessionStyle` and `setPreferredStyle`: how the tutor teaches (API-46, API-47)."""

from __future__ import annotations

from server.announcements import StyleChanged
from server.callers import Caller
from server.clock import stamp
from server.context import Context
from server.errors import not_ready
from server.operations.fields import SessionId, Style
from server.operations.owned import check_owner
from server.registry import Operation, Wire
from server.roles import Role
from server.store.port import Transaction
from server.store.records import session_path, user_path


class SetSessionStyleRequest(Wire):
    session_id: SessionId
    style: Style


class SetSessionStyleResponse(Wire):
    session_id: str
    style: Style
    style_updated_at: str


class SetPreferredStyleRequest(Wire):
    style: Style


class SetPreferredStyleResponse(Wire):
    preferred_style: Style


async def set_session_style(
    ctx: Context, caller: Caller, request: SetSessionStyleRequest
) -> SetSessionStyleResponse:
    """Creates no session: before the first stored turn the change has to wait (DATA-17)."""
    now = stamp(ctx.clock.now())
    path = session_path(request.session_id)

    async def work(transaction: Transaction) -> None:
        if check_owner(await transaction.get(path), caller.uid) is None:
            raise not_ready(
                "The style can be changed once the first turn is saved.", reason="not-stored"
            )
        transaction.update(path, {"style": request.style, "styleUpdatedAt": now})

    await ctx.store.transaction(work)
    ctx.announcements.publish(StyleChanged(request.session_id, caller.uid, request.style))
    return SetSessionStyleResponse(
        session_id=request.session_id, style=request.style, style_updated_at=now
    )


async def set_preferred_style(
    ctx: Context, caller: Caller, request: SetPreferredStyleRequest
) -> SetPreferredStyleResponse:
    await ctx.store.update(user_path(caller.uid), {"preferredStyle": request.style})
    return SetPreferredStyleResponse(preferred_style=request.style)


SET_SESSION_STYLE = Operation(
    name="setSessionStyle",
    summary="Sets the style of one stored conversation.",
    request=SetSessionStyleRequest,
    response=SetSessionStyleResponse,
    role=Role.APPROVED,
    run=set_session_style,
)
SET_PREFERRED_STYLE = Operation(
    name="setPreferredStyle",
    summary="Sets the caller’s style for conversations that have none of their own.",
    request=SetPreferredStyleRequest,
    response=SetPreferredStyleResponse,
    role=Role.APPROVED,
    run=set_preferred_style,
)

"""`endSession`, `reopenSession`, `deleteSession`: the life of a stored conversation."""

from __future__ import annotations

from server.announcements import SessionClosed
from server.callers import Caller
from server.clock import moment, stamp
from server.context import Context
from server.deleted_sessions import mark
from server.errors import missing
from server.operations.fields import SessionId
from server.operations.owned import check_owner, stored_session
from server.registry import Operation, Wire
from server.roles import Role
from server.store.port import MISSING, Transaction
from server.store.records import session_path, voice_session_path


class SessionRequest(Wire):
    session_id: SessionId


class SessionResponse(Wire):
    session_id: str


class EndSessionResponse(Wire):
    session_id: str
    turn_count: int
    reveal_occurred: bool
    duration_seconds: int
    topics_covered: list[str]


async def end_session(ctx: Context, caller: Caller, request: SessionRequest) -> EndSessionResponse:
    """Ending an ended session changes nothing and answers the same (API-36)."""
    path = session_path(request.session_id)

    async def work(transaction: Transaction) -> EndSessionResponse:
        session = await stored_session(transaction, caller.uid, request.session_id)
        ended_at = moment(session["endedAt"]) if session.get("endedAt") else ctx.clock.now()
        if not session.get("endedAt"):
            transaction.update(path, {"endedAt": stamp(ended_at)})
        turns = session["turns"]
        return EndSessionResponse(
            session_id=request.session_id,
            turn_count=len(turns),
            reveal_occurred=any(turn["mode"] == "reveal" for turn in turns),
            duration_seconds=max(0, int((ended_at - moment(session["startedAt"])).total_seconds())),
            topics_covered=[session["topicLabels"][topic_id] for topic_id in session["topicIds"]],
        )

    response = await ctx.store.transaction(work)
    ctx.announcements.publish(SessionClosed(request.session_id, caller.uid))
    return response


async def reopen_session(ctx: Context, caller: Caller, request: SessionRequest) -> SessionResponse:
    async def work(transaction: Transaction) -> None:
        await stored_session(transaction, caller.uid, request.session_id)
        transaction.update(session_path(request.session_id), {"endedAt": MISSING})

    await ctx.store.transaction(work)
    return SessionResponse(session_id=request.session_id)


async def delete_session(ctx: Context, caller: Caller, request: SessionRequest) -> SessionResponse:
    """The owner or any admin, at once: a turn under way neither joins it nor brings it back."""
    path = session_path(request.session_id)

    async def work(transaction: Transaction) -> str:
        doc = await transaction.get(path)
        if doc is None:
            raise missing("There is no such conversation.")
        if caller.role is not Role.ADMIN:
            check_owner(doc, caller.uid)
        transaction.delete(path)
        transaction.delete(voice_session_path(request.session_id))
        mark(transaction, request.session_id, ctx.clock.now())
        return str(doc.data["uid"])

    owner = await ctx.store.transaction(work)
    ctx.announcements.publish(SessionClosed(request.session_id, owner))
    return SessionResponse(session_id=request.session_id)


END_SESSION = Operation(
    name="endSession",
    summary="Ends a conversation and sums it up.",
    request=SessionRequest,
    response=EndSessionResponse,
    role=Role.APPROVED,
    run=end_session,
)
REOPEN_SESSION = Operation(
    name="reopenSession",
    summary="Makes an ended conversation accept turns again.",
    request=SessionRequest,
    response=SessionResponse,
    role=Role.APPROVED,
    run=reopen_session,
)
DELETE_SESSION = Operation(
    name="deleteSession",
    summary="Removes a conversation with all its turns.",
    request=SessionRequest,
    response=SessionResponse,
    role=Role.APPROVED,
    run=delete_session,
)

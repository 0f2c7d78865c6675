"""`approveUser`, `rejectUser`, `revokeUser`, `mintInvite`: admins decide who may learn here."""

from __future__ import annotations

import logging

from server.announcements import RoleChanged
from server.callers import Caller
from server.clock import stamp
from server.context import Context
from server.errors import missing, not_ready
from server.identity.links import INVITE_LIFETIME, Link
from server.identity.local import DEV_UID
from server.operations.fields import Email, Name, Uid
from server.registry import Operation, Wire
from server.roles import Role
from server.store.port import DEFAULT_LIMIT, Doc, Transaction
from server.store.records import user_path

log = logging.getLogger(__name__)


class UserRequest(Wire):
    uid: Uid


class UserResponse(Wire):
    uid: str
    role: str


class MintInviteRequest(Wire):
    """Both fields only prefill what the invited person may change."""

    email: Email = ""
    display_name: Name = ""


class MintInviteResponse(Wire):
    """`path` is appended to the server's address; the code in it works once."""

    code: str
    path: str
    expires_at: str


async def _other_admin(ctx: Context, transaction: Transaction, uid: str) -> bool:
    """Whether somebody besides `uid` is admin. The one found is read in the transaction, so that
    it cannot come to pass while they lose that role. The holder of a dev token is nobody."""
    after: Doc | None = None
    while True:
        page = await ctx.store.query("users", where={"role": Role.ADMIN.value}, after=after)
        for doc in page:
            if doc.id in (uid, DEV_UID):
                continue
            seen = await transaction.get(doc.path)
            if seen is not None and seen.data.get("role") == Role.ADMIN:
                return True
        if len(page) < DEFAULT_LIMIT:
            return False
        after = page[-1]


async def set_role(ctx: Context, admin_uid: str, uid: str, role: Role) -> None:
    """Changes a role and records who did it when (AUTH-23). Raises `not-found`;
    `failed-precondition` rather than making an admin less by approving them, and rather than
    leaving nobody who could approve anybody."""
    path = user_path(uid)

    async def work(transaction: Transaction) -> None:
        user = await transaction.get(path)
        if user is None:
            raise missing("There is no such user.")
        if role is Role.APPROVED and user.data.get("role") == Role.ADMIN:
            raise not_ready("This user is an admin and has access already.")
        if user.data.get("role") == Role.ADMIN and not await _other_admin(ctx, transaction, uid):
            raise not_ready("This is the only admin: without them nobody could approve anybody.")
        audit = {"approvedBy": admin_uid, "approvedAt": stamp(ctx.clock.now())}
        transaction.update(path, {"role": role.value, **audit})

    await ctx.store.transaction(work)
    log.info("role_changed", extra={"role": role.value, "pii.uid": uid, "pii.by": admin_uid})
    ctx.announcements.publish(RoleChanged(uid, role))


async def restore_admin(ctx: Context, uid: str) -> None:
    """Makes `uid` admin again when nobody else is: whoever can print the sign-in link runs the
    server, and a house without any admin could not be opened otherwise."""
    path = user_path(uid)

    async def work(transaction: Transaction) -> bool:
        user = await transaction.get(path)
        if user is None or user.data.get("role") == Role.ADMIN:
            return False
        if await _other_admin(ctx, transaction, uid):
            return False
        audit = {"approvedBy": uid, "approvedAt": stamp(ctx.clock.now())}
        transaction.update(path, {"role": Role.ADMIN.value, **audit})
        return True

    if await ctx.store.transaction(work):
        log.warning("admin_restored", extra={"pii.uid": uid})


async def _decide(ctx: Context, caller: Caller, uid: str, role: Role) -> UserResponse:
    if uid == caller.uid:
        # An admin who could undo themselves could leave the house without any.
        raise not_ready("You cannot change your own access. Ask another admin.")
    await set_role(ctx, caller.uid, uid, role)
    return UserResponse(uid=uid, role=role.value)


async def approve_user(ctx: Context, caller: Caller, request: UserRequest) -> UserResponse:
    return await _decide(ctx, caller, request.uid, Role.APPROVED)


async def reject_user(ctx: Context, caller: Caller, request: UserRequest) -> UserResponse:
    return await _decide(ctx, caller, request.uid, Role.REJECTED)


async def revoke_user(ctx: Context, caller: Caller, request: UserRequest) -> UserResponse:
    """Takes access away at once; approving again stays possible."""
    return await _decide(ctx, caller, request.uid, Role.REJECTED)


async def mint_invite(
    ctx: Context, caller: Caller, request: MintInviteRequest
) -> MintInviteResponse:
    link = Link("invite", caller.uid, request.email, request.display_name)
    expires_at = ctx.clock.now() + INVITE_LIFETIME
    code = await ctx.links.mint(link)
    return MintInviteResponse(code=code, path=f"/web/#/invite/{code}", expires_at=stamp(expires_at))


APPROVE_USER = Operation(
    name="approveUser",
    summary="Gives a user access.",
    request=UserRequest,
    response=UserResponse,
    role=Role.ADMIN,
    run=approve_user,
)
REJECT_USER = Operation(
    name="rejectUser",
    summary="Refuses access to a user who asked for it.",
    request=UserRequest,
    response=UserResponse,
    role=Role.ADMIN,
    run=reject_user,
)
REVOKE_USER = Operation(
    name="revokeUser",
    summary="Takes access away from a user.",
    request=UserRequest,
    response=UserResponse,
    role=Role.ADMIN,
    run=revoke_user,
)
MINT_INVITE = Operation(
    name="mintInvite",
    summary="Makes a single-use invite link; whoever opens it has access.",
    request=MintInviteRequest,
    response=MintInviteResponse,
    role=Role.ADMIN,
    run=mint_invite,
)

"""`mintSignInLink`: a way back for somebody whose browser lost its local identity."""

from __future__ import annotations

import logging

from server.callers import Caller
from server.clock import stamp
from server.context import Context
from server.errors import missing, not_ready
from server.identity.links import RETURN_LIFETIME, Link
from server.operations.people import UserRequest
from server.registry import Operation, Wire
from server.roles import Role
from server.store.records import user_path

log = logging.getLogger(__name__)

PATH = "/web/#/signin/"


class MintSignInLinkResponse(Wire):
    """`path` is appended to the server's address; whoever opens it first is that user."""

    code: str
    path: str
    expires_at: str


async def mint_return_link(ctx: Context, by: str, uid: str) -> str:
    """The code that signs `uid` in, once, with the role and the conversations they have.

    Raises `not-found`; `failed-precondition` where people sign in elsewhere.
    """
    if ctx.local_identity is None:
        raise not_ready("People sign in with Google here, without links.", reason="elsewhere")
    user = await ctx.store.get(user_path(uid))
    if user is None:
        raise missing("There is no such user.")
    log.info("return_link_minted", extra={"pii.uid": uid, "pii.by": by})
    return await ctx.links.mint(Link("return", uid, str(user.data["email"]), ""))


async def mint_sign_in_link(
    ctx: Context, caller: Caller, request: UserRequest
) -> MintSignInLinkResponse:
    """Not for admins: one of them could act as another, and only the shell may make an admin."""
    user = await ctx.store.get(user_path(request.uid))
    if user is not None and user.data.get("role") == Role.ADMIN:
        raise not_ready("An admin comes back by a link from the server’s shell.", reason="admin")
    expires_at = ctx.clock.now() + RETURN_LIFETIME
    code = await mint_return_link(ctx, caller.uid, request.uid)
    return MintSignInLinkResponse(code=code, path=PATH + code, expires_at=stamp(expires_at))


MINT_SIGN_IN_LINK = Operation(
    name="mintSignInLink",
    summary="Makes a single-use link for a user whose browser has forgotten them.",
    request=UserRequest,
    response=MintSignInLinkResponse,
    role=Role.ADMIN,
    run=mint_sign_in_link,
)

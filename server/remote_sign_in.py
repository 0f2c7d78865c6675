"""Sign-in elsewhere (Firebase), as seen over HTTP: nobody signs up here, invites and sign-out do.

A person brings the token of the other service with every call, or the cookie that
`server/google_sign_in.py` gave their browser.
"""

from __future__ import annotations

from aiohttp import web

from server.announcements import SignedOut
from server.bodies import read_json
from server.context import Context
from server.cookies import clear_cookies
from server.errors import denied, invalid
from server.operations.people import set_role
from server.reads import me
from server.registry import BODY_MAX, parse
from server.roles import Role
from server.security import Limits
from server.sign_in import RedeemLinkRequest

_ELSEWHERE = "This Pidjin does not take names and e-mail addresses. Please sign in with Google."


class RemoteSignIn:
    """The routes of `SignIn` where identity is not local (AUTH-2)."""

    def __init__(self, ctx: Context, limits: Limits) -> None:
        self._ctx = ctx
        self._limits = limits

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/api/signUp", self.sign_up),
            web.post("/api/redeemLink", self.redeem_link),
            web.post("/api/signOut", self.sign_out),
        ]

    async def sign_up(self, request: web.Request) -> web.Response:
        self._limits.sign_in(request)
        raise denied(_ELSEWHERE)

    async def redeem_link(self, request: web.Request) -> web.Response:
        """An invite approves whoever is signed in; a link that signs somebody in opens nothing."""
        self._limits.sign_in(request)
        caller = await self._ctx.callers.authenticate(request)
        form = parse(RedeemLinkRequest, await read_json(request, BODY_MAX))
        link = await self._ctx.links.peek(form.code)
        if link.kind != "invite":
            raise invalid(_ELSEWHERE)
        if caller.role is Role.REJECTED:
            raise denied("Your account has no access to Pidjin. Ask an admin to approve it.")
        if caller.role is Role.PENDING:
            await self._ctx.links.redeem(form.code)
            await set_role(self._ctx, link.uid, caller.uid, Role.APPROVED)
            caller = await self._ctx.callers.authenticate(request)
        return web.json_response({"user": me(caller)})

    async def sign_out(self, request: web.Request) -> web.Response:
        """Ends this sign-in here, and the lessons opened with it; the client forgets its own."""
        caller = await self._ctx.callers.authenticate(request)
        if caller.via == "cookie" and self._ctx.browsers is not None:
            await self._ctx.browsers.revoke(caller.credential_id)
        else:
            await self._ctx.identity.revoke(caller.credential_id)
        self._ctx.announcements.publish(SignedOut(caller.uid, caller.credential_id))
        response = web.json_response({})
        clear_cookies(response)
        return response

"""Signing up, redeeming links, signing out: the local sign-in over HTTP.

A new person is pending. Only an admin's decision changes that: an approval, or an invite link.
Somebody whose browser has forgotten them comes back by a link, as whoever they were.
"""

from __future__ import annotations

import secrets
from typing import Annotated

from aiohttp import web
from pydantic import Field

from server.announcements import SignedOut
from server.bodies import read_json
from server.callers import Caller
from server.clock import stamp
from server.context import Context
from server.cookies import clear_cookies, set_cookies
from server.errors import Refused, denied, missing
from server.identity.links import Link
from server.identity.local import LocalIdentity
from server.identity.port import Identity
from server.operations.fields import Email, Name, NotBlank
from server.operations.people import restore_admin, set_role
from server.reads import me
from server.registry import BODY_MAX, Wire, parse
from server.roles import Role
from server.security import Limits
from server.store.records import user_path

ADMIN_UID = "bootstrap-admin"
ADMIN_EMAIL = "admin@localhost"


class SignUpRequest(Wire):
    display_name: Annotated[Name, NotBlank]
    email: Annotated[Email, NotBlank]


class RedeemLinkRequest(Wire):
    """Name and e-mail are asked of an invited person; empty ones are taken from the invite."""

    code: Annotated[str, Field(min_length=1, max_length=200)]
    display_name: Name = ""
    email: Email = ""


class SignIn:
    """Routes of the local sign-in, bound to one context."""

    def __init__(self, ctx: Context, local: LocalIdentity, limits: Limits) -> None:
        self._ctx = ctx
        self._local = local
        self._limits = limits

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/api/signUp", self.sign_up),
            web.post("/api/redeemLink", self.redeem_link),
            web.post("/api/signOut", self.sign_out),
        ]

    async def sign_up(self, request: web.Request) -> web.Response:
        self._limits.sign_in(request)
        form = parse(SignUpRequest, await read_json(request, BODY_MAX))
        identity = Identity(_new_uid(), form.email, False, form.display_name)
        await self._ctx.callers.provision(identity)
        return await self._signed_in(request, identity)

    async def redeem_link(self, request: web.Request) -> web.Response:
        self._limits.sign_in(request)
        form = parse(RedeemLinkRequest, await read_json(request, BODY_MAX))
        link = await self._ctx.links.peek(form.code)
        if link.kind == "signin":
            await self._ctx.links.redeem(form.code)
            identity = Identity(link.uid, link.email, False, link.display_name)
            await self._ctx.callers.provision(identity, Role.ADMIN)
            await restore_admin(self._ctx, identity.uid)
            return await self._signed_in(request, identity)
        if link.kind == "return":
            await self._ctx.links.redeem(form.code)
            return await self._signed_in(request, await self._of_user(link))
        return await self._invited(request, form, link)

    async def _of_user(self, link: Link) -> Identity:
        """Who comes back, as they are stored now; their role is what it is."""
        user = await self._ctx.store.get(user_path(link.uid))
        if user is None:
            raise missing("This account does not exist any more. Please sign up.")
        name = str(user.data.get("displayName", ""))
        return Identity(link.uid, str(user.data["email"]), False, name)

    async def _invited(
        self, request: web.Request, form: RedeemLinkRequest, link: Link
    ) -> web.Response:
        caller = await self._present(request)
        if caller is not None and caller.role is Role.REJECTED:
            raise denied("Your account has no access to Pidjin. Ask an admin to approve it.")
        if caller is not None and caller.role is not Role.PENDING:
            return await self._signed_in(request, caller.identity)  # keeps the invite for another
        await self._ctx.links.redeem(form.code)
        if caller is not None:
            identity = caller.identity
        else:
            identity = Identity(
                _new_uid(),
                form.email or link.email,
                False,
                form.display_name or link.display_name or "Guest",
            )
            await self._ctx.callers.provision(identity)
        await set_role(self._ctx, link.uid, identity.uid, Role.APPROVED)
        return await self._signed_in(request, identity)

    async def sign_out(self, request: web.Request) -> web.Response:
        """Revokes the credential everywhere, and tells whoever runs a lesson opened with it."""
        caller = await self._ctx.callers.authenticate(request)
        await self._local.revoke(caller.credential_id)
        self._ctx.announcements.publish(SignedOut(caller.uid, caller.credential_id))
        response = web.json_response({})
        clear_cookies(response)
        return response

    async def _present(self, request: web.Request) -> Caller | None:
        """Who is signed in already, if that can be trusted; a stale cookie is nobody."""
        try:
            return await self._ctx.callers.authenticate(request)
        except Refused:
            return None

    async def _signed_in(self, request: web.Request, identity: Identity) -> web.Response:
        credentials = await self._local.issue(
            uid=identity.uid, email=identity.email, display_name=identity.display_name
        )
        signed_in = await self._local.verify_cookie(credentials.cookie)
        caller = await self._ctx.callers.caller_of(signed_in)
        answer = {
            "user": me(caller),
            "token": credentials.bearer,
            "tokenExpiresAt": stamp(credentials.bearer_expires_at),
        }
        response = web.json_response(answer)
        set_cookies(
            request,
            response,
            credentials.cookie,
            credentials.csrf,
            lifetime=self._local.lifetime,
        )
        return response


async def mint_admin_link(ctx: Context) -> str:
    """The code of the one-time sign-in link that is printed at start."""
    email = (await ctx.config.load()).admin_email or ADMIN_EMAIL
    return await ctx.links.mint(Link("signin", ADMIN_UID, email, "Admin"))


def _new_uid() -> str:
    return secrets.token_hex(14)

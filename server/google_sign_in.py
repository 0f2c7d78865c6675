"""Signing in with Google over HTTP: two addresses that a browser visits, and never a page script.

Both always answer with a redirect: into the app, or to its sign-in page with a reason. Where to is
fixed by the settings; nothing in a request chooses an address.
"""

from __future__ import annotations

import logging
from urllib.parse import urlsplit

from aiohttp import hdrs, web

from server.context import Context
from server.cookies import set_cookies
from server.errors import PidjinError, Refused, Unavailable
from server.identity.attempts import LIFETIME, AttemptForeign, AttemptGone, Attempts
from server.identity.browser_sessions import BrowserSessions
from server.identity.google import GoogleAccounts, GoogleTrouble, Trouble
from server.security import Limits, is_https
from server.trouble import translated

log = logging.getLogger(__name__)

START = "/api/google/start"
CALLBACK = "/api/google/callback"
INSIDE = "/web/"
OUTSIDE = "/web/#/signin?error="
COOKIE = "pidjin_google"
COOKIE_PATH = "/api/google"
QUERY_MAX_CHARS = 6000
# Set on the way to the public address, so that a proxy that hides it causes no endless walk.
MOVED = "moved"
FOREIGN = "browser"


class GoogleSignIn:
    """Routes of one context. `public_url`: scheme, host and port under which people come here."""

    def __init__(
        self,
        ctx: Context,
        google: GoogleAccounts,
        sessions: BrowserSessions,
        public_url: str,
        limits: Limits,
    ) -> None:
        self._ctx = ctx
        self._google = google
        self._sessions = sessions
        self._public_url = public_url
        self._limits = limits
        self._attempts = Attempts(ctx.store, ctx.clock)

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get(START, self.start, allow_head=False),
            web.get(CALLBACK, self.callback, allow_head=False),
        ]

    async def start(self, request: web.Request) -> web.Response:
        """To Google, from the address that Google sends people back to: cookies belong to one."""
        host = urlsplit(self._public_url).netloc
        if request.headers.get(hdrs.HOST) != host and MOVED not in request.query:
            return _to(f"{self._public_url}{START}?{MOVED}=1")
        try:
            self._limits.sign_in(request)
        except Refused:
            return _back("busy")
        try:
            with translated():
                there = await self._google.authorise(f"{self._public_url}{CALLBACK}")
                attempt = await self._attempts.begin(there.state, there.session_id)
        except (GoogleTrouble, PidjinError) as error:
            return _back(_why(error))
        response = _to(there.url)
        # Lax: it must come along when Google sends the browser back, and only then.
        response.set_cookie(
            COOKIE,
            attempt,
            max_age=int(LIFETIME.total_seconds()),
            path=COOKIE_PATH,
            httponly=True,
            samesite="Lax",
            secure=is_https(request),
        )
        return response

    async def callback(self, request: web.Request) -> web.Response:
        response = await self._landed(request)
        # Another site may send a browser here with an answer of its own: that ends nothing.
        if response.headers[hdrs.LOCATION] != f"{OUTSIDE}{FOREIGN}":
            response.del_cookie(COOKIE, path=COOKIE_PATH, samesite="Lax")
        return response

    async def _landed(self, request: web.Request) -> web.Response:
        attempt = request.cookies.get(COOKIE)
        query = request.rel_url.raw_query_string
        if not attempt or len(query) > QUERY_MAX_CHARS:
            return _back(FOREIGN)
        try:
            with translated():
                session_id = await self._attempts.end(attempt, request.query.get("state", ""))
                if (error := request.query.get("error")) is not None:
                    return _back("cancelled" if error == "access_denied" else Trouble.REFUSED)
                landed_on = f"{self._public_url}{CALLBACK}?{query}"
                return await self._signed_in(request, landed_on, session_id)
        except AttemptGone:
            return _back("expired")
        except AttemptForeign:
            return _back(FOREIGN)
        except (GoogleTrouble, PidjinError) as error:
            return _back(_why(error))

    async def _signed_in(
        self, request: web.Request, landed_on: str, session_id: str
    ) -> web.Response:
        tokens = await self._google.exchange(landed_on, session_id)
        signed_in = await self._ctx.identity.verify(tokens.id_token)
        await self._ctx.callers.caller_of(signed_in)
        credentials = await self._sessions.issue(signed_in, tokens.refresh_token)
        response = _to(INSIDE)
        set_cookies(
            request,
            response,
            credentials.cookie,
            credentials.csrf,
            lifetime=self._sessions.lifetime,
        )
        return response


def _why(error: GoogleTrouble | PidjinError) -> str:
    """The word for the sign-in page; what an operator needs to know goes to the log."""
    if isinstance(error, GoogleTrouble):
        trouble, said = error.trouble, error.said
    elif isinstance(error, Unavailable):
        trouble, said = Trouble.UNAVAILABLE, error.message
    elif error.details.get("reason") == "account":
        trouble, said = Trouble.ACCOUNT, error.message
    else:
        # A token straight from Google that does not verify: the key is another project's, or the
        # clock of this machine is wrong.
        trouble, said = Trouble.SETUP, error.message
    log.warning("google_sign_in_failed", extra={"why": trouble.value, "detail": said})
    return trouble.value


def _back(error: str) -> web.Response:
    return _to(f"{OUTSIDE}{error}")


def _to(where: str) -> web.Response:
    return web.Response(status=303, headers={hdrs.LOCATION: where})

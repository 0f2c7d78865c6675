"""The two cookies of a browser's sign-in: the credential, and the CSRF value its page can read."""

from __future__ import annotations

from datetime import timedelta

from aiohttp import web

from server.callers import CSRF_COOKIE, SESSION_COOKIE
from server.security import is_https


def set_cookies(
    request: web.Request, response: web.Response, cookie: str, csrf: str, *, lifetime: timedelta
) -> None:
    """SameSite=Strict always; Secure whenever the browser came by https."""
    for name, value, hidden in ((SESSION_COOKIE, cookie, True), (CSRF_COOKIE, csrf, False)):
        response.set_cookie(
            name,
            value,
            max_age=int(lifetime.total_seconds()),
            path="/",
            httponly=hidden,
            samesite="Strict",
            secure=is_https(request),
        )


def clear_cookies(response: web.Response) -> None:
    for name in (SESSION_COOKIE, CSRF_COOKIE):
        response.del_cookie(name, path="/", samesite="Strict")

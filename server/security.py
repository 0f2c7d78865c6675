"""What every request passes: Host and Origin checks, rate limits, error envelopes, headers."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import logging
import math
from collections.abc import Awaitable, Callable

from aiohttp import hdrs, web
from aiohttp.typedefs import Middleware

from server.addresses import LOOPBACK_NAMES, is_loopback
from server.callers import SAFE_METHODS, bearer_of
from server.errors import Broken, Code, PidjinError, Refused, denied, invalid, missing
from server.identity.local import DEV_UID
from server.metrics import Metrics
from server.rate import RateLimit
from server.settings import Settings
from server.trouble import translate

log = logging.getLogger(__name__)

# Scheme, host and port in the address bar, where they are known; else empty.
PUBLIC_URL: web.AppKey[str] = web.AppKey("public_url", str)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

# A classroom may share one address; a person cannot click this fast.
ADDRESS_PER_S, ADDRESS_BURST = 20.0, 400.0
CALLER_PER_S, CALLER_BURST = 5.0, 100.0
# Unauthenticated identity calls: guessing codes or filling the user list.
SIGN_IN_PER_S, SIGN_IN_BURST = 0.2, 40.0

CSP = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "media-src 'self' blob: mediastream:",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
SERVER = "pidjin"
HEADERS = {
    "Server": SERVER,
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "microphone=(self), camera=(), geolocation=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
PROGRAM_PREFIXES = ("/api/", "/callable/")
# Not of the API, but answering reads the store.
LOOKED_UP = frozenset({"/readyz"})
NOINDEX = "noindex,nofollow"


class Limits:
    """The rate limits of one process; `caller` is taken by the routes once identity is known."""

    def __init__(self, dev_token: str | None = None) -> None:
        self._dev_token = dev_token
        self._address = RateLimit(per_s=ADDRESS_PER_S, burst=ADDRESS_BURST)
        self._caller = RateLimit(per_s=CALLER_PER_S, burst=CALLER_BURST)
        self._sign_in = RateLimit(per_s=SIGN_IN_PER_S, burst=SIGN_IN_BURST)

    def address(self, request: web.Request) -> None:
        """Scripts and benchmarks with the dev token are not held up."""
        if not is_token(bearer_of(request.headers), self._dev_token):
            _admit(self._address, network_of(client_address(request)))

    def caller(self, uid: str) -> None:
        if uid != DEV_UID:
            _admit(self._caller, uid)

    def sign_in(self, request: web.Request) -> None:
        _admit(self._sign_in, network_of(client_address(request)))


def _admit(limit: RateLimit, key: str) -> None:
    wait_s = limit.take(key, asyncio.get_running_loop().time())
    if wait_s > 0:
        raise Refused(
            Code.RESOURCE_EXHAUSTED,
            "Too many requests. Please wait a moment.",
            details={"reason": "rate"},
            retry_after_s=max(1, math.ceil(wait_s)),
        )


def is_token(given: str | None, wanted: str | None) -> bool:
    """Compares in constant time; two absent tokens are not the same token."""
    if given is None or wanted is None:
        return False
    return hmac.compare_digest(given.encode(errors="replace"), wanted.encode())


def client_address(request: web.Request) -> str:
    """The peer's address; behind a proxy on this machine, the one that the proxy saw."""
    remote = request.remote or ""
    if is_loopback(remote):
        forwarded = request.headers.get("X-Forwarded-For", "").rsplit(",", 1)[-1].strip()
        if forwarded:
            return forwarded[:64]
    return remote


def network_of(address: str) -> str:
    """Whom a limit is for: an IPv4 address, or the /64 that one person on IPv6 has at least."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv4Address):
        return str(ip)
    if ip.ipv4_mapped is not None:
        return str(ip.ipv4_mapped)
    return str(ipaddress.ip_network((ip, 64), strict=False))


def is_local(request: web.Request) -> bool:
    """Whether the request was made on this machine, not through a proxy on it."""
    return is_loopback(client_address(request))


def is_https(request: web.Request) -> bool:
    """Whether the browser came by https: to this server, to a proxy that says so, or to the public
    address, whatever a proxy forgets to say."""
    if request.secure or request.headers.get("X-Forwarded-Proto", "") == "https":
        return True
    scheme, _, host = request.app.get(PUBLIC_URL, "").partition("://")
    return scheme == "https" and request.headers.get(hdrs.HOST, "").lower() == host


def check_host(request: web.Request, settings: Settings) -> None:
    """Refuses foreign Host names on a loopback bind: DNS rebinding would reach it otherwise."""
    if not settings.loopback and not settings.allowed_hosts:
        return
    name = _host_name(request.headers.get(hdrs.HOST, ""))
    known = {*settings.allowed_hosts, *LOOPBACK_NAMES, settings.host}
    if settings.public_url:
        known.add(_host_name(settings.public_url.partition("://")[2]))
    if name not in known and not name.endswith(".localhost"):
        raise denied("This address is not served here. Set PIDJIN_ALLOWED_HOSTS to allow it.")


def _host_name(host: str) -> str:
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if ":" in host else host


def check_origin(request: web.Request) -> None:
    """Refuses state changes that a page of another site asks a browser for; bearers are exempt."""
    if request.method in SAFE_METHODS or bearer_of(request.headers) is not None:
        return
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        foreign = site not in ("same-origin", "none")
    else:
        origin = request.headers.get(hdrs.ORIGIN)
        foreign = origin is not None and origin.partition("://")[2] != request.headers.get(
            hdrs.HOST
        )
    if foreign:
        raise denied("Requests from other sites are not accepted.")


def error_response(error: PidjinError) -> web.Response:
    response = web.json_response(error.to_wire(), status=error.http_status)
    if error.retry_after_s is not None:
        response.headers[hdrs.RETRY_AFTER] = str(error.retry_after_s)
    if error.code is Code.UNAUTHENTICATED:
        response.headers[hdrs.WWW_AUTHENTICATE] = "Bearer"
    return response


def _of_http(error: web.HTTPException) -> PidjinError:
    if error.status == 404:
        return missing("There is nothing at this address.")
    if error.status == 413:
        return invalid("The request is too large.")
    if error.status == 405:
        return invalid("This address does not take that method.")
    return invalid(f"{error.reason}.")


def guard(settings: Settings, limits: Limits, metrics: Metrics) -> Middleware:
    """The one middleware: checks before the handler, envelope and headers after it."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        program = request.path.startswith(PROGRAM_PREFIXES)
        try:
            check_host(request, settings)
            check_origin(request)
            if program or request.path in LOOKED_UP:
                limits.address(request)
            response = await handler(request)
        except PidjinError as error:
            response = _told(error, metrics)
        except web.HTTPException as error:
            if not program:
                _harden(request, error, program=False)
                raise
            response = error_response(_of_http(error))
            response.set_status(error.status)
            if hdrs.ALLOW in error.headers:
                response.headers[hdrs.ALLOW] = error.headers[hdrs.ALLOW]
        except ConnectionResetError:
            raise  # nobody is left to be told
        except Exception as error:  # boundary: the client gets an envelope, the log the cause
            known = translate(error)
            if known is None:
                log.exception("request_failed", extra={"path": request.path})
                known = Broken()
            response = _told(known, metrics)
        _harden(request, response, program=program)
        return response

    return middleware


def _told(error: PidjinError, metrics: Metrics) -> web.Response:
    metrics.count("pidjin_errors_total", code=error.code.value)
    return error_response(error)


def _harden(request: web.Request, response: web.StreamResponse, *, program: bool) -> None:
    if response.prepared:
        return
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    if is_https(request):
        response.headers.setdefault("Strict-Transport-Security", "max-age=31536000")
    if program:
        response.headers.setdefault(hdrs.CACHE_CONTROL, "no-store")
    if request.path.startswith("/web"):
        response.headers["X-Robots-Tag"] = NOINDEX

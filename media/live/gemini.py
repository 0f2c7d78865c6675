"""Opens Gemini Live sessions: the SDK connects and sets up, within our limits and deadlines.

What an open session says and hears is `gemini_session.py`.
"""

from __future__ import annotations

import asyncio
import functools
import ssl
from collections.abc import Callable
from typing import NoReturn
from urllib.parse import urlsplit

from google import genai
from google.genai import errors, types
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from media.live.capabilities import Capabilities, SetupInvalid, capabilities_of, validated
from media.live.gemini_session import CLOSE_S, UNREACHABLE, GeminiSession, closed_by
from media.live.port import LiveClosed, LiveRefused, LiveSession, LiveSetup
from media.live.setup import live_config, model_path

GOOGLE_BASE_URL = "https://generativelanguage.googleapis.com"
# Explicit: the SDK's next major version changes its default to one without the preview models.
API_VERSION = "v1beta"

CONNECT_S = 10.0
OPEN_S = 8.0
# The service answers pings late (8 to 30 s seen), so that a short timeout kills living sessions.
PING_INTERVAL_S = 20
PING_TIMEOUT_S = 60
MAX_FRAME_BYTES = 8 * 2**20
MAX_QUEUED_FRAMES = 64
REASON_CHARS = 300

SETUP_TIMED_OUT = 504
NO_KEY = 401
# A setup that is wrong in itself is as final as the service's own "invalid argument".
SETUP_INVALID = 1007


class GeminiConnector:
    """Opens Live sessions. The key is asked for at every use; one client serves one key.

    `base_url` None is Google's; `ssl_context` None is one default context for the process. For the
    live probe: `row` stands in for the capability table, and `watch` sees every received frame.
    """

    def __init__(
        self,
        *,
        api_key: Callable[[], str],
        base_url: str | None = None,
        ssl_context: ssl.SSLContext | None = None,
        row: Capabilities | None = None,
        watch: Callable[[str | bytes], None] | None = None,
    ) -> None:
        self._row, self._watch = row, watch
        self._api_key = api_key
        self._base_url = (base_url or GOOGLE_BASE_URL).rstrip("/")
        self._ssl_context = ssl_context
        self._client: tuple[str, genai.Client] | None = None

    async def connect(self, setup: LiveSetup) -> LiveSession:
        """Opens a session, waits for `setupComplete`, sends the seeds. Raises LiveRefused.

        Codes: close code, HTTP status of a refused upgrade, 504 without an answer in 10 s, 1007
        for a setup that is invalid here already, 0 for a network error.
        """
        try:
            row = self._row or capabilities_of(setup.model)
            setup = validated(setup, row)
            config = live_config(setup, row)
        except SetupInvalid as problem:
            raise LiveRefused(SETUP_INVALID, str(problem)) from problem
        opening = self._for_key().aio.live.connect(model=model_path(setup), config=config)
        session: GeminiSession | None = None
        try:
            async with asyncio.timeout(CONNECT_S):
                inner = await opening.__aenter__()
                session = GeminiSession(opening, inner, setup, row, self._watch)
                await session.seed()
        except BaseException as error:
            if session is not None:
                await session.close()
            if isinstance(error, Exception):  # the adapter's edge: foreign errors end here
                _refuse(error)
            raise
        return session

    def warm(self) -> None:
        """Builds the client and pays the SDK's one-time costs (0.2 to 0.4 s of CPU) at start."""
        warm(self._for_key())

    def _for_key(self) -> genai.Client:
        key = self._api_key()
        if not key:
            raise LiveRefused(NO_KEY, "no API key is configured")
        if self._client is None or self._client[0] != key:
            context = self._ssl_context or _default_context()
            self._client = (key, live_client(key, self._base_url, context))
        return self._client[1]


def live_client(api_key: str, base_url: str, context: ssl.SSLContext) -> genai.Client:
    """A client whose sockets keep our limits; `async_client_args` is the SDK's only way to them."""
    socket: dict[str, object] = {
        "ssl": context,
        "verify": context,
        "compression": None,
        "ping_interval": PING_INTERVAL_S,
        "ping_timeout": PING_TIMEOUT_S,
        "max_size": MAX_FRAME_BYTES,
        "max_queue": MAX_QUEUED_FRAMES,
        "open_timeout": OPEN_S,
        "close_timeout": CLOSE_S,
    }
    if urlsplit(base_url).hostname in ("127.0.0.1", "localhost", "::1"):
        socket["proxy"] = None  # the library sends even loopback through HTTPS_PROXY
    options = types.HttpOptions(
        base_url=base_url,
        api_version=API_VERSION,
        client_args={"verify": context},
        async_client_args=socket,
    )
    return genai.Client(vertexai=False, api_key=api_key, http_options=options)


def warm(client: genai.Client) -> None:
    """Pays the SDK's deferred model builds once, so that no first session does it on the loop."""
    config = live_config(LiveSetup(model="gemini-3.8-live", instruction="warm"))
    types.LiveConnectParameters(model="models/warm", config=config).model_dump(exclude_none=True)
    types.LiveServerMessage._from_response(
        response={"setupComplete": {"sessionId": "warm"}}, kwargs=config.model_dump()
    )
    # Touching it builds the asynchronous side of the client.
    _ = client.aio.live


@functools.cache
def _default_context() -> ssl.SSLContext:
    return ssl.create_default_context()


def _refuse(error: Exception) -> NoReturn:
    """Raises `error` as the LiveRefused it amounts to; an error of our own code stays itself."""
    match error:
        case LiveRefused():
            raise error
        case TimeoutError():
            reason = f"setupComplete did not arrive within {CONNECT_S:g} s"
            raise LiveRefused(SETUP_TIMED_OUT, reason) from error
        case InvalidStatus():
            body = (error.response.body or b"").decode(errors="replace")
            text = body[:REASON_CHARS] or error.response.reason_phrase
            raise LiveRefused(error.response.status_code, text) from error
        case errors.APIError():
            raise LiveRefused(error.code, str(error.details or error)[:REASON_CHARS]) from error
        case ConnectionClosed():
            closed = closed_by(error)
            raise LiveRefused(closed.code, closed.reason) from error
        case LiveClosed():
            raise LiveRefused(error.code, error.reason) from error
        case WebSocketException() | OSError():
            text = f"{type(error).__name__}: {error}"[:REASON_CHARS]
            raise LiveRefused(UNREACHABLE, text) from error
        case ValueError():
            raise LiveRefused(UNREACHABLE, "the first message could not be read") from error
        case _:
            raise error

"""The SDK client and its connections: deadline, retries, errors, key rotation. No prompts.

The only file of this package that sees the key; it is read for every request (AUTH-15).
"""

from __future__ import annotations

import asyncio
import random
import ssl
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import aiohttp
import certifi
from google import genai
from google.genai import errors, types

from agent.failures import ModelError, ModelRefused, ModelTimeout, ModelUnavailable

DEFAULT_BASE_URL = "https://generativelanguage.googleapis.com"
REST_VERSION: Final = "v1beta"

DEADLINE_S = 60.0  # API-49
RETRIES = 2
RETRY_BASE_S = 0.5  # doubles; jitter of half to one and a half
CONNECTIONS = 64
TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})
DETAIL_CHARS = 200
_LATE = "The model service did not answer in time."

T = TypeVar("T")
Call = Callable[[genai.Client, types.HttpOptions], Awaitable[T]]


class ModelClient:
    """One pool and one client; used in one event loop, then closed."""

    def __init__(
        self,
        api_key: Callable[[], str],
        base_url: str | None,
        ssl_context: ssl.SSLContext | None,
        deadline_s: float,
        retry_base_s: float,
    ) -> None:
        self._api_key = api_key
        self._base_url = base_url or DEFAULT_BASE_URL
        self._ssl = ssl_context or _public_trust()
        self._deadline_s = deadline_s
        self._retry_base_s = retry_base_s
        self._http: aiohttp.ClientSession | None = None
        self._client: genai.Client | None = None
        self._client_key = ""

    async def call(
        self, call: Call[T], *, api_version: str = REST_VERSION, deadline_s: float | None = None
    ) -> T:
        """Runs `call` until it answers, fails for good, or the deadline is over.

        Raises ModelUnavailable, ModelTimeout, ModelRefused.
        """
        clock = asyncio.get_running_loop().time
        until = clock() + (deadline_s or self._deadline_s)
        failed: ModelError = ModelTimeout(_LATE)
        for attempt in range(RETRIES + 1):
            left = until - clock()
            if left <= 0:
                break
            client, key = await self.ready()
            options = types.HttpOptions(
                api_version=api_version,
                timeout=max(1, int(left * 1000)),
                retry_options=types.HttpRetryOptions(attempts=1),
            )
            try:
                async with asyncio.timeout(left):
                    return await call(client, options)
            except errors.APIError as error:
                failed = _translated(error, key)
                if error.code not in TRANSIENT:
                    raise failed from None
            except TimeoutError:
                raise ModelTimeout(_LATE) from None
            except (aiohttp.ClientError, OSError) as error:
                kind = type(error).__name__
                failed = ModelUnavailable("The model service cannot be reached.", kind)
            except errors.UnknownApiResponseError:
                failed = ModelUnavailable("The model service answered in an unknown form.")
            if attempt < RETRIES:
                pause = self._retry_base_s * 2**attempt * random.uniform(0.5, 1.5)
                await asyncio.sleep(max(0.0, min(pause, until - clock())))
        raise failed from None

    async def ready(self) -> tuple[genai.Client, str]:
        """The client for the key as it is now; a rotated key replaces the client, not the pool."""
        key = self._api_key()
        if self._http is None:
            # Our own session: the SDK's is a subclass, which aiohttp deprecates.
            self._http = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=CONNECTIONS),
                trust_env=not _is_loopback(self._base_url),
            )
        if self._client is None or key != self._client_key:
            old, self._client = self._client, self._built(key, self._http)
            self._client_key = key
            if old is not None:
                # Requests in flight run on the shared pool and are not touched.
                await _discard(old)
        return self._client, key

    async def aclose(self) -> None:
        """Idempotent."""
        client, self._client = self._client, None
        http, self._http = self._http, None
        if client is not None:
            await _discard(client)
        if http is not None:
            await http.close()

    def _built(self, key: str, http: aiohttp.ClientSession) -> genai.Client:
        return genai.Client(
            api_key=key,
            vertexai=False,
            http_options=types.HttpOptions(
                base_url=self._base_url,
                api_version=REST_VERSION,
                timeout=int(self._deadline_s * 1000),
                retry_options=types.HttpRetryOptions(attempts=1),
                aiohttp_client=http,
                client_args={"verify": self._ssl},
                async_client_args={"verify": self._ssl, "ssl": self._ssl},
            ),
        )


async def _discard(client: genai.Client) -> None:
    await client.aio.aclose()
    client.close()


def _translated(error: errors.APIError, key: str) -> ModelError:
    said = str(error.message or "")
    if key:
        said = said.replace(key, "[key]")
    detail = f"{error.code} {error.status or ''} {said}"[:DETAIL_CHARS].strip()
    if error.code in (408, 504):
        return ModelTimeout(_LATE, detail)
    if error.code == 429:
        return ModelUnavailable("The model service is out of capacity or quota.", detail)
    if error.code in TRANSIENT:
        return ModelUnavailable("The model service is failing.", detail)
    if error.code in (401, 403):
        return ModelRefused("The model service does not accept the key.", detail)
    if error.code == 404:
        return ModelRefused("The model service does not know this model.", detail)
    return ModelRefused("The model service refused the request.", detail)


def _public_trust() -> ssl.SSLContext:
    """The machine's trust store (SSL_CERT_FILE included) and the one that comes with Python."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


def _is_loopback(base_url: str) -> bool:
    return base_url.split("//")[-1].startswith(("127.", "localhost", "[::1]"))

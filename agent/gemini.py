"""The one way to Gemini's request/response API: text, JSON, speech, embeddings, Live tokens.

Every call has a deadline, a pinned thinking level and output cap where the model can think, and
at most two retries of transient failures. The key is read per call and never leaves this file.
"""

from __future__ import annotations

import asyncio
import io
import random
import ssl
import wave
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar

import aiohttp
import certifi
from google import genai
from google.genai import errors, types

from agent.failures import (
    EmptyAnswer,
    ModelAnswerUnusable,
    ModelError,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
)
from agent.json_answer import NotJson, parse_object, salvage_object
from agent.live_token import LiveConstraints, LiveToken, token_config
from agent.usage import TokenUsage, UsageSink, usage_of

DEFAULT_BASE_URL = "https://generativelanguage.googleapis.com"
API_VERSION: Final = "v1beta"
TOKEN_API_VERSION: Final = "v1alpha"

DEADLINE_S = 60.0
RETRIES = 2
RETRY_BASE_S = 0.5
SPEECH_ATTEMPTS = 3  # API-35
CONNECTIONS = 64
MAX_OUTPUT_TOKENS = 2048  # DATA-58: thinking and answer together
THINKING_LEVELS = ("low", "medium", "high")
TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})
DETAIL_CHARS = 200
RATE_HEARD = 16_000
RATE_SPOKEN = 24_000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SearchEvidence:
    """What the service says about a web search: queries run and pages used, (title, url)."""

    queries: tuple[str, ...] = ()
    pages: tuple[tuple[str, str], ...] = ()

    @property
    def used(self) -> bool:
        return bool(self.queries or self.pages)


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    """A JSON object, whether it had to be salvaged from a cut answer, and the search behind it."""

    data: dict[str, Any]
    cut: bool
    search: SearchEvidence


class ModelGateway:
    """Owns one connection pool and one client per key; use it in one event loop, then `aclose`.

    `api_key` is called for every request (AUTH-15). `base_url=None` means Google.
    """

    def __init__(
        self,
        api_key: Callable[[], str],
        base_url: str | None = None,
        ssl_context: ssl.SSLContext | None = None,
        deadline_s: float = DEADLINE_S,
        retry_base_s: float = RETRY_BASE_S,
    ) -> None:
        self._api_key = api_key
        self._base_url = base_url or DEFAULT_BASE_URL
        self._ssl = ssl_context or _public_trust()
        self._deadline_s = deadline_s
        self._retry_base_s = retry_base_s
        self._http: aiohttp.ClientSession | None = None
        self._client: genai.Client | None = None
        self._client_key = ""
        self._closing = asyncio.Lock()

    async def generate(
        self,
        *,
        model: str,
        contents: list[types.Content],
        thinking_level: str,
        config: types.GenerateContentConfig | None = None,
        deadline_s: float | None = None,
    ) -> types.GenerateContentResponse:
        """One answer as it came. Raises ModelUnavailable, ModelTimeout, ModelRefused."""
        pinned = _pinned(config, thinking_level)
        return await self._generate(model, contents, pinned, deadline_s)

    async def generate_json(
        self,
        *,
        model: str,
        prompt: str,
        thinking_level: str,
        key: str,
        handler: str,
        record: UsageSink,
        attachment: types.Part | None = None,
        search: bool = False,
    ) -> JsonAnswer:
        """One JSON object that has `key`. `search` offers the web search tool.

        Raises ModelAnswerUnusable besides the errors of `generate`; usage is recorded first.
        """
        config = types.GenerateContentConfig(response_modalities=["TEXT"])
        if search:
            # The JSON mime type is not accepted together with tools by every model.
            config.tools = [types.Tool(google_search=types.GoogleSearch())]
        else:
            config.response_mime_type = "application/json"
        parts = [attachment] if attachment else []
        contents = [types.Content(role="user", parts=[*parts, types.Part(text=prompt)])]
        response = await self.generate(
            model=model, contents=contents, thinking_level=thinking_level, config=config
        )
        record(handler, model, usage_of(response.usage_metadata))
        text = answer_text(response)
        cut = finish_reason(response) == "MAX_TOKENS"
        try:
            data = salvage_object(text, key=key) if cut else parse_object(text, key=key)
        except NotJson as error:
            raise ModelAnswerUnusable("The model's answer could not be read.", str(error)) from None
        return JsonAnswer(data, cut, _search_evidence(response))

    async def embed(
        self, texts: Sequence[str], *, model: str, handler: str, record: UsageSink
    ) -> list[list[float]]:
        """One vector per text. Raises ModelAnswerUnusable when the number differs."""
        # A list of plain strings would become one content for some models.
        contents: list[types.ContentUnion] = [
            types.Content(role="user", parts=[types.Part(text=text)]) for text in texts
        ]

        async def call(client: genai.Client, http: types.HttpOptions) -> types.EmbedContentResponse:
            return await client.aio.models.embed_content(
                model=model,
                contents=contents,
                config=types.EmbedContentConfig(http_options=http),
            )

        response = await self._call(call)
        record(handler, model, TokenUsage())
        vectors = [list(e.values or ()) for e in response.embeddings or ()]
        if len(vectors) != len(texts) or not all(vectors):
            raise ModelAnswerUnusable("The embedding model left texts out.", str(len(vectors)))
        return vectors

    async def speak(
        self, text: str, model: str, *, handler: str, record: UsageSink, voice: str = ""
    ) -> bytes:
        """`text` as PCM16 mono 24 kHz. No audio after three attempts: ModelUnavailable."""
        speech = None
        if voice:
            prebuilt = types.PrebuiltVoiceConfig(voice_name=voice)
            speech = types.SpeechConfig(
                voice_config=types.VoiceConfig(prebuilt_voice_config=prebuilt)
            )
        config = types.GenerateContentConfig(
            response_modalities=["AUDIO"], speech_config=speech, automatic_continuation=False
        )
        contents = [types.Content(role="user", parts=[types.Part(text=text)])]
        for _ in range(SPEECH_ATTEMPTS):
            response = await self._generate(model, contents, config, None)
            record(handler, model, usage_of(response.usage_metadata))
            pcm = b"".join(
                part.inline_data.data or b""
                for part in _parts(response)
                if part.inline_data and (part.inline_data.mime_type or "").startswith("audio/")
            )
            if pcm:
                return pcm[: len(pcm) & ~1]
        raise ModelUnavailable("The speech model gave no sound.")

    async def transcribe(
        self, pcm: bytes, *, model: str, thinking_level: str, handler: str, record: UsageSink
    ) -> str:
        """The words in PCM16 mono 16 kHz audio; empty for noise."""
        prompt = (
            "TASK transcribe\nWrite down the words that are spoken, verbatim and nothing else. "
            "Without speech, answer with an empty text."
        )
        sound = types.Part.from_bytes(data=_wav(pcm), mime_type="audio/wav")
        response = await self.generate(
            model=model,
            contents=[types.Content(role="user", parts=[sound, types.Part(text=prompt)])],
            thinking_level=thinking_level,
            config=types.GenerateContentConfig(response_modalities=["TEXT"]),
        )
        record(handler, model, usage_of(response.usage_metadata))
        return _text(response).strip()

    async def mint_live_token(
        self,
        constraints: LiveConstraints,
        *,
        uses: int,
        expire_time: datetime,
        new_session_expire_time: datetime,
    ) -> LiveToken:
        """A token locked to `constraints` (API-33); both times must carry a zone."""
        config = token_config(constraints, uses, expire_time, new_session_expire_time)

        async def call(client: genai.Client, http: types.HttpOptions) -> types.AuthToken:
            config.http_options = http
            return await client.aio.auth_tokens.create(config=config)

        token = await self._call(call, api_version=TOKEN_API_VERSION)
        if not token.name:
            raise ModelAnswerUnusable("The model service minted no token.")
        return LiveToken(token.name, constraints.model, uses, expire_time)

    async def warm(self) -> None:
        """Builds client and pool ahead of the first request."""
        await self._ready()

    async def aclose(self) -> None:
        """Closes pool and client; idempotent."""
        async with self._closing:
            client, self._client = self._client, None
            http, self._http = self._http, None
            if client is not None:
                await client.aio.aclose()
                client.close()
            if http is not None:
                await http.close()

    async def _generate(
        self,
        model: str,
        contents: list[types.Content],
        config: types.GenerateContentConfig,
        deadline_s: float | None,
    ) -> types.GenerateContentResponse:
        async def call(
            client: genai.Client, http: types.HttpOptions
        ) -> types.GenerateContentResponse:
            return await client.aio.models.generate_content(
                model=model,
                contents=list(contents),
                config=config.model_copy(update={"http_options": http}),
            )

        response = await self._call(call, deadline_s=deadline_s)
        feedback = response.prompt_feedback
        if not response.candidates and feedback is not None and feedback.block_reason:
            raise ModelRefused(
                "The model service declined this content.", str(feedback.block_reason)
            )
        return response

    async def _call(
        self,
        call: Callable[[genai.Client, types.HttpOptions], Awaitable[T]],
        *,
        api_version: str = API_VERSION,
        deadline_s: float | None = None,
    ) -> T:
        """Runs `call` until it answers, fails for good, or the deadline is over."""
        clock = asyncio.get_running_loop().time
        until = clock() + (deadline_s or self._deadline_s)
        failed: ModelError = ModelTimeout("The model service did not answer in time.")
        for attempt in range(RETRIES + 1):
            left = until - clock()
            if left <= 0:
                raise failed
            client, key = await self._ready()
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
                raise ModelTimeout("The model service did not answer in time.") from None
            except (aiohttp.ClientError, OSError) as error:
                failed = ModelUnavailable(
                    "The model service cannot be reached.", type(error).__name__
                )
            except errors.UnknownApiResponseError:
                failed = ModelUnavailable("The model service answered in an unknown form.")
            if attempt < RETRIES:
                pause = self._retry_base_s * 2**attempt * random.uniform(0.5, 1.5)
                await asyncio.sleep(max(0.0, min(pause, until - clock())))
        raise failed from None

    async def _ready(self) -> tuple[genai.Client, str]:
        """The client for the key as it is now; a rotated key replaces the client, not the pool."""
        key = self._api_key()
        if self._http is None:
            # Our own session: the SDK's is a subclass that aiohttp deprecates.
            self._http = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=CONNECTIONS),
                trust_env=not _is_loopback(self._base_url),
            )
        if self._client is None or key != self._client_key:
            old = self._client
            self._client = genai.Client(
                api_key=key,
                vertexai=False,
                http_options=types.HttpOptions(
                    base_url=self._base_url,
                    api_version=API_VERSION,
                    timeout=int(self._deadline_s * 1000),
                    retry_options=types.HttpRetryOptions(attempts=1),
                    aiohttp_client=self._http,
                    client_args={"verify": self._ssl},
                    async_client_args={"verify": self._ssl, "ssl": self._ssl},
                ),
            )
            self._client_key = key
            if old is not None:
                # Requests in flight run on the shared pool and are not touched.
                await old.aio.aclose()
                old.close()
        return self._client, key


def answer_text(response: types.GenerateContentResponse) -> str:
    """The text of an answer without thoughts. Raises EmptyAnswer."""
    text = _text(response)
    if not text.strip():
        kinds = tuple(_kind(part) for part in _parts(response))
        raise EmptyAnswer(finish_reason(response), kinds)
    return text


def finish_reason(response: types.GenerateContentResponse) -> str:
    reason = response.candidates[0].finish_reason if response.candidates else None
    return reason.value if reason is not None else "NONE"


def part_kinds(response: types.GenerateContentResponse) -> tuple[str, ...]:
    """What each part of the answer is, for diagnostics: no content."""
    return tuple(_kind(part) for part in _parts(response))


def _pinned(
    config: types.GenerateContentConfig | None, thinking_level: str
) -> types.GenerateContentConfig:
    if thinking_level not in THINKING_LEVELS:
        raise ValueError(f"thinking level must be one of {', '.join(THINKING_LEVELS)}")
    pinned = config.model_copy() if config is not None else types.GenerateContentConfig()
    pinned.thinking_config = types.ThinkingConfig(
        thinking_level=types.ThinkingLevel(thinking_level.upper())
    )
    pinned.max_output_tokens = MAX_OUTPUT_TOKENS
    pinned.automatic_continuation = False  # hidden follow-up requests re-bill the input
    pinned.automatic_function_calling = types.AutomaticFunctionCallingConfig(disable=True)
    pinned.labels = None  # the Developer API refuses them
    return pinned


def _parts(response: types.GenerateContentResponse) -> list[types.Part]:
    content = response.candidates[0].content if response.candidates else None
    return list(content.parts or ()) if content is not None else []


def _text(response: types.GenerateContentResponse) -> str:
    return "".join(part.text or "" for part in _parts(response) if not part.thought)


def _kind(part: types.Part) -> str:
    if part.thought:
        return "thought"
    return next(iter(sorted(part.model_dump(exclude_none=True))), "empty")


def _search_evidence(response: types.GenerateContentResponse) -> SearchEvidence:
    metadata = response.candidates[0].grounding_metadata if response.candidates else None
    if metadata is None:
        return SearchEvidence()
    webs = [chunk.web for chunk in metadata.grounding_chunks or () if chunk.web is not None]
    return SearchEvidence(
        tuple(metadata.web_search_queries or ()),
        tuple((web.title or "", web.uri) for web in webs if web.uri),
    )


def _translated(error: errors.APIError, key: str) -> ModelError:
    said = str(error.message or "")
    if key:
        said = said.replace(key, "[key]")
    detail = f"{error.code} {error.status or ''} {said}"[:DETAIL_CHARS].strip()
    match error.code:
        case 504 | 408:
            return ModelTimeout("The model service did not answer in time.", detail)
        case 429:
            return ModelUnavailable("The model service is out of capacity or quota.", detail)
        case code if code in TRANSIENT:
            return ModelUnavailable("The model service is failing.", detail)
        case 401 | 403:
            return ModelRefused("The model service does not accept the key.", detail)
        case 404:
            return ModelRefused("The model service does not know this model.", detail)
    return ModelRefused("The model service refused the request.", detail)


def _wav(pcm: bytes) -> bytes:
    sound = io.BytesIO()
    with wave.open(sound, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE_HEARD)
        out.writeframes(pcm)
    return sound.getvalue()


def _public_trust() -> ssl.SSLContext:
    """The machine's trust store (SSL_CERT_FILE included) and the one that comes with Python."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


def _is_loopback(base_url: str) -> bool:
    return base_url.split("//")[-1].startswith(("127.", "localhost", "[::1]"))

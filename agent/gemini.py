"""The one way to Gemini's request/response API: text, JSON, speech, embeddings, Live tokens.

Every call that can think has its thinking level and output cap pinned (DATA-58); deadline and
retries are the client's. Tokens are reported before an answer is judged.
"""

from __future__ import annotations

import io
import ssl
import warnings
import wave
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from google import genai
from google.genai import types

from agent.failures import (
    EmptyAnswer,
    ModelAnswerUnusable,
    ModelError,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
)
from agent.json_answer import NotJson, parse_object, salvage_object
from agent.live_token import API_VERSION as TOKEN_VERSION
from agent.live_token import LiveConstraints, LiveToken, token_config
from agent.model_answer import (
    SearchEvidence,
    answer_text,
    finish_reason,
    plain_text,
    refuse_blocked,
    search_evidence,
    sound_of,
)
from agent.model_client import DEADLINE_S, RETRY_BASE_S, ModelClient
from agent.usage import TokenUsage, UsageSink, usage_of

SPEECH_ATTEMPTS = 3  # API-35
MAX_OUTPUT_TOKENS = 2048  # DATA-58: thinking and answer together
THINKING_LEVELS = ("low", "medium", "high")
RATE_HEARD = 16_000


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    """A JSON object, whether it had to be salvaged from a cut answer, and the search behind it."""

    data: dict[str, Any]
    cut: bool
    search: SearchEvidence


class ModelGateway:
    """Owns one connection pool and one client per key; use it in one event loop, then `aclose`.

    `api_key` is called for every request. `base_url=None` means Google; `deadline_s` bounds one
    call with its retries. Every method raises ModelUnavailable, ModelTimeout or ModelRefused.
    """

    def __init__(
        self,
        api_key: Callable[[], str],
        base_url: str | None = None,
        ssl_context: ssl.SSLContext | None = None,
        deadline_s: float = DEADLINE_S,
        retry_base_s: float = RETRY_BASE_S,
    ) -> None:
        self._client = ModelClient(api_key, base_url, ssl_context, deadline_s, retry_base_s)

    async def generate(
        self,
        *,
        model: str,
        contents: list[types.Content],
        thinking_level: str,
        config: types.GenerateContentConfig | None = None,
        deadline_s: float | None = None,
    ) -> types.GenerateContentResponse:
        """One answer as it came, unjudged. ValueError for an unknown thinking level."""
        return await self._generate(model, contents, _pinned(config, thinking_level), deadline_s)

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
        """One JSON object that has `key`; `search` offers web search. Raises ModelAnswerUnusable.

        Of an answer that hit the token cap every finished member is kept.
        """
        config = types.GenerateContentConfig(response_modalities=["TEXT"])
        if search:
            # The JSON mime type is not accepted together with tools by every model.
            config.tools = [types.Tool(google_search=types.GoogleSearch())]
        else:
            config.response_mime_type = "application/json"
        parts = [attachment] if attachment else []
        response = await self.generate(
            model=model,
            contents=[types.Content(role="user", parts=[*parts, types.Part(text=prompt)])],
            thinking_level=thinking_level,
            config=config,
        )
        record(handler, model, usage_of(response.usage_metadata))
        text = answer_text(response)
        cut = finish_reason(response) == "MAX_TOKENS"
        try:
            data = salvage_object(text, key=key) if cut else parse_object(text, key=key)
        except NotJson as error:
            raise ModelAnswerUnusable("The model's answer could not be read.", str(error)) from None
        return JsonAnswer(data, cut, search_evidence(response))

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

        response = await self._client.call(call)
        record(handler, model, TokenUsage())
        vectors = [list(embedding.values or ()) for embedding in response.embeddings or ()]
        if len(vectors) != len(texts) or not all(vectors):
            raise ModelAnswerUnusable("The embedding model left texts out.", str(len(vectors)))
        return vectors

    async def speak(
        self, text: str, model: str, *, handler: str, record: UsageSink, voice: str = ""
    ) -> bytes:
        """`text` as PCM16 mono 24 kHz. No sound after three attempts: ModelUnavailable."""
        config = types.GenerateContentConfig(
            response_modalities=["AUDIO"], automatic_continuation=False
        )
        if voice:
            prebuilt = types.PrebuiltVoiceConfig(voice_name=voice)
            config.speech_config = types.SpeechConfig(
                voice_config=types.VoiceConfig(prebuilt_voice_config=prebuilt)
            )
        contents = [types.Content(role="user", parts=[types.Part(text=text)])]
        used = TokenUsage()
        try:
            for _ in range(SPEECH_ATTEMPTS):
                response = await self._generate(model, contents, config, None)
                used += usage_of(response.usage_metadata)
                refuse_blocked(response)
                if pcm := sound_of(response):
                    return pcm
        finally:
            record(handler, model, used)
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
        refuse_blocked(response)
        return plain_text(response).strip()

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
            with warnings.catch_warnings():
                # Only while the coroutine is made: the SDK calls its tokens experimental, once.
                warnings.filterwarnings("ignore", message="The SDK's token creation")
                minting = client.aio.auth_tokens.create(
                    config=config.model_copy(update={"http_options": http})
                )
            token: types.AuthToken = await minting
            return token

        token = await self._client.call(call, api_version=TOKEN_VERSION)
        if not token.name:
            raise ModelAnswerUnusable("The model service minted no token.")
        return LiveToken(token.name, constraints.model, uses, expire_time)

    async def check(self, model: str) -> None:
        """Asks the service about `model`, which costs nothing; raises as every method does."""

        async def call(client: genai.Client, http: types.HttpOptions) -> types.Model:
            config = types.GetModelConfig(http_options=http)
            return await client.aio.models.get(model=model, config=config)

        await self._client.call(call)

    async def warm(self) -> None:
        """Builds client and pool ahead of the first request."""
        await self._client.ready()

    async def aclose(self) -> None:
        """Closes client and pool; idempotent."""
        await self._client.aclose()

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

        return await self._client.call(call, deadline_s=deadline_s)


def _pinned(
    config: types.GenerateContentConfig | None, thinking_level: str
) -> types.GenerateContentConfig:
    if thinking_level not in THINKING_LEVELS:
        raise ValueError(f"thinking level must be one of {', '.join(THINKING_LEVELS)}")
    pinned = config.model_copy() if config is not None else types.GenerateContentConfig()
    level = types.ThinkingLevel(thinking_level.upper())
    pinned.thinking_config = types.ThinkingConfig(thinking_level=level)
    pinned.max_output_tokens = MAX_OUTPUT_TOKENS
    pinned.automatic_continuation = False  # hidden follow-up requests re-bill the input
    pinned.automatic_function_calling = types.AutomaticFunctionCallingConfig(disable=True)
    return pinned


def _wav(pcm: bytes) -> bytes:
    sound = io.BytesIO()
    with wave.open(sound, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE_HEARD)
        out.writeframes(pcm)
    return sound.getvalue()


__all__ = [
    "EmptyAnswer",
    "JsonAnswer",
    "ModelAnswerUnusable",
    "ModelError",
    "ModelGateway",
    "ModelRefused",
    "ModelTimeout",
    "ModelUnavailable",
    "SearchEvidence",
]

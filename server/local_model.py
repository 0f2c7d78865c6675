"""Where model traffic goes: Google with a key, or the tutor that lives in this process without one.

With no GEMINI_API_KEY a loopback server speaks the Gemini API, so the code path is the same; that
it is the local tutor is said in the log and in `/api/identity`.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

from agent.gemini import ModelGateway
from agent.move import MoveAgent
from server.settings import Settings, gemini_api_key

log = logging.getLogger(__name__)

T = TypeVar("T")


class LocalTutorMissing(Exception):
    """Neither a key nor the local speech models: one sentence on what to do."""


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """How to reach the models. `base_url` and `ssl_context` are None for Google itself.

    `searches`: whether they can search the web; the local tutor cannot.
    """

    api_key: Callable[[], str]
    base_url: str | None = None
    ssl_context: ssl.SSLContext | None = None
    local: bool = False
    searches: bool = True


@asynccontextmanager
async def model_access(settings: Settings) -> AsyncIterator[ModelAccess]:
    """Access by what is configured; starts and stops the local tutor. Raises LocalTutorMissing."""
    if gemini_api_key():
        yield ModelAccess(gemini_api_key, settings.gemini_api_base)
        return
    # Imported here: with a key, the process never pays for the speech models.
    from local_gemini.server import LocalGemini
    from local_gemini.speech import SpeechMissing, local_engine

    try:
        engine = await asyncio.to_thread(local_engine, llm_url=settings.local_llm_url or "")
    except SpeechMissing as error:
        raise LocalTutorMissing(
            f"No GEMINI_API_KEY is set, and the local tutor cannot speak: {error}"
        ) from error
    local_key = secrets.token_urlsafe(16)
    async with LocalGemini(engine, api_key=local_key, recorded=False) as house:
        log.warning(
            "No GEMINI_API_KEY is set: the local tutor answers. It works offline and is simpler "
            "than a large model."
        )
        yield ModelAccess(
            lambda: local_key, house.base_url, house.ssl_context, local=True, searches=False
        )


class Models:
    """The process's gateway and agent; usable between `open` and its end."""

    def __init__(self, source: Callable[[], AbstractAsyncContextManager[ModelAccess]]) -> None:
        self._source = source
        self._access: ModelAccess | None = None
        self._gateway: ModelGateway | None = None
        self._move_agent: MoveAgent | None = None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        async with self._source() as access:
            self._access = access
            self._gateway = ModelGateway(
                api_key=access.api_key, base_url=access.base_url, ssl_context=access.ssl_context
            )
            self._move_agent = MoveAgent(self._gateway)
            try:
                await self._gateway.warm()
                await self._move_agent.warm()
                yield
            finally:
                await self._gateway.aclose()
                self._access = self._gateway = self._move_agent = None

    @property
    def access(self) -> ModelAccess:
        return _opened(self._access)

    @property
    def gateway(self) -> ModelGateway:
        return _opened(self._gateway)

    @property
    def move_agent(self) -> MoveAgent:
        return _opened(self._move_agent)

    @property
    def opened(self) -> bool:
        return self._access is not None


def _opened(value: T | None) -> T:
    if value is None:
        raise RuntimeError("the models are not open yet")
    return value

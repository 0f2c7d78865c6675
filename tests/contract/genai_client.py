"""The stock google-genai client, unchanged but for the address and the trusted certificate."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from google import genai
from google.genai import types

from local_gemini.scripted import ScriptedEngine
from local_gemini.server import LocalGemini


def client_of(local: LocalGemini, key: str = "test-key", version: str = "v1beta") -> genai.Client:
    context = local.ssl_context
    options = types.HttpOptions(
        base_url=local.base_url,
        api_version=version,
        client_args={"verify": context},
        async_client_args={"ssl": context, "verify": context, "proxy": None, "close_timeout": 1},
        retry_options=types.HttpRetryOptions(attempts=1),
    )
    return genai.Client(api_key=key, http_options=options)


@pytest.fixture
def double() -> ScriptedEngine:
    return ScriptedEngine(
        ["plants eat light", "because of chlorophyll", "and make sugar"],
        [["Do they?", "How?"], ["What is that?"], ["Well done."]],
    )


@pytest.fixture
async def local(double: ScriptedEngine) -> AsyncIterator[LocalGemini]:
    async with LocalGemini(double, speed=50) as server:
        yield server


@pytest.fixture
async def client(local: LocalGemini) -> AsyncIterator[genai.Client]:
    made = client_of(local)
    yield made
    await made.aio.aclose()

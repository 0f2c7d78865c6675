"""A scripted Gemini on loopback, the real gateway in front of it, and builders of values."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from agent.gemini import ModelGateway
from agent.usage import TokenUsage
from local_gemini.script import Script
from local_gemini.scripted import ScriptedEngine
from local_gemini.server import LocalGemini


@dataclass
class Ledger:
    """A UsageSink that remembers."""

    entries: list[tuple[str, str, TokenUsage]] = field(default_factory=list)

    def __call__(self, handler: str, model: str, usage: TokenUsage) -> None:
        self.entries.append((handler, model, usage))


@dataclass
class Bench:
    """`bodies` are the request bodies of generateContent, oldest first."""

    local: LocalGemini
    gateway: ModelGateway
    ledger: Ledger
    answers: list[Any]

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [r.body for r in self.local.requests if r.method == "generateContent"]


KEY = "not-a-real-key-0123456789"


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """Answers come from `bench.answers`: text, Generated, or a function of the request."""
    answers: list[Any] = []

    def generate(model: str, request: Any) -> Any:
        if not answers:
            return None
        answer = answers.pop(0)
        return answer(request) if isinstance(answer, Callable) else answer  # type: ignore[arg-type]

    engine = ScriptedEngine(generate=generate)
    async with LocalGemini(engine, Script(), speed=100.0) as local:
        gateway = ModelGateway(
            lambda: KEY, local.base_url, local.ssl_context, deadline_s=10, retry_base_s=0.01
        )
        try:
            yield Bench(local, gateway, Ledger(), answers)
        finally:
            await gateway.aclose()

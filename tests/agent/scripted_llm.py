"""A model without a gateway: the move agent takes any ADK model."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from google.adk.models import LlmCapabilities
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from pydantic import PrivateAttr

from agent.gemini import ModelGateway
from agent.move import MoveAgent
from tests.agent.conftest import KEY


class Scripted(BaseLlm):
    """Answers from a list; a callable may be a coroutine function of the request."""

    _steps: list[Any] = PrivateAttr()
    _requests: list[LlmRequest] = PrivateAttr(default_factory=list)

    def __init__(self, steps: list[Any]) -> None:
        super().__init__(model="scripted")
        self._steps = steps

    @property
    def requests(self) -> list[LlmRequest]:
        return self._requests

    @property
    def capabilities(self) -> LlmCapabilities:
        return LlmCapabilities(output_schema_and_tools=False)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self._requests.append(llm_request)
        step = self._steps.pop(0)
        if callable(step):
            step = await step(llm_request)
        if isinstance(step, Exception):
            raise step
        yield LlmResponse(
            content=types.Content(role="model", parts=[types.Part(text=step)]),
            usage_metadata=types.GenerateContentResponseUsageMetadata(total_token_count=1),
        )


def agent_with(llm: BaseLlm) -> MoveAgent:
    return MoveAgent(ModelGateway(lambda: KEY), llm=llm)

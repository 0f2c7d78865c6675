"""The model that ADK drives: a BaseLlm over the gateway (MOVE-13 to MOVE-19)."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from google.adk.models import LlmCapabilities
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from pydantic import PrivateAttr

from agent.failures import ModelError, ToolLoop
from agent.gemini import ModelGateway
from agent.model_answer import empty, parts_of, plain_text, refuse_blocked
from agent.turn import CURRENT

CALLS_PER_ATTEMPT = 6  # three tools, each once, and room to look twice

# ADK warns about every answer without counts.
_NO_USAGE = types.GenerateContentResponseUsageMetadata(
    prompt_token_count=0, candidates_token_count=0, total_token_count=0
)


class GatewayLlm(BaseLlm):
    """Serves concurrent turns; model name and thinking level come from the turn."""

    _gateway: ModelGateway = PrivateAttr()

    def __init__(self, gateway: ModelGateway) -> None:
        super().__init__(model="pidjin-move")
        self._gateway = gateway

    @property
    def capabilities(self) -> LlmCapabilities:
        return LlmCapabilities(output_schema_and_tools=False)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Exactly one answer. A failure becomes an error event and `turn.failure`.

        Raised here instead, ADK would log it as a traceback of several pages.
        """
        turn = CURRENT.get()
        used: types.GenerateContentResponseUsageMetadata | None = None
        try:
            turn.calls += 1
            if turn.calls > CALLS_PER_ATTEMPT:
                raise ToolLoop(CALLS_PER_ATTEMPT)
            async with turn.slot.yielded():
                response = await self._gateway.generate(
                    model=turn.request.model,
                    contents=llm_request.contents,
                    thinking_level=turn.request.thinking_level,
                    config=request_config(llm_request.config),
                )
            used = response.usage_metadata
            answer = readable(response)
        except ModelError as error:
            turn.failure = error
            answer = LlmResponse(error_code=type(error).__name__, error_message=str(error))
        answer.usage_metadata = used or _NO_USAGE
        yield answer


def request_config(config: types.GenerateContentConfig) -> types.GenerateContentConfig:
    """ADK's configuration as the Developer API takes it: no labels, text only."""
    return config.model_copy(update={"labels": None, "response_modalities": ["TEXT"]})


def readable(response: types.GenerateContentResponse) -> LlmResponse:
    """The answer as ADK needs it. Raises EmptyAnswer, ModelRefused.

    Function calls pass through even without text; otherwise the words become one text part.
    """
    refuse_blocked(response)
    parts = parts_of(response)
    calls = [part for part in parts if part.function_call]
    text = plain_text(response)
    if not calls and not text.strip():
        # Some answers carry their words beside the candidate.
        text = _text_beside(response)
        if not text.strip():
            raise empty(response)
    # Calls keep their own parts: the thought signature on them must come back to the model.
    kept = calls if calls else [types.Part(text=text)]
    reason = response.candidates[0].finish_reason if response.candidates else None
    return LlmResponse(
        content=types.Content(role="model", parts=kept),
        finish_reason=reason,
        model_version=response.model_version,
    )


def _text_beside(response: types.GenerateContentResponse) -> str:
    try:
        return response.text or ""
    except ValueError:
        return ""

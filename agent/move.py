"""The move agent: decides the next step of a lesson, or judges one that was already spoken.

An ADK agent behind one function. Every turn has its own in-memory session that ends with it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime
from uuid import uuid4

from google.adk.agents.invocation_context import LlmCallsLimitExceededError
from google.adk.agents.llm_agent import LlmAgent
from google.adk.agents.readonly_context import ReadonlyContext
from google.adk.agents.run_config import RunConfig
from google.adk.models import LlmCapabilities
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.genai import types

from agent.decision import Decision, DecisionInvalid, parse_decision
from agent.dialogue import MoveRequest
from agent.failures import EmptyAnswer, ModelTimeout, NoDecision, ToolLoop
from agent.gemini import ModelGateway
from agent.llm import CALLS_PER_ATTEMPT, GatewayLlm
from agent.prompts.move_instruction import compose_move_instruction, compose_query
from agent.tools import topic_tools
from agent.topic import Grounded, Section
from agent.turn import CURRENT, Refresh, Slot, Turn
from agent.usage import UsageSink, usage_of

HANDLER = "dialogueTurn"
ATTEMPTS = 3  # MOVE-11
CONCURRENT_TURNS = 2
TURN_DEADLINE_S = 55.0  # below the 60 s of the operation (API-49)
_APP = "pidjin"
_USER = "learner"

log = logging.getLogger(__name__)


class MoveAgent:
    """One agent and one runner for all lessons of a process; `llm` replaces the gateway's model."""

    def __init__(self, gateway: ModelGateway, *, llm: BaseLlm | None = None) -> None:
        self._mind = _Mind(llm or GatewayLlm(gateway))
        self._places = asyncio.Semaphore(CONCURRENT_TURNS)

    async def decide(
        self, request: MoveRequest, record: UsageSink, *, refresh: Refresh | None = None
    ) -> Decision:
        """One decision, with at most three attempts.

        Usage of all attempts is recorded once. Raises NoDecision when every answer was unusable,
        ModelUnavailable, ModelTimeout or ModelRefused when there was none.
        """
        clock = asyncio.get_running_loop().time
        started = clock()
        turn = Turn(request, request.topic, Slot(self._places), refresh)
        token = CURRENT.set(turn)
        attempts, mode, why = 0, "", ""
        try:
            async with asyncio.timeout(TURN_DEADLINE_S), turn.slot:
                while attempts < ATTEMPTS:
                    attempts += 1
                    try:
                        decision = parse_decision(await self._mind.run(turn))
                    except (EmptyAnswer, ToolLoop) as error:
                        why = error.detail
                    except (DecisionInvalid, LlmCallsLimitExceededError) as error:
                        why = str(error)
                    else:
                        mode = decision.mode
                        return decision
            raise NoDecision(ATTEMPTS, why)
        except TimeoutError:
            raise ModelTimeout("The tutor took too long to decide.") from None
        finally:
            CURRENT.reset(token)
            if turn.steps or turn.usage.total:
                record(HANDLER, request.model, turn.usage)
            log.info(
                "move turn",
                extra={
                    "mode": mode or "none",
                    "observing": request.observing,
                    "attempts": attempts,
                    "duration_ms": round((clock() - started) * 1000),
                    "tools": list(turn.tools),
                    "steps": turn.steps,
                },
            )

    async def warm(self) -> None:
        """Runs one turn on a canned answer: ADK's first turn costs about a second of CPU."""
        topic = Grounded("warm", "core", "warm", False, (), "standard", (Section("s1", "w", "w"),))
        moment = datetime(2026, 1, 1, tzinfo=UTC)
        request = MoveRequest(
            topic, "warm", moment, "socratic", {}, 0, "", None, False, "warm", "low"
        )
        turn = Turn(request, topic, Slot(asyncio.Semaphore(1)))
        token = CURRENT.set(turn)
        try:
            async with turn.slot:
                parse_decision(await _Mind(_Canned()).run(turn))
        finally:
            CURRENT.reset(token)


class _Mind:
    """Agent, runner and sessions, built once."""

    def __init__(self, llm: BaseLlm) -> None:
        agent = LlmAgent(
            name=_APP,
            model=llm,
            instruction=_instruction,
            tools=list(topic_tools()),
            include_contents="none",
            disallow_transfer_to_parent=True,
            disallow_transfer_to_peers=True,
        )
        self.sessions = InMemorySessionService()
        self._runner = Runner(app_name=_APP, agent=agent, session_service=self.sessions)

    async def run(self, turn: Turn) -> str:
        """One attempt: the final text of the event stream. Raises what the turn failed with."""
        turn.failure, turn.calls = None, 0
        session_id = uuid4().hex
        await self.sessions.create_session(app_name=_APP, user_id=_USER, session_id=session_id)
        text = ""
        try:
            events = self._runner.run_async(
                user_id=_USER,
                session_id=session_id,
                new_message=types.Content(
                    role="user", parts=[types.Part(text=compose_query(turn.request))]
                ),
                run_config=RunConfig(max_llm_calls=CALLS_PER_ATTEMPT + 1),
            )
            async with aclosing(events):
                async for event in events:
                    if event.usage_metadata is not None:
                        turn.steps += event.error_code is None
                        turn.usage += usage_of(event.usage_metadata)
                    if event.is_final_response() and event.content is not None:
                        parts = event.content.parts or ()
                        text = "".join(p.text or "" for p in parts if not p.thought)
        finally:
            await self.sessions.delete_session(app_name=_APP, user_id=_USER, session_id=session_id)
        if turn.failure is not None:
            raise turn.failure
        if not text.strip():
            raise EmptyAnswer("NONE", ())
        return text


def _instruction(_: ReadonlyContext) -> str:
    # A function, so that ADK does not take braces in a digest for its own placeholders.
    return compose_move_instruction(CURRENT.get().request)


class _Canned(BaseLlm):
    """Calls one tool, then decides; without any network."""

    model: str = "canned"

    @property
    def capabilities(self) -> LlmCapabilities:
        return LlmCapabilities(output_schema_and_tools=False)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        parts = llm_request.contents[-1].parts or []
        if any(part.function_response for part in parts):
            part = types.Part(text='{"mode": "ask", "text": "warm"}')
        else:
            part = types.Part(
                function_call=types.FunctionCall(id="c1", name="get_topic_context", args={})
            )
        yield LlmResponse(
            content=types.Content(role="model", parts=[part]),
            usage_metadata=types.GenerateContentResponseUsageMetadata(
                prompt_token_count=0, candidates_token_count=0, total_token_count=0
            ),
        )


__all__ = ["MoveAgent", "MoveRequest", "NoDecision"]

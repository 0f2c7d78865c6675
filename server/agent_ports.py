"""How a voice lesson reaches the agent itself: a decision, a voice, a transcript."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol

from server.callers import Caller
from server.context import Context
from server.operations.dialogue import UTTERANCE_MAX_CHARS, DialogueTurnRequest, dialogue_turn
from server.operations.fields import Style
from server.operations.speech import TEXT_MAX_CHARS, spoken
from server.trouble import translated
from server.usage import Tally

HANDLER = "transcribe"


class Move(Protocol):
    """A stored decision (the response of `dialogueTurn`)."""

    @property
    def mode(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def updated_reveal_state(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class AgentPorts:
    """`ask` decides on what the learner said and stores the turn; `speak` gives PCM16 mono 24 kHz;
    `transcribe` takes PCM16 mono 16 kHz and gives words, none for noise. All raise PidjinError."""

    ask: Callable[[str], Awaitable[Move]]
    speak: Callable[[str], Awaitable[bytes]]
    transcribe: Callable[[bytes], Awaitable[str]]


def agent_ports_of(
    ctx: Context,
    current: Callable[[], Awaitable[Caller]],
    *,
    session_id: str,
    topic_id: str,
    style: Callable[[], Style | None],
) -> AgentPorts:
    """`current` gives the caller with the role of this moment; `style` one chosen before anything
    was stored (UI-36)."""

    async def ask(text: str) -> Move:
        request = DialogueTurnRequest(
            session_id=session_id,
            topic_id=topic_id,
            user_utterance_summary=text[:UTTERANCE_MAX_CHARS],
            style=style(),
        )
        with translated():
            return await dialogue_turn(ctx, await current(), request)

    async def speak(text: str) -> bytes:
        with translated():
            return await spoken(ctx, (await current()).uid, text[:TEXT_MAX_CHARS])

    async def transcribe(pcm: bytes) -> str:
        with translated():
            uid = (await current()).uid
            await ctx.quota.admit(uid)
            config = await ctx.config.load()
            tally = Tally(ctx.rates)
            try:
                return await ctx.gateway.transcribe(
                    pcm,
                    model=config.text_model,
                    thinking_level=config.dialogue_thinking_level,
                    handler=HANDLER,
                    record=tally.sink,
                )
            finally:
                await ctx.usage.add(uid, tally.bill)

    return AgentPorts(ask, speak, transcribe)

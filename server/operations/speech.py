"""`speakText`: a text as sound, for clients without a voice lesson (API-34, API-35)."""

from __future__ import annotations

import asyncio
import base64
from typing import Annotated, Literal

from pydantic import Field

from media.mp3 import encode_mp3
from server.callers import Caller
from server.context import Context
from server.operations.fields import NotBlank, check_words
from server.registry import MODEL_DEADLINE_S, Operation, Wire
from server.roles import Role
from server.usage import Tally

TEXT_MAX_CHARS = 4000
HANDLER = "speakText"


class SpeakTextRequest(Wire):
    text: Annotated[str, Field(max_length=TEXT_MAX_CHARS), NotBlank]


class SpeakTextResponse(Wire):
    audio_base64: str
    mime_type: Literal["audio/mpeg"]


async def spoken(ctx: Context, uid: str, text: str) -> bytes:
    """`text` as PCM16 mono 24 kHz, counted as one call of this person."""
    await ctx.quota.admit(uid)
    config = await ctx.config.load()
    tally = Tally(ctx.rates)
    try:
        return await ctx.gateway.speak(
            text,
            config.tts_model,
            handler=HANDLER,
            record=tally.sink,
            voice=config.live_voice_name,
        )
    finally:
        await ctx.usage.add(uid, tally.bill)


async def speak_text(ctx: Context, caller: Caller, request: SpeakTextRequest) -> SpeakTextResponse:
    """Raises `invalid-argument` for a text without words; `unavailable` when the model gives no
    sound, after its attempts (API-35)."""
    check_words(request.text)
    pcm = await spoken(ctx, caller.uid, request.text)
    mp3 = await asyncio.to_thread(encode_mp3, pcm)
    return SpeakTextResponse(
        audio_base64=base64.b64encode(mp3).decode("ascii"), mime_type="audio/mpeg"
    )


SPEAK_TEXT = Operation(
    name="speakText",
    summary="Reads a text aloud.",
    request=SpeakTextRequest,
    response=SpeakTextResponse,
    role=Role.APPROVED,
    run=speak_text,
    quota=True,
    deadline_s=MODEL_DEADLINE_S,
)

"""Client messages of a Live session, read strictly: what the service refuses closes with 1007."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from local_gemini.engine import RATE_HEARD
from local_gemini.models import bare
from local_gemini.usage import IMAGE_TOKENS
from local_gemini.wire import (
    Json,
    WireError,
    camel,
    check_fields,
    pcm_rate,
    text_of,
    unbase64,
    unknown_field,
)

if TYPE_CHECKING:
    from local_gemini.live_session import LiveSession

CONTENT: Mapping[str, Any] = {"role": None, "parts": None}
BLOB: Mapping[str, Any] = {"data": None, "mimeType": None}
FUNCTION_RESPONSE: Mapping[str, Any] = dict.fromkeys(
    ("id", "name", "response", "willContinue", "scheduling", "parts")
)
MESSAGES: Mapping[str, Mapping[str, Any]] = {
    "clientContent": {"turns": [CONTENT], "turnComplete": None},
    "realtimeInput": {
        "audio": BLOB,
        "video": BLOB,
        "mediaChunks": [BLOB],
        "text": None,
        "activityStart": {},
        "activityEnd": {},
        "audioStreamEnd": None,
    },
    "toolResponse": {"functionResponses": [FUNCTION_RESPONSE]},
    "contextUpdate": {"systemInstruction": CONTENT, "tools": None},
}


async def read_client(session: LiveSession) -> None:
    """Until the connection is over; a refused message ends it."""
    inbox = Inbox(session)
    try:
        while (message := await session.socket.receive()) is not None:
            await inbox.take(message)
    except WireError as error:
        await session.socket.refuse(error)


class Inbox:
    def __init__(self, session: LiveSession) -> None:
        self._session = session
        self._seeding = session.setup.seeded
        self._realtime = False
        self._bracketed = False

    async def take(self, raw: Json) -> None:
        """One client message. Raises WireError."""
        message = camel(raw)
        if len(message) != 1:
            raise WireError("Request contains an invalid argument: one kind of message at a time.")
        kind, body = next(iter(message.items()))
        if kind not in MESSAGES:
            raise unknown_field(kind, "client_message")
        check_fields(body, MESSAGES[kind], kind)
        if kind == "realtimeInput":
            await self._realtime_input(body)
        elif kind == "clientContent":
            await self._client_content(body)
        elif kind == "toolResponse":
            await self._tool_response(body)
        else:
            instruction = text_of(body.get("systemInstruction"))
            if instruction:
                await self._session.instruct(instruction)

    async def _realtime_input(self, body: Json) -> None:
        session = self._session
        self._realtime = True
        for key, value in body.items():
            if key == "audio":
                await self._audio(value)
            elif key == "text":
                if not isinstance(value, str) or not value:
                    raise WireError("Request contains an invalid argument: text is empty.")
                await session.prompt(value)
            elif key == "video":
                unbase64(value.get("data"))
                session.record.images += 1
                session.memory.context.image += IMAGE_TOKENS
            elif key == "audioStreamEnd":
                session.record.stream_ends += 1
                if session.setup.automatic and session.traits.flushes:
                    await session.follow(session.hearing.flush())
                session.house.journal.touch()
            elif key == "mediaChunks":
                await self._chunks(value)
            else:
                await self._bracket(key == "activityStart")

    async def _chunks(self, chunks: list[Json]) -> None:
        model = bare(self._session.setup.model)
        if model.startswith("gemini-3"):
            raise WireError("realtime_input.media_chunks is deprecated. Use audio, video, or text.")
        for chunk in chunks:
            await self._audio(chunk)

    async def _audio(self, blob: Json) -> None:
        rate = pcm_rate(blob.get("mimeType") or f"audio/pcm;rate={RATE_HEARD}")
        pcm = unbase64(blob.get("data"))
        if len(pcm) % 2:
            raise WireError("Request contains an invalid argument: PCM16 has whole samples.")
        if not self._session.setup.automatic and not self._bracketed:
            raise WireError("Request contains an invalid argument: audio before activityStart.")
        await self._session.hear(pcm, rate)

    async def _bracket(self, started: bool) -> None:
        session = self._session
        if session.setup.automatic:
            raise WireError(
                "Explicit activity control is not supported when automatic activity detection is "
                "enabled."
            )
        self._bracketed = True
        edge = session.hearing.bracket(started)
        if edge is not None:
            await session.follow([edge])

    async def _client_content(self, body: Json) -> None:
        session = self._session
        turns = body.get("turns") or []
        complete = bool(body.get("turnComplete"))
        for turn in turns:
            if turn.get("role") not in ("user", "model"):
                raise WireError("Request contains an invalid argument: role is user or model.")
        if self._realtime and not session.traits.context_mid_session:
            raise WireError("Request contains an invalid argument: history comes first.")
        answer = complete and not self._seeding
        if complete:
            self._seeding = False
        prompt: str | None = None
        if answer:
            # The last words of the learner are the prompt; without any, what was said before is.
            prompt = ""
            if turns and turns[-1]["role"] == "user":
                prompt = text_of(turns[-1])
                turns = turns[:-1]
        for turn in turns:
            await session.context(turn["role"], text_of(turn))
        if turns:
            await session.fire("context", 1)
        if prompt is not None:
            await session.prompt(prompt or self._last_words())

    def _last_words(self) -> str:
        history = self._session.memory.history
        return next((text for role, text in reversed(history) if role == "user"), "Please begin.")

    async def _tool_response(self, body: Json) -> None:
        for response in body.get("functionResponses") or []:
            if not response.get("id"):
                raise WireError("Request contains an invalid argument: a response needs its id.")
            self._session.answered(response)
        await self._session.fire("tool_response", len(self._session.record.tool_responses))

"""One turn of a Live session: from the learner's words to `turnComplete`.

Audio goes out as fast as it is made, in 40 ms pieces; `turnComplete` waits until it would have been
heard. A turn that is cancelled says nothing by itself: `cut()` tells the client.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy

from local_gemini.hearing import Utterance
from local_gemini.obedience import (
    ATTEMPTS,
    HOLDING,
    call_for,
    captures_only,
    fetches_replies,
    verbatim,
)
from local_gemini.record import ReplyRecord, keep
from local_gemini.reply import BYTES_PER_MS, Reply
from local_gemini.script import Plan
from local_gemini.wire import Json, audio_frame

if TYPE_CHECKING:
    from local_gemini.live_session import LiveSession

PIECE_BYTES = 40 * BYTES_PER_MS
# After this many pieces the reader gets its turn, so that a long sentence can be interrupted.
PIECES_IN_A_ROW = 16
# A mind that thinks longer is broken; the service would close with 1011 as well.
ANSWER_DEADLINE_S = 60.0


class TurnCut(Exception):
    """The script drops the reply from within."""

    def __init__(self, turn_complete: bool) -> None:
        super().__init__("interrupted by the service")
        self.turn_complete = turn_complete


class Turn:
    """`spoken` is an utterance, `typed` a prompt; exactly one is given."""

    def __init__(
        self, session: LiveSession, *, spoken: Utterance | None = None, typed: str | None = None
    ) -> None:
        self._session = session
        self.spoken = spoken
        self._typed = typed
        self.plan = Plan()
        self.number = 0
        self.begun = typed is not None
        self.wanted = True
        self.calls: list[str] = []
        self._reply = Reply(session.house.speed)
        self._record = ReplyRecord("")
        self._over = False

    async def run(self) -> None:
        """Returns when the turn is over, or when the learner made only noise."""
        try:
            await self._run()
        except TurnCut as cut:
            await self.cut(cut.turn_complete)

    def drop(self, turn_complete: bool) -> None:
        """Ends the turn from within, as if the service had dropped its reply. Raises TurnCut."""
        raise TurnCut(turn_complete)

    async def _run(self) -> None:
        session = self._session
        learner = self._typed
        if learner is None:
            assert self.spoken is not None
            learner = (await self.spoken.words).strip()
            if not learner:
                session.record.noise += 1
                session.house.journal.touch()
                return
        self.begun = True
        self.number = session.next_turn()
        self._record.learner = learner
        keep(session.record.replies, self._record)
        if self.spoken is not None:
            await session.fire("transcript", self.number, self)
        await session.fire("turn", self.number, self)
        if self.spoken is not None:
            keep(session.record.transcripts, learner)
            await self._transcript(learner)
        session.memory.remember("user", learner)
        session.house.journal.touch()
        await session.busy()
        if self.plan.no_reply:
            await self._complete()
            return
        if self.plan.filler is not None:
            await self._speak([self.plan.filler])
            await self._played()
            await self._filler_complete()
        await self._answer(learner)

    async def _answer(self, learner: str) -> None:
        session = self._session
        sentences = self.plan.sentences
        if sentences is None:
            sentences = await self._sentences(learner)
        if self.plan.delay_ms:
            await session.pause(self.plan.delay_ms)
        if self.plan.text_part is not None:
            part = {"text": self.plan.text_part}
            await session.socket.send({"serverContent": {"modelTurn": {"parts": [part]}}})
        else:
            await self._speak(sentences)
        await session.fire("generation_complete", self.number, self)
        if self.plan.generation_complete:
            await session.socket.send({"serverContent": {"generationComplete": True}})
        await self._played()
        await session.fire("turn_complete", self.number, self)
        await self._complete()

    async def _sentences(self, learner: str) -> list[str]:
        """What the instruction makes of the turn; an empty list is silence."""
        session = self._session
        if self._typed is not None and (text := verbatim(self._typed)) is not None:
            return text
        if captures_only(session.setup.instruction):
            return []
        if fetches_replies(session.setup.raw):
            return await self._fetched(learner)
        mind = session.memory.mind
        async with asyncio.timeout(ANSWER_DEADLINE_S):
            return await session.desk.ask(lambda: mind.answer(learner))  # type: ignore[no-any-return]

    async def _fetched(self, learner: str) -> list[str]:
        """The text of the tool's result; nothing for a `noop`, or when every call failed."""
        session = self._session
        for attempt in range(1, ATTEMPTS + 1):
            if attempt == ATTEMPTS:
                await self._speak([HOLDING])
            number = self.number * 10 + attempt
            call = call_for(learner, session.setup.instruction, number)
            await session.call_tools(self, [call], wait=True)
            response = session.response_to(call["id"])
            if "error" not in response:
                text = response.get("text")
                return [text] if isinstance(text, str) and text else []
        return []

    async def _transcript(self, learner: str) -> None:
        if not self._session.setup.input_text:
            return
        socket, plan = self._session.socket, self.plan
        for text in plan.interims:
            await socket.send({"serverContent": {"interimInputTranscription": {"text": text}}})
        words: Json = {"text": learner}
        if plan.finished:
            words["finished"] = True
        for _ in range(plan.repeats):
            await socket.send({"serverContent": {"inputTranscription": words}})

    async def _speak(self, sentences: list[str]) -> None:
        session = self._session
        marks = session.reply_marks(self.number)
        for sentence in sentences:
            pcm = await session.house.workers.speak(
                session.house.engine.voice.speak, sentence, lambda: self.wanted
            )
            pcm = self._coloured(pcm)
            if pcm and not self._reply.text:
                await session.fire("first_audio", self.number, self)
            lead = " " if self._reply.text else ""
            self._reply.begin(sentence, len(pcm), session.now())
            if session.setup.output_text:
                words = {"text": lead + sentence}
                await session.socket.send({"serverContent": {"outputTranscription": words}})
            for position in range(0, len(pcm), PIECE_BYTES):
                while marks and self._reply.sent_ms >= marks[0].after_ms:
                    rule = marks.pop(0)
                    rule.fired += 1
                    await rule.do(session.stage(self))
                piece = pcm[position : position + PIECE_BYTES]
                self._reply.sent(len(piece))
                await session.socket.send_bytes(audio_frame(piece))
                if position // PIECE_BYTES % PIECES_IN_A_ROW == PIECES_IN_A_ROW - 1:
                    await asyncio.sleep(0)
        for rule in marks:
            if rule.after_ms <= self._reply.sent_ms:
                rule.fired += 1
                await rule.do(session.stage(self))

    def _coloured(self, pcm: bytes) -> bytes:
        if self.plan.mute:
            return b""
        if self.plan.amplitude == 1.0:
            return pcm
        samples = numpy.frombuffer(pcm, dtype="<i2") * self.plan.amplitude
        return bytes(samples.astype("<i2").tobytes())

    async def _played(self) -> None:
        remaining = self._reply.remaining_s(self._session.now())
        if remaining > 0:
            await asyncio.sleep(remaining)

    async def _filler_complete(self) -> None:
        content = {"turnComplete": True, "interactionStatus": "IN_PROGRESS"}
        await self._session.socket.send({"serverContent": content})

    async def _complete(self) -> None:
        self._over = True
        reply, record = self._reply, self._record
        record.text = record.heard = reply.text
        record.sent_ms = record.played_ms = reply.sent_ms
        record.complete = True
        await self._settle(reply.text, interrupted=False)
        await self._turn_complete(self.plan.turn_complete)

    async def cut(self, turn_complete: bool = True) -> None:
        """`interrupted`, then `turnComplete`; the mind learns what was heard. Idempotent."""
        if self._over or not self.begun:
            return
        self._over = True
        now = self._session.now()
        record = self._record
        record.text, record.sent_ms = self._reply.text, self._reply.sent_ms
        record.heard, record.played_ms = self._reply.heard(now), self._reply.played_ms(now)
        record.interrupted = True
        socket = self._session.socket
        if self.calls:
            await socket.send({"toolCallCancellation": {"ids": list(self.calls)}})
            self._session.forget_calls(self.calls)
        await socket.send({"serverContent": {"interrupted": True}})
        await self._settle(record.heard, interrupted=True)
        await self._turn_complete(turn_complete)

    async def _settle(self, heard: str, interrupted: bool) -> None:
        session = self._session
        mind = session.memory.mind
        if heard:
            session.memory.remember("model", heard)
        await session.tell_mind(lambda: mind.heard(heard, interrupted))

    async def _turn_complete(self, send: bool) -> None:
        session = self._session
        usage = session.usage(self._reply.sent_ms)
        if send:
            content: Json = {"turnComplete": True}
            if self.plan.reason:
                content["turnCompleteReason"] = self.plan.reason
            if session.traits.status or self.plan.filler is not None:
                content["interactionStatus"] = "IDLE"
            frame: Mapping[str, Any] = {"serverContent": content, "usageMetadata": usage}
            await session.socket.send(frame)
        session.house.journal.touch()

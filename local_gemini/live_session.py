"""One Live connection after its setup: owns the current turn, the ears, resumption and usage.

Every task is a child of one TaskGroup. The reader never waits for the mind or the voice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from local_gemini.engine import EndPointer
from local_gemini.handles import Memory
from local_gemini.hearing import Edge, Hearing
from local_gemini.house import House
from local_gemini.live_inbox import read_client
from local_gemini.live_socket import Socket
from local_gemini.live_stage import LiveStage
from local_gemini.live_turn import Turn
from local_gemini.mind_desk import MindDesk
from local_gemini.models import live_traits
from local_gemini.record import SessionRecord, keep
from local_gemini.script import Rule, carry_out
from local_gemini.setup import Setup
from local_gemini.usage import text_tokens
from local_gemini.wire import Json, WireError

STATE_UPDATE = "[TUTOR STATE UPDATE]"
BYTES_PER_MS = 32


class LiveSession:
    def __init__(
        self, socket: Socket, house: House, record: SessionRecord, setup: Setup, memory: Memory
    ) -> None:
        self.socket, self.house, self.record = socket, house, record
        self.setup, self.memory = setup, memory
        self.traits = live_traits(setup.model)
        self.desk = MindDesk(house.workers)
        self.cumulative = False
        pointer: EndPointer | None = None
        if setup.automatic:
            pointer = house.engine.end_pointer(setup.silence_ms, setup.prefix_ms)
        self.hearing = Hearing(pointer, setup.silence_ms, self._recognise, self._ahead)
        self._group = asyncio.TaskGroup()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._turn: Turn | None = None
        self._turn_task: asyncio.Task[None] | None = None
        self._next: Turn | None = None
        self._turns = 0
        self._calls: dict[str, asyncio.Event] = {}

    # --- life ---------------------------------------------------------------------------------

    async def run(self) -> None:
        """Until the connection is over. Raises (in an ExceptionGroup) what the engine raises."""
        async with self._group:
            self.spawn(self.desk.run())
            try:
                await self._quiet()
                self.spawn(self.fire("ready"))
                await read_client(self)
            finally:
                self.socket.gone.set()
                if self._turn is not None:
                    self._turn.wanted = False
                for task in self._tasks:
                    task.cancel()
                self.hearing.close()

    def spawn(self, job: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """A child of the session, cancelled at its end."""
        task = self._group.create_task(job)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    async def pause(self, ms: int) -> None:
        await asyncio.sleep(ms / 1000 / self.house.speed)

    # --- script -------------------------------------------------------------------------------

    def stage(self, turn: Turn | None) -> LiveStage:
        return LiveStage(self, turn)

    async def fire(self, moment: str, n: int = 1, turn: Turn | None = None) -> None:
        due = self.house.script.due(moment, n=n, session=self.record.number, subject=self.setup.raw)
        if due:
            await carry_out(due, self.stage(turn))

    def reply_marks(self, n: int) -> list[Rule]:
        return self.house.script.reply_marks(n, self.record.number, self.setup.raw)

    # --- what the client does -----------------------------------------------------------------

    async def hear(self, pcm: bytes, rate: int) -> None:
        self.record.audio_bytes += len(pcm)
        self.record.audio_messages += 1
        self.memory.context.audio_ms += len(pcm) * 500 // rate
        await self.follow(self.hearing.feed(pcm, rate))

    async def follow(self, edges: list[Edge]) -> None:
        """Acts on what the ears found: the start may interrupt, an utterance starts a turn."""
        for edge in edges:
            kind = "ACTIVITY_START" if edge.activity.started else "ACTIVITY_END"
            keep(self.record.activities, kind)
            offset = f"{edge.activity.offset_ms / 1000:.3f}s"
            await self.socket.send({"voiceActivity": {"type": kind, "audioOffset": offset}})
            self.house.journal.touch()
            if edge.activity.started:
                if self.setup.interrupts:
                    await self._interrupt()
                await self.fire("activity_start", self._turns + 1)
            elif edge.utterance is not None:
                await self.fire("activity_end", self._turns + 1)
                await self._begin(Turn(self, spoken=edge.utterance))

    async def prompt(self, text: str) -> None:
        """Typed words that are answered, whatever else is going on."""
        keep(self.record.prompts, text)
        self.memory.context.read(text)
        await self._interrupt()
        await self._begin(Turn(self, typed=text))

    async def context(self, role: str, text: str) -> None:
        """Silent context: never answered."""
        self.memory.context.read(text)
        mind = self.memory.mind
        if role == "user" and text.startswith(STATE_UPDATE):
            keep(self.record.contexts, text)
            await self.tell_mind(lambda: mind.note(text))
        else:
            keep(self.record.seeds, (role, text))
            self.memory.remember(role, text)
            await self.tell_mind(lambda: mind.seed(role, text))
        self.house.journal.touch()

    async def instruct(self, instruction: str) -> None:
        """A new system instruction in mid-session: a new mind that knows what was said."""
        history = tuple(self.memory.history)

        def anew() -> None:
            mind = self.house.engine.brain.mind(instruction)
            for role, text in history:
                mind.seed(role, text)
            self.memory.mind = mind

        self.memory.context.instruction = text_tokens(instruction)
        await self.desk.ask(anew)

    # --- tools --------------------------------------------------------------------------------

    async def call_tools(self, turn: Turn | None, calls: list[Json], wait: bool) -> None:
        """Sends a toolCall; with `wait` returns when all of it is answered."""
        ids = [str(call["id"]) for call in calls]
        for call_id in ids:
            self._calls[call_id] = asyncio.Event()
        if turn is not None:
            turn.calls += ids
        events = [self._calls[call_id] for call_id in ids]
        await self.socket.send({"toolCall": {"functionCalls": calls}})
        if wait:
            for event in events:
                await event.wait()

    def answered(self, response: Json) -> None:
        """A function response; one for an id that nobody waits for is recorded and ignored."""
        keep(self.record.tool_responses, response)
        call_id = str(response.get("id"))
        event = self._calls.pop(call_id, None)
        if event is not None:
            event.set()
            if self._turn is not None and call_id in self._turn.calls:
                self._turn.calls.remove(call_id)
        self.house.journal.touch()

    def response_to(self, call_id: str) -> Json:
        """The newest response to a call, empty without one."""
        found = (one for one in reversed(self.record.tool_responses) if one.get("id") == call_id)
        return dict(next(found, {}).get("response") or {})

    def forget_calls(self, ids: list[str]) -> None:
        for call_id in ids:
            self._calls.pop(call_id, None)

    # --- turns --------------------------------------------------------------------------------

    def next_turn(self) -> int:
        self._turns += 1
        return self._turns

    async def busy(self) -> None:
        """A reply is being formed: this is no moment to resume at."""
        if self.setup.resumption:
            await self.socket.send({"sessionResumptionUpdate": {"resumable": False}})

    async def _begin(self, turn: Turn) -> None:
        if self._turn is not None:
            # NO_INTERRUPTION: the newest utterance waits for the end of the reply.
            if self._next is not None and self._next.spoken is not None:
                self._next.spoken.words.cancel()
            self._next = turn
            return
        self._turn = turn
        self._turn_task = self.spawn(self._drive(turn))

    async def _drive(self, turn: Turn) -> None:
        await turn.run()
        if self._turn is turn:
            self._turn = self._turn_task = None
            await self._quiet()
            waiting, self._next = self._next, None
            if waiting is not None:
                await self._begin(waiting)

    async def _interrupt(self) -> None:
        """Ends the current turn, if any. A turn that was not understood yet goes into the next."""
        turn, task = self._turn, self._turn_task
        if turn is None or task is None or task is asyncio.current_task():
            return
        self._turn = self._turn_task = None
        turn.wanted = False
        task.cancel()
        await asyncio.wait([task])
        if turn.begun:
            await turn.cut()
            await self._quiet()
        elif turn.spoken is not None:
            turn.spoken.words.cancel()
            self.hearing.carry(turn.spoken.pcm)

    def _recognise(self, pcm: bytes) -> asyncio.Task[str]:
        return self.spawn(self.house.workers.hear(self.house.engine.recogniser.transcribe, pcm))

    def _ahead(self, words: asyncio.Task[str]) -> None:
        if self.setup.input_text:
            self.spawn(self._interim(words))

    async def _interim(self, words: asyncio.Task[str]) -> None:
        """What was understood in a pause, while it is still open whether the learner goes on."""
        await asyncio.wait([words])
        if words.cancelled() or words.exception() is not None or not self.hearing.speaking:
            return
        text = words.result().strip()
        if text:
            content = {"interimInputTranscription": {"text": text}}
            await self.socket.send({"serverContent": content})

    # --- what the service says about itself -----------------------------------------------------

    def usage(self, reply_ms: int) -> Json:
        """The usage of a finished turn; sums up the session when the script wants it so."""
        counts = self.memory.context.turn(reply_ms, self.setup.compression)
        if self.cumulative:
            counts = {**counts, **self.memory.context.billed}
        keep(self.record.usage, counts)
        return counts

    async def _quiet(self) -> None:
        if self.setup.resumption:
            handle = self.house.handles.issue(self.memory)
            keep(self.record.handles, handle)
            update = {"newHandle": handle, "resumable": True}
            await self.socket.send({"sessionResumptionUpdate": update})
        self.house.journal.touch()

    async def go_away(self, time_left_s: float, then_close: bool) -> None:
        """`goAway`; the close comes when the time is over."""
        await self.socket.send({"goAway": {"timeLeft": f"{time_left_s:g}s"}})
        if then_close:
            self.spawn(self._deadline(time_left_s))

    async def _deadline(self, time_left_s: float) -> None:
        await asyncio.sleep(time_left_s / self.house.speed)
        error = WireError("Deadline expired before operation could complete.", 1011)
        await self.socket.refuse(error)

    async def tell_mind(self, call: Callable[[], Any]) -> None:
        """Queues something the mind should know; its failure is the session's."""
        outcome = await self.desk.post(call)
        self.spawn(_outcome(outcome))


async def _outcome(outcome: asyncio.Future[Any]) -> None:
    await outcome

"""The Live doors: who may connect, the strict first message, resumption, and the end of it all."""

from __future__ import annotations

import asyncio
import logging

from aiohttp import web

from local_gemini.handles import Memory
from local_gemini.house import MAX_LIVE, House
from local_gemini.live_session import LiveSession
from local_gemini.live_socket import Socket
from local_gemini.live_stage import SocketStage
from local_gemini.record import SessionRecord
from local_gemini.refusal import DoorStage, problem
from local_gemini.script import carry_out
from local_gemini.setup import Setup, setup_message, setup_of
from local_gemini.tokens import PREFIX, Token
from local_gemini.usage import Context, text_tokens
from local_gemini.wire import WireError

log = logging.getLogger(__name__)

LIVE_PATH = (
    r"/ws/google.ai.generativelanguage.{version:v1|v1beta|v1alpha}.GenerativeService"
    r".{method:BidiGenerateContent|BidiGenerateContentConstrained}"
)
# The service waits about this long for a first message.
SETUP_DEADLINE_S = 30.0
UNREGISTERED = (
    "Method doesn't allow unregistered callers (callers without established identity). "
    "Please use API Key or other form of API consumer identity to call this API."
)


def key_of(request: web.Request) -> str:
    """The key or token of a request, wherever clients put it."""
    authorization = request.headers.get("Authorization", "")
    scheme, _, credential = authorization.partition(" ")
    if scheme.lower() == "token" and credential:
        return credential
    return (
        request.headers.get("x-goog-api-key")
        or request.query.get("access_token")
        or request.query.get("key")
        or ""
    )


class LiveDoor:
    def __init__(self, house: House) -> None:
        self._house = house
        self._open: set[Socket] = set()
        self._sessions: set[LiveSession] = set()

    async def connect(self, request: web.Request) -> web.StreamResponse:
        """The whole life of one connection."""
        house = self._house
        constrained = request.match_info["method"].endswith("Constrained")
        record = house.journal.connection(request.path, key_of(request), constrained)
        door = DoorStage(house.speed)
        due = house.script.due("connect", session=record.number, subject={})
        await carry_out(due, door)
        if door.aborted:
            record.ended(1006, "script", "server")
            if request.transport is not None:
                request.transport.abort()
            return web.Response()
        if 0 < door.status < 1000:
            record.ended(door.status, door.reason, "server")
            return problem(door.status, door.reason)
        if house.live >= MAX_LIVE:
            record.ended(429, "too many sessions", "server")
            return problem(429, f"More than {MAX_LIVE} Live sessions.")
        socket = Socket(request, record)
        ws = await socket.accept()
        house.live += 1
        self._open.add(socket)
        try:
            if door.status:
                await socket.close(door.status, door.reason)
            else:
                await self._serve(socket, record)
        except WireError as error:
            await socket.refuse(error)
        except Exception:  # boundary: the engine's faults end one session only
            log.exception("live session failed")
            await socket.close(1011, "Internal error encountered.")
        finally:
            house.live -= 1
            self._open.discard(socket)
            record.ended(1006, "", "tcp")
            house.journal.touch()
        return ws

    async def close(self) -> None:
        """Says goodbye (1001) to everybody; bounded by the socket's own deadline."""
        await asyncio.gather(*(socket.close(1001, "going away") for socket in tuple(self._open)))

    async def go_away(self, time_left_s: float, then_close: bool) -> None:
        """To every session that is set up."""
        for session in tuple(self._sessions):
            await session.go_away(time_left_s, then_close)

    async def _serve(self, socket: Socket, record: SessionRecord) -> None:
        house = self._house
        token = self._admitted(record)
        try:
            async with asyncio.timeout(SETUP_DEADLINE_S):
                first = await socket.receive()
        except TimeoutError:
            raise WireError("Deadline expired before the setup message.", 1008) from None
        if first is None:
            return
        record.setup_frame = first
        raw = setup_message(first)
        record.setup = raw
        house.journal.touch()
        if token is not None:
            raw = token.effective(raw)
        setup = setup_of(raw)
        stage = SocketStage(socket, house.speed)
        moments = ["resume", "setup"] if setup.handle else ["setup"]
        for moment in moments:
            due = house.script.due(moment, session=record.number, subject=raw)
            await carry_out(due, stage)
        if socket.gone.is_set():
            return
        if token is not None:
            house.tokens.start(token, setup.handle is not None, house.now())
        memory = await self._memory(setup, record)
        try:
            record.session_id = f"session-{record.number}"
            record.ready = True
            await socket.send({"setupComplete": {"sessionId": record.session_id}})
            house.journal.touch()
            session = LiveSession(socket, house, record, setup, memory)
            self._sessions.add(session)
            try:
                await session.run()
            finally:
                self._sessions.discard(session)
        finally:
            house.handles.leave(memory, house.now())

    def _admitted(self, record: SessionRecord) -> Token | None:
        """The token of a constrained connection. Raises WireError 1008."""
        is_token = record.key.startswith(PREFIX)
        if not record.key or is_token != record.constrained:
            raise WireError(UNREGISTERED, 1008)
        if is_token:
            return self._house.tokens.admit(record.key, self._house.now())
        if self._house.api_key is not None and record.key != self._house.api_key:
            raise WireError("API key not valid. Please pass a valid API key.", 1007)
        return None

    async def _memory(self, setup: Setup, record: SessionRecord) -> Memory:
        house = self._house
        if setup.handle is not None:
            memory = house.handles.take(setup.handle, setup.model, house.now())
            record.resumed = True
            return memory
        mind = await house.workers.think(house.engine.brain.mind, setup.instruction)
        context = Context(instruction=text_tokens(setup.instruction))
        return Memory(mind=mind, context=context, model=setup.model)

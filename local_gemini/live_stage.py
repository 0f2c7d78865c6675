"""What a script's action can do to a Live connection, before, during and between its turns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from local_gemini.live_socket import Socket
from local_gemini.record import keep
from local_gemini.refusal import HANG_S
from local_gemini.script import Stage
from local_gemini.wire import Json

if TYPE_CHECKING:
    from local_gemini.live_session import LiveSession
    from local_gemini.live_turn import Turn


class SocketStage(Stage):
    """A connection whose setup is not answered yet."""

    def __init__(self, socket: Socket, speed: float) -> None:
        self._socket, self._speed = socket, speed

    async def send(self, frame: Mapping[str, Any]) -> None:
        await self._socket.send(frame)

    async def send_raw(self, data: bytes, text: bool) -> None:
        await self._socket.send_bytes(data, text)

    async def close(self, code: int, reason: str) -> None:
        await self._socket.close(code, reason)

    async def abort(self) -> None:
        self._socket.abort("script")

    async def hang(self) -> None:
        """Reads on without a word: nobody else would notice the client leaving."""
        await self._socket.ignore(HANG_S)

    async def pause(self, ms: int) -> None:
        await self._socket.pause(ms / 1000 / self._speed)

    async def vanish(self) -> None:
        self._socket.vanish()


class LiveStage(SocketStage):
    """A session; `turn` is the turn in which the moment lies, if it lies in one."""

    def __init__(self, session: LiveSession, turn: Turn | None) -> None:
        super().__init__(session.socket, session.house.speed)
        self._session, self._turn = session, turn

    async def hang(self) -> None:
        await self._socket.pause(HANG_S)

    async def go_away(self, time_left_s: float, then_close: bool) -> None:
        await self._session.go_away(time_left_s, then_close)

    async def amend(self, changes: Mapping[str, Any]) -> None:
        if self._turn is None:
            raise self._no("plan")
        for name, value in changes.items():
            setattr(self._turn.plan, name, value)

    async def interrupt(self, turn_complete: bool) -> None:
        if self._turn is None:
            await self._session.socket.send({"serverContent": {"interrupted": True}})
            if turn_complete:
                await self._session.socket.send({"serverContent": {"turnComplete": True}})
        else:
            self._turn.drop(turn_complete)

    async def call_tool(self, calls: list[Json], wait: bool) -> None:
        await self._session.call_tools(self._turn, calls, wait)

    async def count(self, usage: Json, cumulative: bool | None) -> None:
        if cumulative is not None:
            self._session.cumulative = cumulative
        else:
            keep(self._session.record.usage, usage)
            await self._session.socket.send({"usageMetadata": usage})

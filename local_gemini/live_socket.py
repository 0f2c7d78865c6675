"""One Live socket: frames out, closing in every way a network can. Never raises when it is gone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from local_gemini.record import SessionRecord
from local_gemini.wire import Json, WireError, message_of

# A client that does not read for this long is cut off.
SEND_DEADLINE_S = 20.0
CLOSE_DEADLINE_S = 1.0
MAX_MESSAGE_BYTES = 4 * 2**20
# A close reason must fit into one control frame (RFC 6455 5.5).
MAX_REASON_BYTES = 123


class Socket:
    """The server's end. The service sends JSON in binary frames; so does this."""

    def __init__(self, request: web.Request, record: SessionRecord) -> None:
        self._request = request
        self._record = record
        self._silent = False
        self._ws = web.WebSocketResponse(
            timeout=CLOSE_DEADLINE_S,
            max_msg_size=MAX_MESSAGE_BYTES,
            compress=False,
        )
        self.gone = asyncio.Event()

    async def accept(self) -> web.WebSocketResponse:
        await self._ws.prepare(self._request)
        return self._ws

    async def receive(self) -> Json | None:
        """The next client message; None when the connection is over. Raises WireError."""
        message = await self._ws.receive()
        if message.type in (web.WSMsgType.TEXT, web.WSMsgType.BINARY):
            return message_of(message.data)
        if message.type is web.WSMsgType.ERROR:
            code = self._ws.close_code or 1006
            self._record.ended(code, str(message.data), "server" if code == 1009 else "tcp")
        elif message.type in (web.WSMsgType.CLOSE, web.WSMsgType.CLOSED):
            code = self._ws.close_code or 1006
            reason = message.extra or ""
            self._record.ended(code, str(reason), "tcp" if code == 1006 else "client")
        elif message.type is web.WSMsgType.CLOSING:
            # Our own close is under way: cancelling it now could reset TCP under the close frame.
            await self.pause(2 * CLOSE_DEADLINE_S)
        self.gone.set()
        return None

    async def send(self, frame: Mapping[str, Any]) -> None:
        await self.send_bytes(json.dumps(frame, ensure_ascii=False).encode())

    async def send_bytes(self, data: bytes, text: bool = False) -> None:
        """A whole frame is written before this waits, so concurrent senders never interleave.
        Dropped when the connection is over or the script made the server vanish."""
        if self._silent or self._ws.closed or self.gone.is_set():
            return
        try:
            async with asyncio.timeout(SEND_DEADLINE_S):
                if text:
                    await self._ws.send_str(data.decode())
                else:
                    await self._ws.send_bytes(data)
        except TimeoutError:
            self.abort("the client does not read")
        except ConnectionError:
            self.gone.set()

    async def refuse(self, error: WireError) -> None:
        await self.close(error.code, error.reason)

    async def close(self, code: int, reason: str = "") -> None:
        """A close frame, and at most CLOSE_DEADLINE_S for the answer to it."""
        self._record.ended(code, reason, "server")
        message = reason.encode()[:MAX_REASON_BYTES].decode(errors="ignore").encode()
        await self._ws.close(code=code, message=message)
        self.gone.set()

    def abort(self, reason: str = "") -> None:
        """No close frame: the peer sees 1006."""
        self._record.ended(1006, reason, "server")
        self.gone.set()
        transport = self._request.transport
        if transport is not None:
            transport.abort()

    async def ignore(self, seconds: float) -> None:
        """Reads and drops what comes, until the connection or the time is over."""
        try:
            async with asyncio.timeout(seconds):
                while await self.receive() is not None:
                    pass
        except TimeoutError:
            return

    async def pause(self, seconds: float) -> None:
        """Waits, but not beyond the end of the connection."""
        try:
            async with asyncio.timeout(seconds):
                await self.gone.wait()
        except TimeoutError:
            return

    def vanish(self) -> None:
        self._silent = True

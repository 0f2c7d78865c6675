"""One call with a recording, and what must hold of it (TEST-19)."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import aioice.ice
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamTrack

from scripts.qa.caller import Caller, CallFailed
from scripts.qa.microphone import Microphone, listen
from scripts.qa.space_key import SpaceKey

JOIN_S = 20.0
TURN_S = 90.0
RELEASE_S = 10.0
REPLY_MIN_S = 0.3
# A tap is over long before the page takes the key for talk; then the hold goes on so long.
TAP_S, CLAIM_S = 0.15, 3.0
LOOPBACK = ("127.0.0.1", "localhost", "::1")
TEXT = """\
1. A vaccine shows the immune system a harmless piece of a germ.
2. Antibodies are made that fit the surface of that germ.
3. Memory cells keep the pattern for years.
"""

Outcome = tuple[str, bool, str]


class Call:
    """A connected voice lesson; hung up at the end. Raises CallFailed on entry."""

    def __init__(self, caller: Caller, topic: str | None) -> None:
        self.caller = caller
        self.session_id = str(uuid.uuid4())
        self.microphone = Microphone()
        self.heard_s = 0.0
        self.held = False
        self._topic = topic
        self._messages: list[tuple[str, dict[str, Any]]] = []
        self._changed = asyncio.Event()
        self._ears: asyncio.Task[None] | None = None
        self._pc = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self._pc.addTrack(self.microphone)
        self._pc.on("track", self._track)
        self._channel = self._pc.createDataChannel("chat")
        self._channel.on("message", self._message)

    async def __aenter__(self) -> Call:
        try:
            await self._join()
        except BaseException:
            await self._hang_up()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._hang_up()

    async def until(self, seen: Callable[[], object], what: str, within_s: float) -> None:
        """Waits for a fact that messages or sound bring. Raises CallFailed."""
        try:
            async with asyncio.timeout(within_s):
                while not seen():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise CallFailed(f"no {what} within {within_s:g} s") from None

    def messages(self, kind: str) -> list[dict[str, Any]]:
        """Data of RTVI messages of a type, or of a `server-message` type, in order."""
        return [data for name, data in self._messages if name == kind]

    def push(self, down: bool) -> None:
        """The page's `ptt` message."""
        self.held = down
        message = {"t": "ptt", "d": {"down": down}}
        told = {"label": "rtvi-ai", "type": "client-message", "id": "2", "data": message}
        self._channel.send(json.dumps(told))
        self._changed.set()

    @property
    def state(self) -> str:
        states = self.messages("status")
        return str(states[-1].get("state")) if states else ""

    @property
    def sending(self) -> bool:
        """Whether sound leaves the server's gate, as it said last."""
        levels = self.messages("activity")
        return bool(levels and levels[-1].get("sending"))

    async def _join(self) -> None:
        topic = self._topic
        if topic is None:
            body = {"title": "How vaccines work", "text": TEXT}
            topic = str((await self.caller.ask("POST", "/api/groundDocument", body))["topicId"])
        if urlsplit(self.caller.url).hostname in LOOPBACK:
            # aioice never offers loopback, and some machines have nothing else.
            aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: ["127.0.0.1"]
        await self._pc.setLocalDescription()
        offer = {
            "sdp": self._pc.localDescription.sdp,
            "type": "offer",
            "requestData": {"sessionId": self.session_id, "topicId": topic},
        }
        answer = await self.caller.ask("POST", "/api/offer", offer)
        await self._pc.setRemoteDescription(RTCSessionDescription(answer["sdp"], "answer"))
        self._channel.on("open", self._changed.set)
        await self.until(lambda: self._channel.readyState == "open", "data channel", JOIN_S)
        ready = {"version": "2.1.0", "about": {"library": "qa_voice_wav"}}
        message = {"label": "rtvi-ai", "type": "client-ready", "id": "1", "data": ready}
        self._channel.send(json.dumps(message))
        await self.until(lambda: self.state == "listening", "listening tutor", JOIN_S)

    async def _hang_up(self) -> None:
        if self._ears is not None:
            self._ears.cancel()
            await asyncio.wait([self._ears])
        await self._pc.close()

    def _track(self, track: MediaStreamTrack) -> None:
        self._ears = asyncio.create_task(listen(track, self._hear), name="ears")

    def _hear(self, seconds: float) -> None:
        self.heard_s += seconds
        self._changed.set()

    def _message(self, text: str | bytes) -> None:
        message = json.loads(text)
        data = message.get("data") or {}
        server = message.get("type") == "server-message"
        self._messages.append((str(data.get("type") if server else message.get("type")), data))
        self._changed.set()


async def accept(call: Call, pcm48k: bytes) -> AsyncIterator[Outcome]:
    """Name, whether it holds, and what was seen; in the order of a turn. Raises CallFailed."""
    length_s = len(pcm48k) / 96_000
    call.microphone.play(pcm48k)
    await call.until(lambda: call.sending, "sound through the gate", length_s + JOIN_S)
    yield "taken", True, "sound leaves the gate while the recording plays"
    async for outcome in _outcome(call, length_s):
        yield outcome


async def accept_held(call: Call, pcm48k: bytes) -> AsyncIterator[Outcome]:
    """The same with the Space key held while the recording plays. Raises CallFailed."""
    length_s = len(pcm48k) / 96_000
    async with SpaceKey(call.push) as key:
        key.press()
        await asyncio.sleep(TAP_S)
        key.release()
        key.press()
        yield "tap", not call.held, "a short tap of the key says nothing"
        await call.until(lambda: call.held, "hold of the key", CLAIM_S)
        yield "held", not call.sending, "the key is taken for talk, and silence leaves no gate"
        call.microphone.play(pcm48k)
        await call.until(lambda: call.sending, "sound through the gate", length_s + JOIN_S)
        yield "taken", True, "sound leaves the gate while the key is down"
        await call.until(lambda: not call.microphone.playing, "end of the recording", length_s)
        key.release()
        await call.until(lambda: not call.held, "release of the key", CLAIM_S)
        async for outcome in _outcome(call, length_s):
            yield outcome


async def _outcome(call: Call, length_s: float) -> AsyncIterator[Outcome]:
    """What becomes of words that have left the gate."""
    await call.until(lambda: call.messages("turn"), "finished turn", length_s + TURN_S)
    turn = call.messages("turn")[0]
    words = str(turn.get("userText", ""))
    yield "understood", bool(words.strip()), repr(words[:80])
    yield "answered", bool(str(turn.get("text", "")).strip()), repr(str(turn.get("text"))[:80])
    yield "heard", call.heard_s >= REPLY_MIN_S, f"{call.heard_s:.1f} s of sound"
    await call.until(lambda: not call.sending, "release of the microphone", RELEASE_S)
    yield "released", not call.microphone.playing, "nothing leaves the gate any more"
    await call.until(lambda: call.state == "listening", "listening tutor after it", RELEASE_S)
    stored = (await call.caller.ask("GET", f"/api/sessions/{call.session_id}"))["turns"]
    same = bool(stored) and stored[0].get("userText") == words
    yield "stored", same and bool(turn.get("saved")), f"{len(stored)} turn(s) in the session"

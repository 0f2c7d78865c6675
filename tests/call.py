"""A learner's end of a voice lesson, without a browser: a real aiortc peer and its page."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from media.opus import Decoder
from tests.media.peers import Client, packets, until

if TYPE_CHECKING:
    from tests.rig import Person


# So much of what a failed lesson had told its page is shown with the failure.
STORY_LINES = 60
STORY_WIDTH = 160


class Page(Client):
    """A client that also knows when each packet and each message came (loop time)."""

    def __init__(self) -> None:
        super().__init__()
        self.arrived: list[float] = []
        self.told_at: list[float] = []

    def told(self, message: Any) -> None:
        self.told_at.append(asyncio.get_running_loop().time())
        super().told(message)

    def _packet(self, payload: bytes, sequence: int, timestamp: int, ssrc: int) -> None:
        self.arrived.append(asyncio.get_running_loop().time())
        super()._packet(payload, sequence, timestamp, ssrc)


class Call:
    """A learner's page without a browser: sends sound and messages, keeps what came back."""

    def __init__(self, person: Person, topic_id: str, session_id: str) -> None:
        self.person, self.topic_id, self.session_id = person, topic_id, session_id
        self.client = Page()
        self.answer: dict[str, Any] = {}
        self._decoder = Decoder(16_000)
        self._decoded = 0
        self._pcm = bytearray()
        self._told: list[dict[str, Any]] = []
        self._quiet: asyncio.Task[None] | None = None
        self._talking = False
        self._gone = False

    async def offer(self) -> tuple[int, dict[str, Any]]:
        sdp = await self.client.offer()
        return await self.person.offer(sdp, self.session_id, self.topic_id)

    async def join(self, *, until_state: str = "listening") -> None:
        """Offers, connects, says `client-ready`; the microphone is in a silent room then."""
        status, self.answer = await self.offer()
        assert status == 200, self.answer
        await self.client.accept(self.answer["sdp"])
        await until(lambda: self.client.pc.connectionState == "connected", "connected")
        channel = self.client.channel
        assert channel is not None
        await until(lambda: channel.readyState == "open", "channel open")
        self.tell("client-ready", {"version": "2.1.0", "about": {"library": "rig"}})
        await until(lambda: self.messages("bot-ready"), "bot-ready")
        self._quiet = asyncio.create_task(self._send_quiet())
        if until_state:
            await self.shows(until_state)

    def tell(self, kind: str, data: Any) -> None:
        assert self.client.channel is not None
        message = {"label": "rtvi-ai", "type": kind, "id": "1", "data": data}
        self.client.channel.send(json.dumps(message))

    def act(self, t: str, **d: Any) -> None:
        self.tell("client-message", {"t": t, "d": d})

    def type(self, text: str) -> None:
        """A typed learner turn."""
        self.tell("send-text", {"content": text})

    async def ask(self, text: str, within: float = 15.0) -> dict[str, Any]:
        """Types, and waits until the exchange has been told as stored or lost."""
        before = len(self.messages("turn"))
        self.type(text)
        await until(lambda: len(self.messages("turn")) > before, f"turn of {text!r}", within)
        return self.messages("turn")[before]

    async def shows(self, state: str, within: float = 10.0) -> None:
        await until(lambda: self.state == state, f"state {state}, not {self.states}", within)

    async def hears(self, seconds: float, within: float = 10.0) -> None:
        """Waits until so much of the tutor has been heard."""
        await until(lambda: len(self.heard()) >= seconds * 32_000, "the tutor is heard", within)

    async def _send_quiet(self) -> None:
        """A microphone in a silent room, whenever nobody talks."""
        quiet = packets(bytes(48_000 // 50 * 2))[0]
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            due += 0.020
            await asyncio.sleep(max(0.0, due - loop.time()))
            if not self._talking:
                self.client.send(quiet)

    async def say(self, pcm48k: bytes) -> None:
        """Speaks in real time."""
        self._talking = True
        try:
            await self.client.speak(list(packets(pcm48k)))
        finally:
            self._talking = False

    # --- what came back ---------------------------------------------------------------------------

    @property
    def told(self) -> list[dict[str, Any]]:
        """Every message, in order; each is parsed once."""
        texts = self.client.messages
        self._told += [json.loads(text) for text in texts[len(self._told) :]]
        return self._told

    def messages(self, kind: str) -> list[dict[str, Any]]:
        """Data of the messages of an RTVI type, or of a `server-message` type."""
        found = []
        for message in self.told:
            data = message.get("data") or {}
            if message["type"] == kind or (
                message["type"] == "server-message" and data.get("type") == kind
            ):
                found.append(data)
        return found

    @property
    def kinds(self) -> list[str]:
        """Every message's type in order, `server-message` by the type of its data."""
        return [
            str(one["data"]["type"] if one["type"] == "server-message" else one["type"])
            for one in self.told
        ]

    @property
    def state(self) -> str:
        states = self.messages("status")
        return str(states[-1]["state"]) if states else ""

    @property
    def states(self) -> list[str]:
        return [str(status["state"]) for status in self.messages("status")]

    @property
    def states_since_ready(self) -> list[str]:
        """Those after the first `listening`."""
        states = self.states
        return states[states.index("listening") + 1 :]

    @property
    def learner(self) -> str:
        texts = self.messages("user-transcription")
        return str(texts[-1]["text"]) if texts else ""

    @property
    def tutor(self) -> str:
        texts = self.messages("bot-output")
        return str(texts[-1]["text"]) if texts else ""

    def story(self) -> str:
        """The last messages with their times, in seconds from now."""
        now = asyncio.get_running_loop().time()
        lines = [
            f"{at - now:+8.2f} {text[:STORY_WIDTH]}"
            for at, text in zip(self.client.told_at, self._contents(), strict=True)
            if '"type": "activity"' not in text
        ]
        return "\n".join(["what the page was told:", *lines[-STORY_LINES:]])

    def _contents(self) -> list[str]:
        """Each message without its envelope."""
        return [f"{one['type']} {json.dumps(one.get('data'))}" for one in self.told]

    def heard(self) -> bytes:
        """Everything the tutor said so far: PCM16 mono 16 kHz, gaps left out."""
        received = self.client.received
        for payload, _, _ in received[self._decoded :]:
            self._pcm += self._decoder.decode(payload)
        self._decoded = len(received)
        return bytes(self._pcm)

    @property
    def notices(self) -> list[str]:
        return [str(notice["text"]) for notice in self.messages("notice")]

    @property
    def farewell(self) -> str:
        """Why the server closed this peer; empty while it has not."""
        closed = self.messages("closed")
        return str(closed[-1]["reason"]) if closed else ""

    async def still(self) -> None:
        """The microphone sends nothing any more."""
        if self._quiet is not None:
            self._quiet.cancel()
            await asyncio.wait([self._quiet])
            self._quiet = None

    async def vanish(self) -> None:
        """The machine is gone without a word."""
        await self.still()
        self._gone = True
        self.client.vanish()

    async def leave(self) -> None:
        """Says `stop`, waits for the farewell, hangs up."""
        channel = self.client.channel
        if channel is not None and channel.readyState == "open" and not self._gone:
            self.act("stop")
            await until(lambda: self.farewell or channel.readyState != "open", "farewell")
        await self.hang_up()

    async def hang_up(self) -> None:
        await self.still()
        await self.client.close()

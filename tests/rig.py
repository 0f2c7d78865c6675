"""A whole Pidjin in the test's process: the real application, the real SDKs against
`local_gemini` with a scripted engine, real aiortc peers over loopback."""

from __future__ import annotations

import asyncio
import functools
import gc
import json
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import soxr
from aiohttp import ClientSession
from aiohttp.test_utils import TestServer

from local_gemini.engine import Engine
from local_gemini.script import Script
from local_gemini.scripted import ScriptedEngine
from local_gemini.server import LocalGemini
from media.opus import Decoder
from media.peer import MediaPlane
from server.app import CONTEXT, build_app
from server.context import Context
from server.lessons import Lessons
from server.local_model import ModelAccess
from server.settings import Settings
from server.store.records import session_path
from server.voice import LESSONS, PLANE, voice
from tests.media.peers import Client, packets, until

DEV_TOKEN = "dev-token-of-the-test-rig"
DOCUMENT = """\
# How vaccines work

1. A vaccine shows the immune system a harmless piece of a germ.
2. Antibodies are made that fit the surface of that germ.
3. Memory cells keep the pattern for years.
4. When enough people are immune, a germ cannot spread.
"""


@functools.cache
def spoken(text: str) -> bytes:
    """A learner's voice saying `text`: PCM16 mono 48 kHz, made once per run."""
    from local_gemini.speech.voice import JoeVoice

    pcm = _voice(JoeVoice).speak(text)
    samples = np.frombuffer(pcm, "<i2").astype(np.float32)
    return bytes(soxr.resample(samples, 24_000, 48_000).clip(-32768, 32767).astype("<i2"))


@functools.cache
def _voice(kind: Callable[[], Any]) -> Any:
    return kind()


def said(text: str, *, before: float = 0.3, after: float = 1.0) -> bytes:
    """`text` between stretches of silence (s): PCM16 mono 48 kHz."""
    quiet = bytes(2)
    return quiet * int(48_000 * before) + spoken(text) + quiet * int(48_000 * after)


@dataclass
class Person:
    """A signed-in person with a bearer token."""

    house: House
    uid: str
    token: str

    async def post(self, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        return await self._ask("POST", path, json=body)

    async def offer(self, sdp: str, session_id: str, topic_id: str) -> tuple[int, dict[str, Any]]:
        ids = {"sessionId": session_id, "topicId": topic_id}
        return await self.post("/api/offer", {"sdp": sdp, "type": "offer", "requestData": ids})

    async def get(self, path: str) -> tuple[int, dict[str, Any]]:
        return await self._ask("GET", path)

    async def patch(self, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        return await self._ask("PATCH", path, json=body)

    async def _ask(self, method: str, path: str, **more: Any) -> tuple[int, dict[str, Any]]:
        headers = {"Authorization": f"Bearer {self.token}"}
        url = self.house.url + path
        async with self.house.http.request(method, url, headers=headers, **more) as response:
            return response.status, await response.json()

    async def ok(self, operation: str, **body: Any) -> dict[str, Any]:
        status, answer = await self.post(f"/api/{operation}", body)
        assert status == 200, answer
        return answer

    async def ground(self, title: str = "Vaccines", text: str = DOCUMENT) -> str:
        return str((await self.ok("groundDocument", title=title, text=text))["topicId"])

    async def session(self, session_id: str) -> dict[str, Any]:
        status, answer = await self.get(f"/api/sessions/{session_id}")
        assert status == 200, answer
        return answer

    async def turns(self, session_id: str) -> list[dict[str, Any]]:
        """The stored turns; none while nothing is stored."""
        status, answer = await self.get(f"/api/sessions/{session_id}")
        return list(answer["turns"]) if status == 200 else []

    @asynccontextmanager
    async def call(
        self, topic_id: str, session_id: str | None = None, *, until_state: str = "listening"
    ) -> AsyncIterator[Call]:
        """A voice lesson, connected and ready; hung up at the end."""
        call = Call(self, topic_id, session_id or str(uuid.uuid4()))
        try:
            await call.join(until_state=until_state)
            yield call
        finally:
            await call.leave()


class Page(Client):
    """A client that also knows when each packet came."""

    def __init__(self) -> None:
        super().__init__()
        self.arrived: list[float] = []

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

    def messages(self, kind: str) -> list[dict[str, Any]]:
        """Data of the messages of an RTVI type, or of a `server-message` type."""
        found = []
        for text in self.client.messages:
            message = json.loads(text)
            data = message.get("data") or {}
            if message["type"] == kind or (
                message["type"] == "server-message" and data.get("type") == kind
            ):
                found.append(data)
        return found

    @property
    def kinds(self) -> list[str]:
        """Every message's type in order, `server-message` by the type of its data."""
        told = [json.loads(text) for text in self.client.messages]
        return [
            str(one["data"]["type"] if one["type"] == "server-message" else one["type"])
            for one in told
        ]

    @property
    def state(self) -> str:
        states = self.messages("status")
        return str(states[-1]["state"]) if states else ""

    @property
    def states(self) -> list[str]:
        return [str(status["state"]) for status in self.messages("status")]

    @property
    def learner(self) -> str:
        texts = self.messages("user-transcription")
        return str(texts[-1]["text"]) if texts else ""

    @property
    def tutor(self) -> str:
        texts = self.messages("bot-output")
        return str(texts[-1]["text"]) if texts else ""

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


@dataclass
class House:
    url: str
    http: ClientSession
    ctx: Context
    lessons: Lessons
    gemini: LocalGemini
    plane: MediaPlane
    problems: list[dict[str, Any]] = field(default_factory=list)

    async def empty(self, within: float = 10.0) -> None:
        """No lesson, no peer, nothing on the UDP port, no task of one, no Live session."""
        mux = self.plane.mux
        assert mux is not None
        await until(lambda: not len(self.lessons), "no lessons", within)
        await until(lambda: not self.plane.peers, "no peers", within)
        await until(lambda: not (mux.names or mux.routes), "no transports", within)
        await until(lambda: not lesson_tasks(), "no tasks of lessons", within)
        await until(lambda: not any(one.open for one in self.gemini.sessions), "no live", within)

    async def stored(
        self, session_id: str, count: int = 1, within: float = 15.0
    ) -> list[dict[str, Any]]:
        """The turns in the store, once there are so many."""
        deadline = asyncio.get_running_loop().time() + within
        while True:
            doc = await self.ctx.store.get(session_path(session_id))
            turns = list(doc.data["turns"]) if doc else []
            if len(turns) >= count:
                return turns
            assert asyncio.get_running_loop().time() < deadline, f"{len(turns)} turns stored"
            await asyncio.sleep(0.02)

    @property
    def admin(self) -> Person:
        return Person(self, "dev", DEV_TOKEN)

    async def person(self, name: str = "Ada", *, role: str = "approved") -> Person:
        body = {"displayName": name, "email": f"{name.lower()}@example.org"}
        async with self.http.post(self.url + "/api/signUp", json=body) as response:
            answer = await response.json()
            assert response.status == 200, answer
        self.http.cookie_jar.clear()
        person = Person(self, answer["user"]["uid"], answer["token"])
        if role == "approved":
            await self.admin.ok("approveUser", uid=person.uid)
        elif role == "rejected":
            await self.admin.ok("rejectUser", uid=person.uid)
        return person


def lesson_tasks() -> list[str]:
    names = [task.get_name() for task in asyncio.all_tasks()]
    return [name for name in names if name.startswith(("lesson:", "live-link", "peer:"))]


@asynccontextmanager
async def house(
    tmp_path: Path,
    engine: Engine | None = None,
    script: Script | None = None,
    *,
    speed: float = 1.0,
    config: dict[str, Any] | None = None,
    **settings: Any,
) -> AsyncIterator[House]:
    """`config` overlays config/app; loop errors fail the test at the end."""
    problems: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))
    async with LocalGemini(engine or ScriptedEngine(), script, speed) as gemini:

        @asynccontextmanager
        async def models() -> AsyncIterator[ModelAccess]:
            yield ModelAccess(lambda: "a-key", gemini.base_url, gemini.ssl_context, local=True)

        chosen = Settings(
            data_dir=tmp_path / "data", port=0, dev_token=DEV_TOKEN, log_level="INFO", **settings
        )
        app = build_app(chosen, models=models, extras=(voice,))
        async with TestServer(app, host="127.0.0.1") as server, ClientSession() as http:
            ctx = app[CONTEXT]
            if config:
                await ctx.store.set("config/app", config)
                ctx.config.forget()
            url = str(server.make_url("")).rstrip("/")
            yield House(url, http, ctx, app[LESSONS], gemini, app[PLANE], problems)
    gc.collect()
    _freeze()
    assert problems == []


@functools.cache
def _freeze() -> None:
    """What every house shares is loaded by now: no collection has to look through it again."""
    gc.freeze()

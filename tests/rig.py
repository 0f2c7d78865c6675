"""A whole Pidjin in the test's process: the real application, the real SDKs against
`local_gemini` with a scripted engine, real aiortc peers over loopback."""

from __future__ import annotations

import asyncio
import functools
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
from server.app import CONTEXT, build_app
from server.context import Context
from server.lessons import Lessons
from server.local_model import ModelAccess
from server.settings import Settings
from server.voice import LESSONS, voice
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

    @asynccontextmanager
    async def call(
        self, topic_id: str, session_id: str | None = None, **more: Any
    ) -> AsyncIterator[Call]:
        """A voice lesson, connected and ready; hung up at the end."""
        call = Call(self, topic_id, session_id or str(uuid.uuid4()), **more)
        try:
            await call.join()
            yield call
        finally:
            await call.hang_up()


class Call:
    """A learner's page without a browser: sends sound and messages, keeps what came back."""

    def __init__(self, person: Person, topic_id: str, session_id: str) -> None:
        self.person, self.topic_id, self.session_id = person, topic_id, session_id
        self.client = Client()
        self.answer: dict[str, Any] = {}
        self._decoder = Decoder(16_000)
        self._decoded = 0
        self._pcm = bytearray()
        self._heartbeat: asyncio.Task[None] | None = None
        self._quiet: asyncio.Task[None] | None = None
        self._talking = False

    async def offer(self, **more: Any) -> tuple[int, dict[str, Any]]:
        body = {
            "sdp": await self.client.offer(),
            "type": "offer",
            "requestData": {"sessionId": self.session_id, "topicId": self.topic_id},
            **more,
        }
        return await self.person.post("/api/offer", body)

    async def join(self) -> None:
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
        await until(lambda: self.state == "listening", "listening")

    def tell(self, kind: str, data: Any) -> None:
        assert self.client.channel is not None
        message = {"label": "rtvi-ai", "type": kind, "id": "1", "data": data}
        self.client.channel.send(json.dumps(message))

    def act(self, t: str, **d: Any) -> None:
        self.tell("client-message", {"t": t, "d": d})

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
            if message["type"] == kind:
                found.append(data)
            elif message["type"] == "server-message" and data.get("type") == kind:
                found.append(data)
        return found

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

    async def hang_up(self) -> None:
        if self._quiet is not None:
            self._quiet.cancel()
            await asyncio.wait([self._quiet])
        await self.client.close()


@dataclass
class House:
    url: str
    http: ClientSession
    ctx: Context
    lessons: Lessons
    gemini: LocalGemini
    problems: list[dict[str, Any]] = field(default_factory=list)

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
            yield House(url, http, ctx, app[LESSONS], gemini, problems)
    assert problems == []

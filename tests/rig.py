"""A whole Pidjin in the test's process: the real application, the real SDKs against
`local_gemini` with a scripted engine, real aiortc peers over loopback."""

from __future__ import annotations

import asyncio
import functools
import gc
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import ClientSession
from aiohttp.test_utils import TestServer

from local_gemini.engine import Engine
from local_gemini.script import Script
from local_gemini.scripted import ScriptedEngine
from local_gemini.server import LocalGemini
from media.plane import MediaPlane
from server.app import CONTEXT, build_app
from server.context import Context
from server.lessons import Lessons
from server.local_model import ModelAccess
from server.settings import Settings
from server.store.records import session_path
from server.voice import LESSONS, PLANE, voice
from tests.call import Call
from tests.media.peers import until
from tests.voices import said, spoken

__all__ = [
    "DEV_TOKEN",
    "DOCUMENT",
    "Call",
    "House",
    "Person",
    "house",
    "said",
    "spoken",
]

DEV_TOKEN = "dev-token-of-the-test-rig"
DOCUMENT = """\
# How vaccines work

1. A vaccine shows the immune system a harmless piece of a germ.
2. Antibodies are made that fit the surface of that germ.
3. Memory cells keep the pattern for years.
4. When enough people are immune, a germ cannot spread.
"""


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
        except Exception as error:
            error.add_note(call.story())
            raise
        finally:
            await call.leave()


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

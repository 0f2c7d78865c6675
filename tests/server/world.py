"""A whole server for one test: the real app, SQLite in a temporary folder, a scripted model."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp.test_utils import TestClient, TestServer

from local_gemini.engine import Generated
from local_gemini.scripted import ScriptedEngine
from local_gemini.server import LocalGemini
from server.app import CONTEXT, Extra, build_app
from server.clock import FakeClock
from server.context import Context
from server.local_model import ModelAccess
from server.settings import Settings
from server.sign_in import mint_admin_link

CANARY = "canary-key-5f2c9e-never-seen"
AGENDA = ["The moon", "The sun", "Spring tides"]
DOCUMENT = "Tides follow the moon.\n\nSpring tides come at new and full moon."

Answer = Callable[[str, Mapping[str, Any]], Generated | str | None]


def prompt_of(request: Mapping[str, Any]) -> str:
    """All text of a generateContent request, instruction first."""
    contents = [request.get("systemInstruction") or {}, *request.get("contents", [])]
    parts = [part for content in contents for part in content.get("parts", [])]
    return "\n".join(part.get("text", "") for part in parts)


def is_move(request: Mapping[str, Any]) -> bool:
    return "LEARNER UTTERANCE" in prompt_of(request)


def news_theme_of(request: Mapping[str, Any]) -> str:
    """The theme of a search for stories; empty for any other request."""
    lines = prompt_of(request).splitlines()
    if "TASK find-news" not in lines:
        return ""
    return next(line.removeprefix("THEME: ") for line in lines if line.startswith("THEME: "))


def decision(
    mode: str = "ask",
    text: str = "What pulls the water?",
    agenda: list[str] | None = None,
    covered: list[str] | None = None,
) -> str:
    state: dict[str, Any] = {}
    if agenda is not None:
        state["agenda"] = agenda
    if covered is not None:
        state["coveredAngles"] = covered
    return json.dumps({"mode": mode, "text": text, "updatedRevealState": state})


def grounding(*titles: str, digest: str = "The moon pulls the sea.", depth: str = "deep") -> str:
    outline = [{"title": title, "summary": f"About {title}."} for title in titles]
    return json.dumps(
        {"digest": digest, "needsGrounding": False, "depth": depth, "outline": outline}
    )


@dataclass
class Model:
    """What the model answers, and what it was asked. `fail`: raised inside the model instead."""

    moves: list[str | Generated] = field(default_factory=lambda: [decision()])
    groundings: list[str] = field(default_factory=lambda: [grounding(*AGENDA)])
    requests: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    # What a search for stories of a theme finds; None: three stories of its own.
    news: Callable[[str], Generated | str | None] = lambda theme: None

    def __call__(self, model: str, request: Mapping[str, Any]) -> Generated | str | None:
        self.requests.append((model, request))
        if theme := news_theme_of(request):
            return self.news(theme)
        answers = self.moves if is_move(request) else self.groundings
        return answers.pop(0) if len(answers) > 1 else answers[0]

    @property
    def prompts(self) -> list[str]:
        return [prompt_of(request) for _, request in self.requests]


@dataclass
class Person:
    """Somebody with a bearer."""

    world: World
    uid: str
    token: str

    async def post(self, path: str, body: Any = None, **kwargs: Any) -> tuple[int, Any]:
        return await self.world.post(path, body, token=self.token, **kwargs)

    async def call(self, name: str, **body: Any) -> Any:
        """The result of an operation that must succeed."""
        status, answer = await self.post(f"/api/{name}", body)
        assert status == 200, answer
        return answer

    async def refused(self, name: str, **body: Any) -> str:
        """The code of an operation that must not succeed."""
        status, answer = await self.post(f"/api/{name}", body)
        assert status >= 400, answer
        return str(answer["error"]["code"])

    async def get(self, path: str) -> tuple[int, Any]:
        return await self.world.get(path, token=self.token)

    async def ground(self, title: str = "Tides", text: str = DOCUMENT) -> str:
        """The topicId of a grounded paste."""
        return str((await self.call("groundDocument", title=title, text=text))["topicId"])

    async def turn(self, topic_id: str, said: str = "The moon?", session: str = "s1", **more: Any):
        return await self.call(
            "dialogueTurn",
            sessionId=session,
            topicId=topic_id,
            userUtteranceSummary=said,
            **more,
        )


@dataclass
class World:
    client: TestClient
    ctx: Context
    clock: FakeClock
    model: Model
    gemini: LocalGemini

    async def post(
        self, path: str, body: Any = None, *, token: str | None = None, **kwargs: Any
    ) -> tuple[int, Any]:
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        data = io.BytesIO(json.dumps({} if body is None else body).encode())
        async with self.client.post(path, data=data, headers=headers, **kwargs) as response:
            return response.status, await response.json()

    async def get(self, path: str, *, token: str | None = None) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with self.client.get(path, headers=headers) as response:
            return response.status, await response.json()

    async def text(self, path: str, **headers: str) -> tuple[int, str]:
        async with self.client.get(path, headers=headers) as response:
            return response.status, await response.text()

    async def sign_up(self, name: str = "Ada", email: str = "ada@example.org") -> Person:
        """Somebody new, pending. The test client keeps no cookies of theirs."""
        status, answer = await self.post("/api/signUp", {"displayName": name, "email": email})
        assert status == 200, answer
        self.client.session.cookie_jar.clear()
        return Person(self, answer["user"]["uid"], answer["token"])

    async def admin(self) -> Person:
        code = await mint_admin_link(self.ctx)
        _, answer = await self.post("/api/redeemLink", {"code": code})
        self.client.session.cookie_jar.clear()
        return Person(self, answer["user"]["uid"], answer["token"])

    async def learner(self, name: str = "Ada", email: str = "ada@example.org") -> Person:
        """Somebody approved."""
        person = await self.sign_up(name, email)
        await self.ctx.store.update(f"users/{person.uid}", {"role": "approved"})
        return person

    async def configure(self, **values: Any) -> None:
        doc = await self.ctx.store.get("config/app")
        await self.ctx.store.set("config/app", {**(doc.data if doc else {}), **values})
        self.ctx.config.forget()

    async def session(self, session_id: str = "s1") -> dict[str, Any]:
        """What is stored of a session that must be there."""
        data = await self.stored(f"sessions/{session_id}")
        assert data is not None
        return data

    async def stored(self, path: str) -> dict[str, Any] | None:
        doc = await self.ctx.store.get(path)
        return doc.data if doc else None

    async def calls(self, person: Person) -> int:
        return await self.ctx.usage.calls_today(person.uid)


@asynccontextmanager
async def open_world(
    folder: Path,
    *,
    extras: tuple[Extra, ...] = (),
    searches: bool = True,
    speech: Callable[[str], bytes] | None = None,
    threads: bool = False,
    **settings: Any,
) -> AsyncIterator[World]:
    """`speech`: the sound of a text; `threads`: the model works in threads of its own."""
    model, clock = Model(), FakeClock()
    engine = ScriptedEngine(generate=model, speech=speech, threads=threads)
    async with LocalGemini(engine, now=clock.now) as gemini:

        @asynccontextmanager
        async def access() -> AsyncIterator[ModelAccess]:
            yield ModelAccess(
                lambda: CANARY, gemini.base_url, gemini.ssl_context, local=True, searches=searches
            )

        app = build_app(
            Settings(data_dir=folder / "data", **settings),
            clock=clock,
            models=access,
            extras=extras,
            client=folder / "client",
        )
        async with TestClient(TestServer(app)) as client:
            yield World(client, app[CONTEXT], clock, model, gemini)

"""The product as it is run: a server process, a scripted model process, and people signed in."""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientTimeout

from bench import sound
from bench.machine import Cores
from bench.process import Child, ProcessBroken

START_S = 60.0
ANSWER_S = 20.0
ASK_S = 5.0
READY_POLL_S = 0.01
# What the server logs about a failed request follows its answer.
ERROR_LINE_S = 0.1
# server/lessons.py: more lessons than this of one person are refused.
LESSONS_PER_PERSON = 3

DOCUMENT = """\
# How plants make food

1. Leaves take in light and use its energy.
2. Water comes up from the roots.
3. Carbon dioxide enters through small openings.
4. Sugar is made and stored for the night.
5. Oxygen leaves the leaf.
"""
_GREETING = re.compile(r"Pidjin \S+ runs at (\S+?)/?$")
_SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$")

Metrics = dict[str, float]


def parse_metrics(text: str) -> Metrics:
    """Prometheus text by `name{labels}` as written."""
    found: Metrics = {}
    for line in text.splitlines():
        match = _SAMPLE.match(line)
        if match:
            name, labels, value = match.groups()
            found[f"{name}{{{labels}}}" if labels else name] = float(value)
    return found


def span_of(metrics: Mapping[str, float], span: str, q: float) -> float | None:
    """A quantile in seconds of a span of the server, None where it is not kept."""
    return metrics.get(f'pidjin_span_seconds{{quantile="{q:g}",span="{span}"}}')


@dataclass
class Watch:
    """What the server's output told: its address, complaints, and peers lost (id to loop time)."""

    url: str = ""
    complaints: Counter[str] = field(default_factory=Counter)
    trace: str = ""
    lost_at: dict[str, float] = field(default_factory=dict)

    def heed(self, line: str) -> None:
        greeting = _GREETING.search(line)
        if greeting:
            self.url = greeting.group(1)
        if not line.startswith("{"):
            return
        try:
            entry = json.loads(line)
        except ValueError:
            return
        if entry.get("level") in ("WARNING", "ERROR", "CRITICAL"):
            words = (entry["level"], entry.get("message"), entry.get("trouble"))
            self.complaints[" ".join(str(word) for word in words if word)] += 1
            self.trace = entry.get("trace", self.trace)
        if entry.get("message") == "peer state" and str(entry.get("to")).upper().endswith("LOST"):
            self.lost_at.setdefault(str(entry.get("peer")), asyncio.get_running_loop().time())


@dataclass
class House:
    """`started_s`: from the start of the process to its first `ready`."""

    server: Child
    model: Child
    http: ClientSession
    watch: Watch
    started_s: float
    dev_token: str
    answers: asyncio.Queue[dict[str, Any]]

    async def ask(
        self, method: str, path: str, token: str = "", body: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """A JSON answer. Raises ProcessBroken for any status but 200."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        url = self.watch.url + path
        async with self.http.request(method, url, headers=headers, json=body) as response:
            if response.status != 200:
                text = (await response.text())[:300]
                await asyncio.sleep(ERROR_LINE_S)
                told = f"{method} {path} answered {response.status}: {text}\n{self.watch.trace}"
                raise ProcessBroken(told)
            answer: dict[str, Any] = await response.json()
            return answer

    async def metrics(self) -> Metrics:
        async with self.http.get(self.watch.url + "/metrics") as response:
            return parse_metrics(await response.text())

    async def live_sessions(self) -> int:
        """Open Live sessions, as the model counts them."""
        self.model.write("\n")
        async with asyncio.timeout(ASK_S):
            return int((await self.answers.get())["live"])

    async def person(self, number: int) -> tuple[str, str]:
        """Signs somebody up and approves them; returns (bearer, id of a grounded topic)."""
        who = {"displayName": f"Learner {number}", "email": f"learner{number}@example.org"}
        answer = await self.ask("POST", "/api/signUp", body=who)
        self.http.cookie_jar.clear()
        token = str(answer["token"])
        uid = {"uid": answer["user"]["uid"]}
        await self.ask("POST", "/api/approveUser", self.dev_token, uid)
        document = {"title": "How plants make food", "text": DOCUMENT}
        topic = await self.ask("POST", "/api/groundDocument", token, document)
        return token, str(topic["topicId"])


def _environment(**more: str) -> dict[str, str]:
    """What a process needs of ours, without settings of the product that happen to be set."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PIDJIN_", "GEMINI_", "GOOGLE_", "SSL_CERT"))
        and not name.upper().endswith("_PROXY")
    }
    return kept | {"PYTHONUNBUFFERED": "1"} | more


def _server_environment(folder: Path, dev_token: str, **more: str) -> dict[str, str]:
    return _environment(
        PIDJIN_HOST="127.0.0.1",
        PIDJIN_PORT="0",
        PIDJIN_UDP_PORT="0",
        PIDJIN_DATA_DIR=str(folder),
        PIDJIN_DEV_TOKEN=dev_token,
        PIDJIN_LOG_JSON="1",
        **more,
    )


async def _ready(server: Child, watch: Watch, http: ClientSession, born: float) -> float:
    """Seconds from `born` (time.monotonic) to the first 200 of /readyz."""
    await server.until(lambda: watch.url, "address", START_S)
    while True:
        async with http.get(watch.url + "/readyz") as response:
            if response.status == 200:
                return time.monotonic() - born
        server.check()
        if time.monotonic() - born > START_S:
            raise ProcessBroken(f"{server.name} was not ready within {START_S:g} s")
        await asyncio.sleep(READY_POLL_S)


@asynccontextmanager
async def house(cores: Cores, folder: Path, command: tuple[str, ...] = ()) -> AsyncIterator[House]:
    """Both processes, ended in the end. `command` stands before the server's own (a profiler)."""
    certificate = folder / "model.pem"
    answers: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    address: list[str] = []

    def answered(line: str) -> None:
        if line.startswith("{"):
            entry = json.loads(line)
            if "url" in entry:
                address.append(entry["url"])
            else:
                answers.put_nowait(entry)

    program = [sys.executable, "-m", "bench.model", str(certificate), str(sound.reply_file())]
    model = Child("model", program, _environment(), cores.others, answered, preferred=False)
    watch, dev_token = Watch(), secrets.token_urlsafe(16)
    timeout = ClientTimeout(total=ANSWER_S)
    async with model, ClientSession(timeout=timeout) as http:
        await model.until(lambda: address, "address", START_S)
        env = _server_environment(
            folder / "data",
            dev_token,
            GEMINI_API_KEY="of-the-bench",
            GEMINI_API_BASE=address[0],
            SSL_CERT_FILE=str(certificate),
        )
        born = time.monotonic()
        program = [*command, sys.executable, "-m", "server"]
        async with Child("server", program, env, cores.server, watch.heed) as server:
            started_s = await _ready(server, watch, http, born)
            yield House(server, model, http, watch, started_s, dev_token, answers)


async def start_with_local_speech(cores: Cores, folder: Path) -> float:
    """Seconds from start to ready of a server with the local tutor's speech models, any core."""
    watch = Watch()
    env = _server_environment(folder / "local", secrets.token_urlsafe(16))
    born = time.monotonic()
    program = [sys.executable, "-m", "server"]
    server = Child("server with local speech", program, env, cores.every, watch.heed)
    async with server, ClientSession() as http:
        return await _ready(server, watch, http, born)

"""The server process is told to stop while a learner talks: stored, told, exit code 0."""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession

from local_gemini.scripted import ScriptedEngine
from local_gemini.server import LocalGemini
from local_gemini.wire import text_of
from server.store.records import session_path
from server.store.sqlite import SqliteStore
from tests.media.peers import until
from tests.rig import DEV_TOKEN, Person, house

START_S = 60.0
EXIT_S = 30.0


@dataclass
class Door:
    """What a person needs of a server that runs elsewhere."""

    url: str
    http: ClientSession


@asynccontextmanager
async def running(
    tmp_path: Path, gemini: LocalGemini
) -> AsyncIterator[tuple[Door, asyncio.subprocess.Process]]:
    certificate = tmp_path / "double.pem"
    certificate.write_text(gemini.certificate_pem)
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "server",
        env={
            **kept,
            "PIDJIN_PORT": "0",
            "PIDJIN_DATA_DIR": str(tmp_path / "data"),
            "PIDJIN_DEV_TOKEN": DEV_TOKEN,
            "GEMINI_API_KEY": "a-key",
            "GEMINI_API_BASE": gemini.base_url,
            "SSL_CERT_FILE": str(certificate),
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(START_S), ClientSession() as http:
            line = ""
            while "runs at" not in line:
                line = (await process.stdout.readline()).decode()
                assert line, "the server ended"
            yield Door(line.split("runs at")[1].strip().rstrip("/"), http), process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.mark.req("CARD-17", "OBS-27", "RTC-19")
async def test_sigterm_stores_the_finished_exchange_and_exits_in_order(tmp_path: Path) -> None:
    """T28: the observer is at work when the signal comes; nothing is lost, nobody is left alone."""
    at_work, go_on = threading.Event(), threading.Event()

    def observe(model: str, request: Mapping[str, Any]) -> str | None:
        contents = request.get("contents") or []
        if contents and "LEARNER UTTERANCE" in text_of(contents[0]):
            at_work.set()
            assert go_on.wait(30)
        return None

    engine = ScriptedEngine(generate=observe, threads=True)
    async with LocalGemini(engine) as gemini, running(tmp_path, gemini) as (door, process):
        admin = Person(door, "dev", DEV_TOKEN)  # type: ignore[arg-type]
        topic = await admin.ground()
        async with admin.call(topic) as call:
            call.type("Keep this.")
            await until(at_work.is_set, "the observer is at work", 20)
            await call.shows("listening")
            process.send_signal(signal.SIGTERM)
            await until(lambda: call.farewell, "told", 15)
            await until(lambda: call.farewell == "shutdown", "told why")
            go_on.set()
            assert await asyncio.wait_for(process.wait(), EXIT_S) == 0
            session_id = call.session_id
        assert all(not live.open for live in gemini.sessions)
    store = SqliteStore(tmp_path / "data" / "pidjin.sqlite3")
    try:
        doc = await store.get(session_path(session_id))
    finally:
        await store.close()
    assert doc is not None
    assert [turn["userText"] for turn in doc.data["turns"]] == ["Keep this."]


@pytest.mark.req("CARD-17", "OBS-27")
async def test_sigterm_waits_for_all_of_three_lessons(tmp_path: Path) -> None:
    """T28: one is idle, in one the tutor speaks, one has just been asked; all are heard to an end
    and stored before the process is gone."""
    line = "word " * 40 + "end."
    async with (
        LocalGemini(ScriptedEngine(replies=[[line]])) as gemini,
        running(tmp_path, gemini) as (door, process),
    ):
        admin = Person(door, "dev", DEV_TOKEN)  # type: ignore[arg-type]
        topic = await admin.ground()
        async with (
            admin.call(topic) as idle,
            admin.call(topic) as speaking,
            admin.call(topic) as asked,
        ):
            speaking.type("Go on.")
            await speaking.hears(0.5)
            asked.type("And you?")
            await until(lambda: asked.messages("user-transcription"), "asked")
            process.send_signal(signal.SIGTERM)
            calls = (idle, speaking, asked)
            await until(lambda: all(call.farewell for call in calls), "all told", EXIT_S)
            assert [call.farewell for call in calls] == ["shutdown"] * 3
            assert all("restarts" in call.notices[0] for call in calls)
            assert await asyncio.wait_for(process.wait(), EXIT_S) == 0
        assert all(not live.open for live in gemini.sessions)
    store = SqliteStore(tmp_path / "data" / "pidjin.sqlite3")
    try:
        kept = [await store.get(session_path(one.session_id)) for one in (speaking, asked)]
    finally:
        await store.close()
    turns = [doc.data["turns"] if doc else [] for doc in kept]
    told = [(turn["userText"], turn["text"]) for (turn,) in turns]
    assert told == [("Go on.", line), ("And you?", line)]


@pytest.mark.req("CARD-17")
async def test_a_house_closes_with_an_observer_that_never_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T28: what hangs is cut off at its deadline, and said so in the log."""
    monkeypatch.setattr("server.books.DRAIN_S", 0.5)
    go_on = threading.Event()

    def observe(model: str, request: Mapping[str, Any]) -> str | None:
        contents = request.get("contents") or []
        if contents and "LEARNER UTTERANCE" in text_of(contents[0]):
            go_on.wait(30)
        return None

    loop = asyncio.get_running_loop()
    async with house(tmp_path, ScriptedEngine(generate=observe, threads=True)) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            call.type("Never stored.")
            await until(lambda: call.messages("bot-transcription"), "answered")
            started = loop.time()
            await home.lessons.drain()
            assert loop.time() - started < 10
            await home.empty()
        go_on.set()

"""Every way in which a lesson ends: the page is told why, and everything is released."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from local_gemini.scripted import ScriptedEngine
from server import access_watch, ending, lesson
from server.store.port import Doc, StoreDown
from tests.media.peers import until
from tests.rig import Call, House, Person, house


@asynccontextmanager
async def talking(tmp_path: Path, **more: Any) -> AsyncIterator[tuple[House, Person, Call]]:
    """A lesson with one stored turn."""
    async with house(tmp_path, **more) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await call.ask("Hello there.")
            await call.shows("listening")
            yield home, ada, call


async def _ended(home: House, call: Call, reason: str, within: float = 10.0) -> None:
    await until(lambda: call.farewell, f"closed because of {reason}", within)
    await until(lambda: call.farewell == reason, "told why")
    assert call.states[-1] == "closed"
    assert len(call.messages("closed")) == 1
    await until(lambda: call.client.pc.connectionState == "closed", "the peer is closed")
    await home.empty()


@pytest.mark.req("RTC-19", "RTC-16")
@pytest.mark.parametrize("word", ["stop", "disconnect-bot"])
async def test_the_page_stops(tmp_path: Path, word: str) -> None:
    async with talking(tmp_path) as (home, _, call):
        if word == "stop":
            call.act("stop")
        else:
            call.tell("disconnect-bot", {})
        await _ended(home, call, "stopped")


@pytest.mark.req("RTC-19", "OBS-27", "OBS-23", "VOICE-28")
async def test_stop_mid_reply_keeps_what_was_heard_and_nothing_follows(tmp_path: Path) -> None:
    engine = ScriptedEngine(replies=[["Yes."], ["word " * 60 + "end."]])
    async with talking(tmp_path, engine=engine) as (home, _, call):
        call.type("Go on.")
        before = len(call.heard())
        await until(lambda: len(call.heard()) > before + 16_000, "half a second heard")
        (live,) = home.gemini.sessions
        contexts = len(live.contexts)
        call.act("stop")
        await _ended(home, call, "stopped")
        turn = (await home.stored(call.session_id, 2))[1]
        assert turn["userText"] == "Go on."
        assert 0 < len(turn["text"]) < 60 * 5
        assert len(live.contexts) == contexts


@pytest.mark.req("AUTH-24")
async def test_sign_out_ends_the_lesson_of_that_credential_only(tmp_path: Path) -> None:
    async with talking(tmp_path) as (home, ada, call):
        bob = await home.person("Bob")
        async with bob.call(await bob.ground()) as other:
            assert (await ada.post("/api/signOut", {}))[0] == 200
            await until(lambda: call.farewell == "signed-out", "told")
            await until(lambda: len(home.lessons) == 1, "only one is left")
            assert (await ada.get("/api/me"))[0] == 401
            assert (await other.ask("Still on?"))["saved"] is True
        await home.empty()


@pytest.mark.req("RTC-20", "VOICE-19")
async def test_a_revoked_role_ends_the_lesson_at_once(tmp_path: Path) -> None:
    """T22: within two seconds, not at the next turn."""
    async with talking(tmp_path) as (home, ada, call):
        await home.admin.ok("revokeUser", uid=ada.uid)
        await _ended(home, call, "access", within=2.0)


@pytest.mark.req("RTC-20")
async def test_access_that_another_process_took_ends_the_lesson(tmp_path: Path) -> None:
    async with talking(tmp_path) as (home, ada, call):
        data = home.ctx.settings.data_dir
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "server", "users", "revoke", ada.uid),
            env={"PATH": os.defpath, "PIDJIN_DATA_DIR": str(data)},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        out, _ = await process.communicate()
        assert process.returncode == 0, out.decode()
        await _ended(home, call, "access", within=5.0)


@pytest.mark.req("RTC-20")
async def test_a_store_that_fails_for_a_moment_ends_no_lesson(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(access_watch, "CHECK_S", 0.1)
    async with talking(tmp_path) as (home, _, call):
        whole = home.ctx.store.get

        async def down(path: str) -> Doc | None:
            raise StoreDown(path)

        monkeypatch.setattr(home.ctx.store, "get", down)
        await until(lambda: "access_not_checked" in caplog.messages, "noticed")
        monkeypatch.setattr(home.ctx.store, "get", whole)
        assert (await call.ask("Still on?"))["saved"] is True


@pytest.mark.req("RTC-20")
async def test_a_role_lost_without_a_word_ends_at_the_next_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_watch, "CHECK_S", 600.0)
    async with talking(tmp_path) as (home, ada, call):
        await home.ctx.store.update(f"users/{ada.uid}", {"role": "rejected"})
        turn = await call.ask("Am I still welcome?")
        assert turn["saved"] is False
        await _ended(home, call, "access")
        assert len(await home.stored(call.session_id)) == 1


@pytest.mark.req("RTC-19", "API-36")
@pytest.mark.parametrize("operation", ["endSession", "deleteSession"])
async def test_a_conversation_closed_elsewhere_ends(tmp_path: Path, operation: str) -> None:
    async with talking(tmp_path) as (home, ada, call):
        await ada.ok(operation, sessionId=call.session_id)
        await _ended(home, call, "session-closed")


@pytest.mark.req("VOICE-63")
async def test_the_session_limit_ends_the_lesson(tmp_path: Path) -> None:
    config = {"liveSessionMinutes": 0.03}
    async with house(tmp_path, config=config) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await _ended(home, call, "session-limit")
            assert "time limit" in call.messages("closed")[0]["text"]


@pytest.mark.req("VOICE-33", "RTC-16")
async def test_silence_puts_the_service_to_sleep_and_a_word_wakes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lesson, "SLEEP_AFTER_S", 0.4)
    monkeypatch.setattr(lesson, "IDLE_CHECK_S", 0.1)
    async with talking(tmp_path) as (home, _, call):
        await until(lambda: not home.gemini.sessions[0].open, "asleep")
        assert call.state == "listening"
        assert (await call.ask("Are you awake?"))["saved"] is True
        assert home.gemini.sessions[1].resumed
        assert "reconnecting" not in call.states


@pytest.mark.req("VOICE-33", "RTC-16")
async def test_a_forgotten_page_ends_its_lesson(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T22: nobody says anything, on either side."""
    async with talking(tmp_path) as (home, _, call):
        monkeypatch.setattr(lesson, "IDLE_AFTER_S", 0.5)
        await _ended(home, call, "idle")
        assert call.states[-2:] == ["idle", "closed"]


@pytest.mark.req("CARD-17")
async def test_a_drain_lets_the_sentence_end(tmp_path: Path) -> None:
    """T30: the tutor is not cut off, the learner is told, nobody else gets in."""
    engine = ScriptedEngine(replies=[["Yes."], ["word " * 25 + "end."]])
    async with talking(tmp_path, engine=engine) as (home, ada, call):
        call.type("Go on.")
        await call.shows("speaking")
        draining = asyncio.create_task(home.lessons.drain())
        await until(lambda: call.notices, "told at once")
        assert "restarts" in call.notices[0]
        thief = Call(ada, call.topic_id, call.session_id)
        status, answer = await thief.offer()
        assert (status, answer["error"]["code"]) == (503, "unavailable")
        await thief.hang_up()
        await draining
        await _ended(home, call, "shutdown")
        turn = (await home.stored(call.session_id, 2))[1]
        assert turn["text"] == "word " * 25 + "end."


@pytest.mark.req("CARD-17")
async def test_a_drain_does_not_wait_for_a_speech(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "SENTENCE_S", 0.5)
    engine = ScriptedEngine(replies=[["Yes."], ["word " * 400 + "end."]])
    async with talking(tmp_path, engine=engine) as (home, _, call):
        call.type("Go on.")
        await call.shows("speaking")
        async with asyncio.timeout(10):
            await home.lessons.drain()
        await _ended(home, call, "shutdown")
        turn = (await home.stored(call.session_id, 2))[1]
        assert 0 < len(turn["text"]) < 400 * 5


@pytest.mark.req("CARD-17", "RTC-19")
async def test_a_shutdown_with_lessons_is_bounded(tmp_path: Path) -> None:
    loop = asyncio.get_running_loop()
    async with house(tmp_path) as home:
        calls = []
        for name in ("Ada", "Bob", "Cy"):
            person = await home.person(name)
            call = Call(person, await person.ground(), "abcdef" + name)
            await call.join()
            calls.append(call)
        started = loop.time()
    assert loop.time() - started < 15
    for call in calls:
        await until(lambda call=call: call.farewell == "shutdown", "told why")
        await call.hang_up()

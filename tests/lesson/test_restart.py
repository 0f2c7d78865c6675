"""The server process dies, or is told to stop, in the middle of a lesson: the same person goes on
in the same Live session, and is greeted by nobody twice."""

import asyncio
import signal
import uuid
from pathlib import Path

import pytest

from local_gemini.scripted import ScriptedEngine
from local_gemini.server import LocalGemini
from server.store.records import voice_session_path
from server.store.sqlite import SqliteStore
from tests.lesson.test_sigterm import EXIT_S, running
from tests.media.peers import until
from tests.rig import DEV_TOKEN, Call, Person


async def _keeps(tmp_path: Path, session_id: str, handle: str | None, within: float = 10) -> None:
    """Waits until the store has this handle of the lesson; None: no record of it."""
    store = SqliteStore(tmp_path / "data" / "pidjin.sqlite3")
    deadline = asyncio.get_running_loop().time() + within
    try:
        while True:
            doc = await store.get(voice_session_path(session_id))
            if (doc.data["handle"] if doc else None) == handle:
                return
            assert asyncio.get_running_loop().time() < deadline, doc
            await asyncio.sleep(0.05)
    finally:
        await store.close()


@pytest.mark.req("VOICE-4", "VOICE-65", "RTC-21", "CARD-17")
@pytest.mark.parametrize("way", [signal.SIGKILL, signal.SIGTERM])
async def test_a_lesson_goes_on_in_the_next_process(tmp_path: Path, way: signal.Signals) -> None:
    """T12, T28: resumed by the stored handle; what was said before is known on both sides."""
    async with LocalGemini(ScriptedEngine()) as gemini:
        session_id = str(uuid.uuid4())
        async with running(tmp_path, gemini) as (door, process):
            admin = Person(door, "dev", DEV_TOKEN)  # type: ignore[arg-type]
            topic = await admin.ground()
            call = Call(admin, topic, session_id)
            await call.join()
            assert (await call.ask("Before the end."))["saved"] is True
            await call.shows("listening")
            # A service with a key has its price, shown to the learner and to the admin.
            cost = call.messages("cost")[-1]
            assert 0 < cost["usd"] < 0.1
            (row,) = (await admin.get("/api/admin/lessons"))[1]["lessons"]
            assert row["usd"] == cost["usd"]
            handle = gemini.sessions[0].handles[-1]
            await _keeps(tmp_path, session_id, handle)
            process.send_signal(way)
            await asyncio.wait_for(process.wait(), EXIT_S)
            await call.hang_up()
        await until(lambda: not gemini.sessions[0].open, "the old socket is gone")
        async with running(tmp_path, gemini) as (door, process):
            admin = Person(door, "dev", DEV_TOKEN)  # type: ignore[arg-type]
            async with admin.call(topic, session_id) as call:
                first, second = gemini.sessions
                assert (first.resumed, second.resumed) == (False, True)
                assert second.setup["sessionResumption"]["handle"] == handle
                assert "1 turn" in str(second.setup["systemInstruction"])
                await until(lambda: call.messages("agenda"), "the agenda is told")
                assert call.messages("agenda")[0]["agenda"]
                # Nobody speaks before the learner does.
                await asyncio.sleep(0.5)
                assert (second.prompts, call.tutor, call.heard()) == ([], "", b"")
                assert (await call.ask("And after it."))["saved"] is True
                stored = await admin.turns(session_id)
                assert [turn["userText"] for turn in stored] == ["Before the end.", "And after it."]
                assert "handle" not in str(await admin.session(session_id))
            # The lesson ended in order: nothing is left to go on with.
            await _keeps(tmp_path, session_id, None)
            async with admin.call(topic, session_id):
                assert gemini.sessions[-1].resumed is False

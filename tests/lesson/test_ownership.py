"""Who owns what in a lesson: shutdown in order, requests taken or refused, ends, logs, mishaps."""

import ast
import asyncio
import json
import re
from pathlib import Path

import pytest

from local_gemini.faults import pause, silent_audio, tool_call
from local_gemini.script import Script
from local_gemini.scripted import ScriptedEngine
from media import turn_log
from media.live.link import LiveLink
from media.turn_limits import TYPED_MAX
from server import lesson
from server.attendance import Attendance
from server.conversation import Conversation
from server.diagnostics import KEPT, OTHER, Diagnostics
from server.ending import Ending
from server.exchanges import Exchanges
from server.turn_files import FILES_MAX, FOLDER
from tests.media.peers import until
from tests.rig import Call, house

ROOT = Path(__file__).resolve().parents[2]
LONG = "word " * 40 + "end."
LOST_TRACK = "Voice lost turn tracking. Start voice again."


async def speaking(call: Call, text: str = "Tell me.") -> None:
    call.type(text)
    await call.hears(0.5)


# --- shutdown -------------------------------------------------------------------------------------


@pytest.mark.req("OWN-22", "OWN-21", "OWN-1")
async def test_shutdown_is_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing new is taken in, the turns end, the line and the service are left, then the books."""
    order: list[str] = []

    def note(owner: type, name: str) -> None:
        real = getattr(owner, name)

        def call(self: object, *args: object) -> object:
            order.append(f"{owner.__name__}.{name}")
            return real(self, *args)

        monkeypatch.setattr(owner, name, call)

    note(Ending, "now")
    note(Conversation, "close")
    note(Attendance, "end")
    note(LiveLink, "close")
    note(Exchanges, "finish")
    async with house(tmp_path, ScriptedEngine(replies=[[LONG]])) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await speaking(call)
            order.clear()
            call.act("stop")
            await until(lambda: call.farewell, "closed")
            await home.empty()
    assert order[:2] == ["Ending.now", "Conversation.close"]
    assert sorted(order[2:4]) == ["Attendance.end", "LiveLink.close"]
    assert order[4:] == ["Exchanges.finish"]


@pytest.mark.req("OWN-24", "OWN-25")
async def test_what_comes_late_from_the_old_line_does_not_reach_the_new_one(
    tmp_path: Path,
) -> None:
    """A peer that was replaced: its sound, its words and its key are nobody's."""
    async with house(tmp_path) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as old:
            (running,) = home.lessons.running()
            (late,) = home.plane.peers
            async with ada.call(old.topic_id, old.session_id) as new:
                await until(lambda: old.farewell == "replaced", "the old one is told")
                late._message('{"label":"rtvi-ai","type":"client-message","data":{"t":"stop"}}')
                late._audio(bytes(640), 0.0)
                assert not running.stopping
                assert (await new.ask("Still here?"))["saved"] is True


# --- typed requests -------------------------------------------------------------------------------


@pytest.mark.req("OWN-69")
@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (" \n ", "There are no words in that message."),
        ("\x00", "There are no words in that message."),
        ("x" * 2001, "A message may have 2000 characters at most."),
    ],
    ids=["blank", "control", "too-long"],
)
async def test_what_is_not_taken_is_said_to_be(tmp_path: Path, text: str, answer: str) -> None:
    async with house(tmp_path) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            call.type(text)
            await until(lambda: call.messages("error-response"), "answered")
            assert [one["error"] for one in call.messages("error-response")] == [answer]
            assert (await call.ask("x" * 2000))["saved"] is True


@pytest.mark.req("OWN-69", "OWN-64")
async def test_a_lesson_that_is_ending_takes_no_more_requests(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedEngine(replies=[[LONG]])) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await speaking(call)
            draining = asyncio.create_task(home.lessons.drain())
            await until(lambda: call.notices, "told")
            call.type(" ")
            call.type("One more thing.")
            await until(lambda: len(call.messages("error-response")) == 2, "refused")
            # Words first, then whether there is time.
            assert [one["error"] for one in call.messages("error-response")] == [
                "There are no words in that message.",
                "This voice session is ending.",
            ]
            await draining
            assert home.gemini.sessions[0].prompts == ["Tell me."]


@pytest.mark.req("OWN-76", "OWN-77", "OWN-70")
async def test_lost_tracking_ends_in_words_and_only_a_new_start_goes_on(tmp_path: Path) -> None:
    script = Script().on("setup", pause(3000), n=1)
    async with house(tmp_path, script=script) as home:
        ada = await home.person()
        async with ada.call(await ada.ground(), until_state="connecting") as call:
            for number in range(TYPED_MAX):
                call.type(f"text {number}")
            await until(
                lambda: f"text {TYPED_MAX - 1}" in call.learner, "all of them are tracked still"
            )
            assert call.farewell == ""
            call.type("one too many")
            await until(lambda: call.farewell, "closed")
            await until(lambda: call.farewell == "turn-tracking", "told why")
            assert call.messages("closed")[0]["text"] == LOST_TRACK
            await home.empty()
            connects = len(home.gemini.sessions)
            async with ada.call(call.topic_id, call.session_id) as again:
                turn = await again.ask("A fresh start.")
                assert turn["userText"] == "A fresh start."
                assert len(home.gemini.sessions) == connects + 1
                assert home.gemini.sessions[-1].prompts == ["A fresh start."]


# --- ends -----------------------------------------------------------------------------------------


@pytest.mark.req("VOICE-63", "OWN-63")
async def test_t30_an_end_that_was_asked_for_waits_for_what_is_being_said(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedEngine(replies=[[LONG]])) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await speaking(call)
            call.act("stop", afterReply=True)
            await until(lambda: call.farewell, "closed", 20)
            await until(lambda: call.farewell == "stopped", "told why")
            (stored,) = await home.stored(call.session_id)
            assert stored["text"] == LONG
            assert len(call.heard()) > 32 * 60 * 40


@pytest.mark.req("OWN-39")
async def test_t30_cutting_in_takes_the_end_back(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedEngine(replies=[[LONG], ["Gladly."]])) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await speaking(call)
            call.act("stop", afterReply=True)
            call.type("No wait, one more question.")
            await until(lambda: len(call.messages("turn")) == 2, "answered", 20)
            await call.shows("listening")
            assert call.farewell == ""
            assert (await call.ask("And another."))["saved"] is True
            call.act("stop", afterReply=True)  # nobody speaks: at once
            await until(lambda: call.farewell == "stopped", "closed", 3)


@pytest.mark.req("VOICE-63")
async def test_t30_the_session_limit_lets_the_sentence_end(tmp_path: Path) -> None:
    reply = "word " * 25 + "end."
    config = {"liveSessionMinutes": 0.03}
    async with house(tmp_path, ScriptedEngine(replies=[[reply]]), config=config) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            call.type("Tell me.")
            await until(lambda: call.farewell, "closed", 15)
            await until(lambda: call.farewell == "session-limit", "told why")
            assert (await home.stored(call.session_id))[0]["text"] == reply


# --- what is kept ---------------------------------------------------------------------------------


@pytest.mark.req("OWN-10")
def test_mishaps_are_bounded_and_hold_no_words() -> None:
    diagnostics = Diagnostics(began_at=100.0)
    secret = "My name is Ada and my key is AIza"
    for number in range(3 * KEPT):
        diagnostics.note(100.0 + number, "trouble.silent_turn", ms=number)
    diagnostics.note(500.0, secret, said=secret, ms=4)  # type: ignore[arg-type]
    for number in range(2 * KEPT):
        diagnostics.note(600.0, f"code{number}")
    assert len(diagnostics.history) == KEPT
    assert len(diagnostics.total) <= KEPT + 1
    assert diagnostics.total["trouble.silent_turn"] == 3 * KEPT
    assert diagnostics.total[OTHER] > 1
    assert diagnostics.total.total() == 5 * KEPT + 1
    assert "Ada" not in repr(diagnostics.history) + repr(diagnostics.total)


@pytest.mark.req("OWN-10")
async def test_a_lesson_keeps_what_went_wrong(tmp_path: Path) -> None:
    script = Script().on("turn", silent_audio(), n=1)
    async with house(tmp_path, script=script) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            (running,) = home.lessons.running()
            call.type("My name is Ada.")
            await until(lambda: running.diagnostics.history, "kept")
            (mishap,) = running.diagnostics.history
            assert mishap.code == "trouble.inaudible"
            assert mishap.at_s > 0
            assert "Ada" not in repr(mishap)
            _, answer = await home.admin.get("/api/admin/lessons")
            assert answer["lessons"][0]["mishaps"] == {"trouble.inaudible": 1}


async def test_a_turn_log_is_kept_when_asked_for_and_replays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "data" / FOLDER
    folder.mkdir(parents=True)
    for number in range(FILES_MAX):
        (folder / f"19990101T000000-{number:03}.jsonl").touch()
    async with house(tmp_path, ScriptedEngine(replies=[["Secretly."]]), turn_logs=True) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            assert (await call.ask("Where is Señor Müller?"))["saved"] is True
        await home.empty()
    files = sorted(folder.glob("*.jsonl"))
    assert len(files) == FILES_MAX
    text = files[-1].read_text("utf-8")
    assert not [word for word in ("Señor", "ller", "Secretly") if word in text]
    events = [json.loads(row)["event"] for row in text.splitlines()[1:]]
    assert (events[0], events[-1]) == ("LinkRestored", "Closed")
    assert turn_log.main([str(files[-1])]) == 0
    assert "no divergence" in capsys.readouterr().out


async def test_no_turn_log_is_kept_unasked(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            assert (await call.ask("Hello."))["saved"] is True
    assert not (tmp_path / "data" / FOLDER).exists()


async def test_a_disk_that_fails_ends_the_log_and_not_the_lesson(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / FOLDER).write_text("in the way")
    async with house(tmp_path, turn_logs=True) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            assert (await call.ask("Hello."))["saved"] is True


def test_the_replay_command_tells_what_it_cannot_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "no.jsonl"
    file.write_text('{"turnLog":99}\n')
    assert turn_log.main([]) == turn_log.main([str(file)]) == 2
    assert turn_log.main([str(tmp_path / "missing")]) == 2
    file.write_text(
        '{"turnLog":1,"prefix":"t","linkUp":true,"masked":true}\n'
        '{"event":"SpeechStarted","at":1.0,"onset":0.9,"effects":[{"effect":"Duck"}]}\n'
    )
    assert turn_log.main([str(file)]) == 1
    told = capsys.readouterr()
    assert "version 1" in told.err
    assert "line 2: SpeechStarted" in told.out


@pytest.mark.req("OWN-46", "OWN-8", "OWN-2")
async def test_the_meter_stays_with_the_model_of_this_session(tmp_path: Path) -> None:
    async with house(tmp_path, config={"liveModel": "gemini-3.8-live"}) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            (running,) = home.lessons.running()
            assert (await call.ask("Hello."))["saved"] is True
            await home.ctx.store.update(
                "config/app", {"liveModel": "gemini-3.8-live-extended-thinking"}
            )
            home.ctx.config.forget()
            before = running.vitals.cost
            assert (await call.ask("Hello again."))["saved"] is True
            await until(lambda: running.vitals.cost.input_tokens > before.input_tokens, "counted")
            assert running.vitals.cost.model == before.model == "gemini-3.8-live"
            assert running.vitals.cost == running._books.meter.cost


@pytest.mark.req("OWN-50", "OWN-65")
async def test_a_call_of_a_tool_that_is_not_there_changes_nothing(tmp_path: Path) -> None:
    """No tool switches the voice provider: none is declared, and one that is called all the same
    finds nobody."""
    switch = tool_call("set_voice_provider", {"provider": "other"}, wait=False)
    script = Script().on("turn", switch, n=1)
    async with house(tmp_path, script=script) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            assert (await call.ask("Switch to. Gemini."))["saved"] is True
            (live,) = home.gemini.sessions
            assert "tools" not in live.setup
            assert (await call.ask("Still here?"))["saved"] is True
            assert [one.open for one in home.gemini.sessions] == [True]
            (running,) = home.lessons.running()
            assert (
                running.vitals.cost.model == home.gemini.sessions[0].setup["model"].split("/")[-1]
            )


@pytest.mark.req("OWN-3", "OWN-21")
def test_peers_are_made_and_closed_in_one_place() -> None:
    """And nobody but `Attendance` reaches for the peer of a lesson."""
    makers = {
        path.name
        for path in (ROOT / "server").rglob("*.py")
        if re.search(r"plane\.peer\(|peer\.close\(", path.read_text("utf-8"))
    }
    assert makers == {"attendance.py"}


PURE = (
    "barge", "fence", "gate", "ledger", "playout", "ptt", "slot", "spans", "turn_deadlines",
    "turn_events", "turn_learner", "turn_limits", "turn_reply", "turn_stage", "turns",
    "live/arrivals", "live/calls", "live/capabilities", "live/outbox", "live/recovery",
    "live/rotation", "live/steering",
)  # fmt: skip
IMPURE = {"asyncio", "os", "pathlib", "random", "socket", "ssl", "subprocess", "threading", "time"}


@pytest.mark.req("OWN-20", "OWN-5")
@pytest.mark.parametrize("name", PURE)
def test_policies_are_pure(name: str) -> None:
    """No clock, no task, no socket, no file: a policy is told the time and returns what to do."""
    tree = ast.parse((ROOT / "media" / f"{name}.py").read_text("utf-8"))
    imported = {
        alias.name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    } | {
        str(node.module).split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
    }
    assert not imported & IMPURE
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef)]


@pytest.mark.req("OWN-23")
async def test_nothing_listens_after_a_lesson(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        ada = await home.person()
        subscribers = len(home.ctx.announcements._subscribers)
        async with ada.call(await ada.ground()) as call:
            (running,) = home.lessons.running()
            assert (await call.ask("Hello."))["saved"] is True
        await home.empty()
        assert len(home.ctx.announcements._subscribers) == subscribers
        assert running.vitals.line is None
        assert lesson.CLOSE_S < 5

"""The observer behind a lesson: strictly in order, never in the way, never silent about a loss."""

import json
import logging
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from local_gemini.scripted import ScriptedEngine
from local_gemini.scripted_brain import generate
from local_gemini.wire import text_of
from server import exchanges
from server.errors import Code, PidjinError, not_ready
from server.exchanges import SAVE_FAILED, Exchange, Exchanges, Saved
from server.store.port import StoreDown
from tests.media.peers import until
from tests.rig import House, house


class Observer:
    """The move agent's model, made slow or wrong by what the learner said; works in threads."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.gates: dict[str, threading.Event] = {}
        self.wrong: dict[str, Callable[[], str | None]] = {}

    def hold(self, words: str) -> threading.Event:
        self.gates[words] = threading.Event()
        return self.gates[words]

    def __call__(self, model: str, request: Mapping[str, Any]) -> str | None:
        contents = request.get("contents") or []
        first = text_of(contents[0]) if contents else ""
        if "LEARNER UTTERANCE" not in first:
            return None
        words = first.split("LEARNER UTTERANCE", 1)[1].splitlines()[1].removeprefix("| ")
        self.seen.append(words)
        if words in self.gates:
            assert self.gates[words].wait(30)
        if words in self.wrong:
            return self.wrong[words]()
        return None


def _engine(observer: Observer, **more: Any) -> ScriptedEngine:
    return ScriptedEngine(generate=observer, threads=True, **more)


@pytest.mark.req("OBS-24", "OBS-25", "VOICE-50")
async def test_a_slow_observer_delays_nobody_and_keeps_the_order(tmp_path: Path) -> None:
    observer = Observer()
    first = observer.hold("First.")
    async with house(tmp_path, _engine(observer)) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            for number, words in enumerate(("First.", "Second.", "Third."), 1):
                call.type(words)
                # Answered to the last word although nothing could be stored yet.
                await until(
                    lambda n=number: len(call.messages("bot-transcription")) == n, "answered"
                )
            assert call.messages("turn") == []
            assert observer.seen == ["First."]
            first.set()
            turns = await home.stored(call.session_id, 3)
            assert [turn["userText"] for turn in turns] == ["First.", "Second.", "Third."]
            await until(lambda: len(call.messages("turn")) == 3, "told")
            assert observer.seen == ["First.", "Second.", "Third."]
            told = [turn["userText"] for turn in call.messages("turn")]
            assert told == ["First.", "Second.", "Third."]


@pytest.mark.req("OBS-21", "OBS-22", "OBS-9", "OBS-19", "OBS-20", "VOICE-50", "GOTCHA-14")
async def test_updates_wait_for_quiet_and_the_latest_wins(tmp_path: Path) -> None:
    observer = Observer()
    first, second = observer.hold("First."), observer.hold("Second.")
    engine = _engine(observer, replies=[["Yes."], ["Yes."], ["word " * 50 + "end."]])
    async with house(tmp_path, engine) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            (live,) = home.gemini.sessions
            for words in ("First.", "Second."):
                before = len(call.messages("bot-transcription"))
                call.type(words)
                await until(
                    lambda n=before: len(call.messages("bot-transcription")) > n, "answered"
                )
            call.type("Third.")
            await call.shows("speaking")
            first.set()
            second.set()
            await until(lambda: len(call.messages("turn")) == 2, "both stored")
            # The tutor speaks: nothing is injected.
            assert (call.state, live.contexts) == ("speaking", [])
            await call.shows("listening")
            await until(lambda: live.contexts, "injected")
            await until(lambda: len(call.messages("turn")) == 3, "third stored")
            await until(lambda: len(live.contexts) >= 2, "third injected")
            assert len(live.contexts) == 2
            assert all(text.startswith("[TUTOR STATE UPDATE]\n") for text in live.contexts)
            # Silent: no reply of its own.
            assert len(live.replies) == 3


def _not_json() -> str:
    return "I would rather not say."


def _broken() -> str:
    raise RuntimeError("the model fell over")


@pytest.mark.req("OBS-28", "OBS-27")
@pytest.mark.parametrize("failure", [_not_json, _broken], ids=["not-json", "error"])
async def test_a_failing_agent_costs_one_turn_and_says_so(
    tmp_path: Path, failure: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchanges, "RETRY_S", (0.1, 0.1))
    observer = Observer()
    observer.wrong["First."] = failure
    async with house(tmp_path, _engine(observer)) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            turn = await call.ask("First.", 30)
            assert (turn["saved"], turn["userText"]) == (False, "First.")
            await until(
                lambda: call.notices == ["Could not save that turn — the conversation continues."],
                "told",
            )
            assert (await call.ask("Second."))["saved"] is True
            await until(lambda: call.notices == [SAVE_FAILED], "told")
            assert [turn["userText"] for turn in await home.stored(call.session_id)] == ["Second."]
            await call.shows("listening")


class _Down:
    """A store whose transactions fail so many times."""

    def __init__(self, home: House, times: int) -> None:
        self.left, self._real = times, home.ctx.store.transaction

    async def transaction(self, *args: Any, **more: Any) -> Any:
        if self.left > 0:
            self.left -= 1
            raise StoreDown("the disk is on fire")
        return await self._real(*args, **more)


@pytest.mark.req("OBS-27", "OBS-28", "RTC-21")
async def test_a_store_that_is_away_for_a_moment_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchanges, "RETRY_S", (0.2, 0.2, 0.2, 0.2, 0.2))
    async with house(tmp_path) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            down = _Down(home, 3)
            monkeypatch.setattr(home.ctx.store, "transaction", down.transaction)
            turn = await call.ask("Keep this.")
            assert (turn["saved"], down.left) == (True, 0)
            await until(lambda: call.notices == [SAVE_FAILED], "told")
            assert (await call.ask("And this."))["saved"] is True
            told = [turn["userText"] for turn in await home.stored(call.session_id, 2)]
            assert told == ["Keep this.", "And this."]


@pytest.mark.req("OBS-28")
async def test_a_store_that_stays_away_loses_the_turn_and_not_the_lesson(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchanges, "RETRY_S", (0.05, 0.05))
    async with house(tmp_path) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            down = _Down(home, 999)
            monkeypatch.setattr(home.ctx.store, "transaction", down.transaction)
            assert (await call.ask("Lost."))["saved"] is False
            await until(lambda: call.notices == [SAVE_FAILED], "told")
            down.left = 0
            assert (await call.ask("Kept."))["saved"] is True


@pytest.mark.req("OBS-27", "OBS-23", "RTC-19", "CARD-17")
async def test_an_exchange_finished_just_before_the_stop_is_stored_and_not_injected(
    tmp_path: Path,
) -> None:
    observer = Observer()
    held = observer.hold("First.")
    async with house(tmp_path, _engine(observer)) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            call.type("First.")
            await until(lambda: observer.seen, "the observer is at work")
            call.act("stop")
            await until(lambda: call.farewell == "stopped", "stopped")
            held.set()
            (turn,) = await home.stored(call.session_id)
            assert turn["userText"] == "First."
        await home.empty()
        assert home.gemini.sessions[0].contexts == []


@pytest.mark.req("OBS-30", "OBS-3")
async def test_a_reply_of_five_thousand_characters_is_stored_cut(tmp_path: Path) -> None:
    long = " ".join(["word"] * 1000) + " end."
    engine = ScriptedEngine(replies=[[long]], speech=lambda text: b"\x00\x20" * 24_00)
    async with house(tmp_path, engine) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            turn = await call.ask("Everything, please.")
            assert turn["saved"] is True
            (stored,) = await home.stored(call.session_id)
            assert stored["text"] == long[:4000].strip()
            assert call.notices == []


@pytest.mark.req("OBS-2", "OBS-7")
async def test_the_observer_reads_what_was_heard(tmp_path: Path) -> None:
    seen: list[str] = []

    def listen(model: str, request: Mapping[str, Any]) -> str | None:
        contents = request.get("contents") or []
        if contents and "LEARNER UTTERANCE" in text_of(contents[0]):
            seen.append(text_of(contents[0]))
            return json.dumps(json.loads(generate(request).text or "{}"))
        return None

    engine = ScriptedEngine(replies=[["word " * 60 + "end."], ["Right."]], generate=listen)
    async with house(tmp_path, engine) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            call.type("Go on.")
            await call.hears(0.6)
            await call.ask("Enough.")
            await until(lambda: len(call.messages("turn")) == 2, "both told")
            cut = call.messages("turn")[0]
            assert cut["interrupted"] is True
            assert f"| {cut['text'].strip()}" in seen[0]
            assert "cut short" in seen[0]
            assert "cut short" not in seen[1]


@pytest.mark.req("OBS-28")
@pytest.mark.parametrize(
    ("error", "level"),
    [
        (not_ready("This conversation was deleted."), logging.INFO),
        (PidjinError(Code.INTERNAL, "broken"), logging.WARNING),
    ],
    ids=["deleted", "broken"],
)
async def test_a_turn_of_a_conversation_that_is_gone_is_no_fault(
    error: PidjinError, level: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "server.exchanges")

    async def save(exchange: Exchange) -> Saved:
        raise error

    queue = Exchanges(save, lambda message: None, lambda text: None, lambda refused: None)
    queue.add(Exchange("t1", "Hello", "Hi.", "", interrupted=False))
    queue.finish()
    await queue.run()
    assert queue.lost == 1
    (record,) = [one for one in caplog.records if one.message == "turn not saved"]
    assert record.levelno == level

"""Things that happen at the wrong moment, and bugs of our own: bounded, told, released."""

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from local_gemini.faults import no_reply
from local_gemini.script import Script
from media.live.gemini_session import GeminiSession
from media.live.port import LiveClosed
from media.peer import Peer
from server import exchanges
from server.conversation import Conversation
from server.errors import Unavailable
from server.exchanges import QUEUE_MAX, Exchange, Exchanges
from server.lesson import Lesson
from tests.media.peers import until
from tests.rig import Call, House, house, lesson_tasks
from tests.virtual_time import run_virtual


def _lesson_of(home: House, call: Call) -> Lesson:
    lesson = home.lessons.owner_of(call.answer["pc_id"])
    assert lesson is not None
    return lesson


@pytest.mark.req("RTC-4", "RTC-19")
async def test_a_lesson_that_ends_while_an_offer_is_answered_takes_nobody_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering, go_on = asyncio.Event(), asyncio.Event()
    answer = Peer.answer

    async def slow(peer: Peer, sdp: str) -> str:
        text = await answer(peer, sdp)
        answering.set()
        await go_on.wait()
        return text

    async with house(tmp_path) as home:
        ada = await home.person()
        topic = await ada.ground()
        async with ada.call(topic) as call:
            monkeypatch.setattr(Peer, "answer", slow)
            late = Call(ada, topic, call.session_id)
            offering = asyncio.create_task(late.offer())
            await answering.wait()
            _lesson_of(home, call).stop("stopped")
            await until(lambda: call.farewell == "stopped", "told")
            go_on.set()
            status, refused = await offering
            assert (status, refused["error"]["code"]) == (503, "unavailable")
            await late.hang_up()
            await home.empty()


@pytest.mark.req("RTC-19")
async def test_an_offer_while_the_lesson_ends_waits_and_gets_a_new_one(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        ada = await home.person()
        topic = await ada.ground()
        async with ada.call(topic) as call:
            first = _lesson_of(home, call)
            first.stop("stopped")
            async with ada.call(topic, call.session_id) as again:
                assert _lesson_of(home, again) is not first
                assert (await again.ask("Back again."))["saved"] is True
                assert again.farewell == ""
            await until(lambda: call.farewell == "stopped", "told why")


@pytest.mark.req("RTC-19", "CARD-17")
async def test_a_lesson_that_is_cancelled_again_and_again_still_ends_in_order(
    tmp_path: Path,
) -> None:
    """T28: whoever cancels, however often, the peer is told and closed, the registry empties."""
    async with house(tmp_path) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            name = f"lesson:{call.session_id}"
            (task,) = [one for one in asyncio.all_tasks() if one.get_name() == name]
            for _ in range(3):
                task.cancel()
                await asyncio.sleep(0)
            await home.empty()
            await until(lambda: call.client.pc.connectionState == "closed", "the peer is closed")
            assert lesson_tasks() == []
            async with ada.call(call.topic_id, call.session_id) as again:
                assert (await again.ask("Here I am."))["saved"] is True


@pytest.mark.req("RTC-19", "API-49")
@pytest.mark.parametrize("place", ["hear", "pull", "live", "typed", "time_passed"])
async def test_a_bug_of_ours_ends_its_lesson_in_words_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, place: str
) -> None:
    original = getattr(Conversation, place)
    broken: list[object] = []

    def breaks(self: Conversation, *args: Any, **more: Any) -> Any:
        if self in broken:
            raise RuntimeError("a bug")
        return original(self, *args, **more)

    monkeypatch.setattr(Conversation, place, breaks)
    # Unanswered, so that a deadline of the turn comes, too.
    async with house(tmp_path, script=Script().on("turn", no_reply(), n=2)) as home:
        ada, bob = await home.person(), await home.person("Bob")
        async with ada.call(await ada.ground()) as call, bob.call(await bob.ground()) as other:
            await call.ask("Before it.")
            broken.append(_lesson_of(home, call)._floor.talk)
            call.type("Now it breaks.")
            await until(lambda: call.farewell, "told", 15)
            await until(lambda: call.farewell == "internal", "told why")
            assert "our side" in call.messages("closed")[0]["text"]
            await until(lambda: len(home.lessons) == 1, "one is left")
            assert (await other.ask("And me?"))["saved"] is True
            (turn,) = await home.stored(call.session_id)
            assert turn["userText"] == "Before it."
        await home.empty()
    assert any(record.getMessage() == "lesson broke" for record in caplog.records)


@pytest.mark.req("VOICE-64")
async def test_a_text_that_could_not_be_sent_is_sent_once_by_the_next_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both the link and the turn machine keep what was not delivered: one of them is enough."""
    send, failed = GeminiSession.send_prompt, []

    async def dies(session: GeminiSession, text: str) -> None:
        if not failed:
            failed.append(text)
            await session.close()
            raise LiveClosed(1006, "the line is dead", "local")
        await send(session, text)

    async with house(tmp_path) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            monkeypatch.setattr(GeminiSession, "send_prompt", dies)
            turn = await call.ask("Say it once.")
            await call.shows("listening")
            assert (turn["saved"], failed) == (True, ["Say it once."])
            assert [one.prompts for one in home.gemini.sessions] == [[], ["Say it once."]]
            assert len(await home.stored(call.session_id)) == 1


def _exchange(number: int) -> Exchange:
    return Exchange(f"t{number}", "A word.", "An answer.", "", False)


@pytest.mark.req("OBS-25", "OBS-26", "OBS-28")
def test_the_queue_of_exchanges_is_bounded_and_can_always_be_finished(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.CRITICAL)
    told: list[Any] = []

    async def never(exchange: Exchange) -> Any:
        await asyncio.Event().wait()

    async def main() -> Exchanges:
        books = Exchanges(never, told.append, lambda update: None, lambda error: None)
        for number in range(QUEUE_MAX + 10):
            books.add(_exchange(number))
        books.add(Exchange("quiet", "  ", "An answer.", "", False))
        books.add(Exchange("mute", "A word.", "", "all of it", False))
        books.finish()
        return books

    books = run_virtual(main())
    assert (books.waiting, books.lost) == (QUEUE_MAX + 1, 10)
    lost = [message.turn_id for message in told if hasattr(message, "saved")]
    assert lost == [f"t{number}" for number in range(QUEUE_MAX, QUEUE_MAX + 10)]


@pytest.mark.req("OBS-28")
def test_a_save_without_an_end_is_given_up_and_the_next_one_made() -> None:
    saved: list[str] = []

    async def save(exchange: Exchange) -> Any:
        if exchange.turn_id == "t0":
            await asyncio.Event().wait()
        saved.append(exchange.turn_id)
        raise Unavailable("Nothing to retry.")

    async def main() -> tuple[Exchanges, float]:
        books = Exchanges(save, lambda message: None, lambda update: None, lambda error: None)
        books.add(_exchange(0))
        books.add(_exchange(1))
        books.finish()
        started = asyncio.get_running_loop().time()
        await books.run()
        return books, asyncio.get_running_loop().time() - started

    books, seconds = run_virtual(main())
    assert (saved, books.lost) == (["t1"], 2)
    assert seconds == pytest.approx(exchanges.SAVE_DEADLINE_S, abs=1)

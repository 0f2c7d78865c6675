"""A page that sends nonsense, too much or too often: counted, and the lesson goes on."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.media.peers import until
from tests.rig import Call, House, house


async def _still_answers(call: Call) -> None:
    turn = await call.ask("And now?")
    assert turn["saved"] is True
    assert turn["userText"] == "And now?"


def _counts(home: House, call: Call) -> dict[str, int]:
    lesson = home.lessons.owner_of(call.answer["pc_id"])
    assert lesson is not None
    return dict(lesson.channel.counts)


@pytest.mark.req("RTC-13")
async def test_garbage_is_counted_and_the_lesson_goes_on(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            channel = call.client.channel
            assert channel is not None
            malformed = ("{", "[1]", '"x"', "null", '{"type":"send-text","data":[]}', "[" * 9000)
            for frame in malformed:
                channel.send(frame)
            unknown = ('{"type":"zoom"}', '{"type":"client-message","data":{"t":"fly"}}', "{}")
            for frame in unknown:
                channel.send(frame)
            for frame in (b"\x00\xff\xfe", b"", b"\x80" * 5000):
                channel.send(frame)
            channel.send(json.dumps({"type": "send-text", "data": {"content": "\ud800"}}))
            channel.send(json.dumps({"type": "client-ready", "id": "\ud800x", "data": {}}))
            channel.send("x" * 100_000)
            await until(lambda: _counts(home, call).get("oversize") == 1, "all read")
            counts = _counts(home, call)
            assert counts["malformed"] >= len(malformed) + 1
            assert counts["unknown"] == len(unknown)
            await until(lambda: len(call.messages("bot-ready")) == 2, "answered all the same")
            await _still_answers(call)


@pytest.mark.req("RTC-13")
async def test_a_message_of_a_megabyte_ends_nothing(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            assert call.client.channel is not None
            with pytest.raises(ValueError):
                call.client.channel.send("x" * 1_000_000)  # more than the server's answer allows
            # A peer that does not care for what was agreed sends it all the same.
            call.client.pc.sctp._remote_max_message_size = 2_000_000
            call.client.channel.send("x" * 1_000_000)
            await until(lambda: _counts(home, call).get("oversize") == 1, "read and dropped", 20)
            await _still_answers(call)


@pytest.mark.req("RTC-13")
async def test_a_flood_is_dropped_and_the_next_second_is_heard(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            for number in range(1000):
                call.act("mic", on=bool(number % 2))
            await until(lambda: _counts(home, call).get("too_frequent", 0) > 800, "flood read")
            answered = len(call.messages("user-mute-started"))
            assert answered < 100
            # The bucket fills again: what is said a moment later is heard.
            for _ in range(100):
                if len(call.messages("bot-ready")) > 1:
                    break
                call.tell("client-ready", {"version": "2.1.0"})
                await asyncio.sleep(0.05)
            await until(lambda: len(call.messages("bot-ready")) > 1, "heard again", 5)
            call.act("mic", on=True)
            await _still_answers(call)


@pytest.mark.req("RTC-13", "RTC-3")
async def test_a_second_channel_is_not_listened_to(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            second = call.client.pc.createDataChannel("another")
            await until(lambda: second.readyState == "open", "open")
            second.send('{"type":"disconnect-bot","data":{}}')
            await _still_answers(call)
            assert call.farewell == ""

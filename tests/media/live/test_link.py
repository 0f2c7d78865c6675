"""The life of a link in virtual time: turns, what nobody knows, and every way to its end."""

from __future__ import annotations

import asyncio
import logging

import pytest

from media.live.link import LinkUp
from media.live.port import (
    LiveRefused,
    ReplyAudio,
    TurnComplete,
    Unknown,
)
from media.live.receiver import KEYS_CHARS, UNKNOWN_LOGGED
from tests.media.live.fake_live import a_turn, linked, pcm
from tests.virtual_time import run_virtual


@pytest.mark.req("VOICE-18")
def test_three_turns_share_one_connection() -> None:  # T1
    async def main() -> None:
        async with linked() as bench:
            for _ in range(3):
                await a_turn(bench)
            assert len(bench.of(ReplyAudio)) == 3
            assert len(bench.of(TurnComplete)) == 3
            assert bench.connector.trace.words("connect") == ["connect"]
            assert bench.heard[0] == LinkUp(first=True, model="gemini-3.8-live")

    run_virtual(main())


def test_unknown_messages_are_counted_and_passed_on() -> None:
    async def main() -> None:
        async with linked() as bench:
            bench.session.say(Unknown(("brandNew",)))
            await a_turn(bench)
            assert bench.link.stats.unknown == 1
            assert bench.of(TurnComplete)

    run_virtual(main())


def test_messages_that_nobody_knows_are_counted_and_fill_no_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "media.live.receiver")

    async def main() -> None:
        async with linked() as bench:
            for number in range(500):
                bench.session.say(Unknown((f"key{number}" * 100, "b" * 1000)))
            await bench.settle()
            assert bench.link.stats.unknown == len(bench.of(Unknown)) == 500

    run_virtual(main())
    assert len(caplog.records) == UNKNOWN_LOGGED
    assert all(len(vars(record)["keys"]) <= KEYS_CHARS for record in caplog.records)


@pytest.mark.req("RTC-19")
def test_close_is_idempotent_and_nothing_happens_afterwards() -> None:
    async def main() -> None:
        async with linked() as bench:
            session = bench.session
            await asyncio.gather(bench.link.close(), bench.link.close())
            await bench.link.close()
            assert session.closed
            assert bench.run.done()
            before = list(bench.heard)
            bench.link.audio(pcm(3200))
            bench.link.prompt("hello")
            bench.link.context("update")
            bench.link.activity(True)
            session.say(ReplyAudio(pcm(10)))
            await bench.settle(60)
            assert session.sent == []
            assert bench.heard == before
            assert bench.connector.trace.words("connect") == ["connect"]

    run_virtual(main())


@pytest.mark.parametrize("script", [["hang"], [LiveRefused(0, "x"), LiveRefused(0, "x"), "hang"]])
def test_close_ends_a_link_that_is_still_connecting(script: list[LiveRefused | str | None]) -> None:
    async def main() -> None:
        async with linked(script) as bench:
            await bench.settle(1.2)
            before = asyncio.get_running_loop().time()
            await bench.link.close()
            assert bench.run.done()
            assert asyncio.get_running_loop().time() - before < 0.01

    run_virtual(main())


def test_a_connector_that_ignores_cancellation_cannot_hold_the_close() -> None:  # T28
    async def main() -> None:
        loop = asyncio.get_running_loop()
        async with linked(["deaf"]) as bench:
            before = loop.time()
            await bench.link.close()
            assert loop.time() - before <= 1.0
            assert bench.run.done()
            assert "cancel ignored" in bench.connector.trace.words()
            # It connects after all: nobody wants that session any more.
            bench.connector.release.set()
            await bench.settle()
            assert bench.session.closed
            assert bench.heard == []

    run_virtual(main())


def test_a_session_that_ignores_cancellation_cannot_hold_the_close() -> None:  # T28
    async def main() -> None:
        loop = asyncio.get_running_loop()
        async with linked() as bench:
            bench.session.deaf_to_cancel = True
            before = loop.time()
            await bench.link.close()
            assert loop.time() - before <= 1.0
            assert bench.run.done()
            bench.session.deaf_to_cancel = False
            bench.session.say(ReplyAudio(pcm(1)))
            await bench.settle()
            assert not bench.of(ReplyAudio)
            bench.session.drop()
            await bench.settle()

    run_virtual(main())


def test_cancelling_the_lesson_ends_the_link_and_its_socket() -> None:
    async def main() -> None:
        async with linked() as bench:
            bench.run.cancel()
            await asyncio.wait({bench.run})
            assert bench.run.cancelled()
            assert bench.session.closed
            bench.run = asyncio.create_task(bench.link.run())  # runs once: returns at once
            await bench.run

    run_virtual(main())


def test_a_bug_in_the_sink_ends_the_link_loudly_and_frees_the_socket() -> None:
    async def main() -> None:
        async with linked() as bench:

            def broken(event: object) -> None:
                raise KeyError("sink")

            bench.link._sink = broken
            bench.session.say(ReplyAudio(pcm(1)))
            with pytest.raises(ExceptionGroup):
                await bench.run
            assert bench.session.closed
            bench.run = asyncio.create_task(bench.link.run())

    run_virtual(main())

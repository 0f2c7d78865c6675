"""A link asleep holds no socket and loses nothing of what wakes it."""

from __future__ import annotations

import asyncio

from media.live.link import LinkAsleep, LinkAwake, LinkUp
from media.live.port import (
    Handle,
)
from tests.media.live.fake_live import linked, pcm
from tests.virtual_time import run_virtual


def test_the_link_sleeps_and_the_next_sound_wakes_it_with_nothing_lost() -> None:
    async def main() -> None:
        async with linked() as bench:
            bench.session.say(Handle("h1", True))
            await bench.settle()
            bench.link.sleep()
            await bench.settle()
            assert bench.link.asleep
            assert not bench.link.up
            assert bench.session.closed
            await bench.settle(600)
            bench.link.context("[TUTOR STATE UPDATE]\nNote: later")
            await bench.settle(600)
            assert bench.link.asleep
            bench.link.audio(pcm(6400))
            for tick in range(5):
                bench.link.audio(pcm(320, 6400 + 320 * tick))
                await asyncio.sleep(0.02)
            await bench.settle(0.1)
            assert bench.connector.setups[1].handle == "h1"
            assert bytes(bench.session.sound) == pcm(8000)
            assert bench.session.kinds()[0] == "context"
            kinds = [type(event) for event in bench.heard if not isinstance(event, Handle)]
            assert kinds == [LinkUp, LinkAsleep, LinkAwake, LinkUp]
            assert not bench.link.asleep

    run_virtual(main())


def test_a_handle_that_slept_too_long_is_not_tried() -> None:
    async def main() -> None:
        async with linked() as bench:
            bench.session.say(Handle("h1", True))
            await bench.settle()
            bench.link.sleep()
            await bench.settle(2 * 3600)
            bench.link.prompt("still there?")
            await bench.settle()
            assert bench.connector.setups[1].handle is None
            assert bench.of(LinkUp)[-1] == LinkUp(False, reseeded=True, model="gemini-3.8-live")
            assert bench.session.sent == [("prompt", "still there?")]

    run_virtual(main())


def test_sound_takes_a_sleep_back() -> None:
    async def main() -> None:
        async with linked() as bench:
            bench.link.sleep()
            bench.link.audio(pcm(320))
            await bench.settle(1)
            assert bench.link.up
            bench.link.audio(pcm(320))
            bench.link.sleep()
            await bench.settle(1)
            assert bench.link.up
            assert bytes(bench.session.sound) == pcm(320) + pcm(320)

    run_virtual(main())

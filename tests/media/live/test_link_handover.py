"""A link leaves a connection in time: announced by the service, or before it is too old."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from media.live.link import LinkDown, LinkFailed, LinkUp
from media.live.port import (
    GoAway,
    Handle,
    ReplyAudio,
)
from tests.media.live.fake_live import linked, pcm
from tests.virtual_time import run_virtual


@pytest.mark.req("VOICE-21", "VOICE-4")
def test_a_goaway_mid_reply_is_handed_over_at_the_boundary_without_losing_a_sample() -> None:  # T9
    async def main() -> None:
        async with linked() as bench:
            link, old = bench.link, bench.session
            await bench.settle(60)
            old.say(Handle("h1", True))
            bench.quiet = False
            old.say(ReplyAudio(pcm(10)), GoAway(10.0))
            sent = 0
            for tick in range(150):  # 3 s of microphone around the hand-over
                link.audio(pcm(320, sent))
                sent += 320
                if tick == 75:
                    assert bench.connector.trace.words("connect", "close") == ["connect"]
                    bench.quiet = True
                    link.quiet_moment()
                await asyncio.sleep(0.02)
            await bench.settle(0.1)
            trace = bench.connector.trace
            assert trace.words("connect", "close") == ["connect", "close", "connect"]
            assert bench.connector.setups[1].handle == "h1"
            assert bench.connector.setups[1].seeds == ()
            assert bytes(old.sound + bench.session.sound) == pcm(sent)
            assert old.sound
            assert bench.session.sound
            assert bench.of(LinkDown) == [LinkDown("rotation")]
            times = trace.times("close") + trace.times("connect")[1:]
            assert times[0] == times[1]  # no pause in between
            assert bench.of(LinkUp)[1] == LinkUp(False, resumed=True, model="gemini-3.8-live")
            assert link.stats.samples_dropped == 0

    run_virtual(main())


@pytest.mark.req("VOICE-21")
def test_a_goaway_without_a_quiet_moment_is_obeyed_just_before_its_deadline() -> None:
    async def main() -> None:
        async with linked() as bench:
            bench.quiet = False
            bench.session.say(Handle("h1", True))
            started = asyncio.get_running_loop().time()
            bench.session.say(GoAway(10.0))
            await bench.settle(12)
            assert bench.connector.trace.times("close") == [pytest.approx(started + 8.0)]
            assert bench.connector.setups[1].handle == "h1"

    run_virtual(main())


def test_the_link_leaves_before_the_service_ends_the_session_by_age() -> None:
    async def main() -> None:
        async with linked() as bench:
            bench.session.say(Handle("h1", True))
            started = asyncio.get_running_loop().time()
            await bench.settle(49 * 60)
            bench.link.quiet_moment()
            await bench.settle()
            assert bench.connector.trace.times("close") == []
            bench.quiet = False
            await bench.settle(3 * 60)
            assert bench.connector.trace.times("close") == []
            bench.quiet = True
            bench.link.quiet_moment()
            await bench.settle()
            assert bench.connector.trace.times("close") == [pytest.approx(started + 52 * 60, abs=1)]
            bench.quiet = False
            await bench.settle(54 * 60 + 1)
            assert len(bench.connector.sessions) == 3

    run_virtual(main())


def test_a_service_that_leaves_at_once_again_and_again_is_given_up() -> None:
    async def main() -> None:
        async with linked() as bench:
            for _ in range(4):
                bench.session.say(GoAway(0.0))
                await bench.settle(3)
            assert len(bench.connector.sessions) == 4
            assert bench.of(LinkFailed) == [LinkFailed("lost", "1001 the service left at once")]

    run_virtual(main())


@pytest.mark.req("VOICE-21")
def test_a_session_that_is_sent_away_when_it_has_just_come_is_used_while_its_time_allows() -> None:
    """T9: services that shut down one after the other cost neither a redial nor a hurry."""

    async def main() -> None:
        async with linked() as bench:
            for number in range(6):
                bench.session.say(Handle(f"h{number}", True), GoAway(50.0))
                await bench.settle(5.1)
            times = bench.connector.trace.times("connect")
            assert [round(later - earlier, 3) for earlier, later in pairwise(times)] == [5.0] * 6
            assert bench.link.stats.rotations == 6
            assert bench.of(LinkFailed) == []
            # Where less is announced the deadline stands, quiet or not.
            bench.quiet = False
            bench.session.say(GoAway(4.0))
            began = asyncio.get_running_loop().time()
            await bench.settle(3)
            assert bench.connector.trace.times("close")[-1] == pytest.approx(began + 2.0, abs=0.01)

    run_virtual(main())

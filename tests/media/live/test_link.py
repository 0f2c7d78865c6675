"""The life of a link in virtual time: turns, hand-overs, losses, sleep, and the end."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from media.live.link import LinkAsleep, LinkAwake, LinkDown, LinkFailed, LinkUp
from media.live.port import (
    GenerationComplete,
    GoAway,
    Handle,
    Interaction,
    LiveRefused,
    LiveSetup,
    ReplyAudio,
    TurnComplete,
    Unknown,
)
from tests.media.live.fake_live import Bench, linked, pcm
from tests.virtual_time import run_virtual


async def a_turn(bench: Bench) -> None:
    bench.session.say(ReplyAudio(pcm(10)), GenerationComplete())
    bench.session.say(TurnComplete())
    await bench.settle()


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


@pytest.mark.req("VOICE-12")
def test_an_update_that_is_not_resumable_leaves_the_old_handle() -> None:
    async def main() -> None:
        async with linked() as bench:
            bench.session.say(Handle("h1", True))
            bench.session.say(Handle("", False), Handle("h2", False), Handle("", True))
            await bench.settle()
            assert bench.link.handle == "h1"
            bench.session.drop(1011, "internal")
            await bench.settle(1)
            assert bench.connector.setups[1].handle == "h1"

    run_virtual(main())


@pytest.mark.req("VOICE-4")
def test_four_drops_make_three_reconnects_with_the_latest_handle() -> None:
    async def main() -> None:
        async with linked() as bench:
            for number in range(4):
                bench.session.say(Handle(f"h{number}", True))
                await bench.settle()
                bench.session.drop()
                await bench.settle(4)
            trace = bench.connector.trace
            assert [setup.handle for setup in bench.connector.setups] == [None, "h0", "h1", "h2"]
            waits = [
                round(connect - close, 3)
                for close, connect in zip(
                    trace.times("close"), trace.times("connect")[1:], strict=False
                )
            ]
            assert waits == [0.5, 1.0, 2.0]
            assert bench.of(LinkFailed) == [LinkFailed("lost", "1006")]
            assert bench.run.done()

    run_virtual(main())


@pytest.mark.req("VOICE-4")
def test_a_completed_turn_fills_the_budget_again() -> None:
    async def main() -> None:
        async with linked() as bench:
            for _ in range(6):
                bench.session.drop()
                await bench.settle(3)
                await a_turn(bench)
            assert len(bench.connector.sessions) == 7
            assert not bench.of(LinkFailed)

    run_virtual(main())


def test_an_exchange_in_progress_does_not_fill_the_budget() -> None:
    async def main() -> None:
        async with linked() as bench:
            for _ in range(4):
                bench.session.say(TurnComplete(Interaction.IN_PROGRESS))
                await bench.settle()
                bench.session.drop()
                await bench.settle(4)
            assert len(bench.connector.sessions) == 4
            assert bench.of(LinkFailed)

    run_virtual(main())


def test_the_old_socket_is_closed_before_the_next_attempt_also_when_redials_are_refused() -> None:
    async def main() -> None:  # T10
        script = [None, LiveRefused(1011, "still open"), LiveRefused(0, "no route"), None]
        async with linked(script) as bench:
            bench.session.say(Handle("h1", True))
            await bench.settle()
            bench.session.drop(1011, "keepalive")
            await bench.settle(10)
            trace = bench.connector.trace
            assert trace.words("connect", "close")[:3] == ["connect", "close", "connect"]
            times = trace.times("connect")
            waits = [round(later - earlier, 3) for earlier, later in pairwise(times[1:])]
            assert waits == [1.0, 2.0]
            assert [setup.handle for setup in bench.connector.setups] == [None, "h1", "h1", "h1"]
            assert bench.link.up
            assert bench.of(LinkUp)[-1] == LinkUp(False, resumed=True, model="gemini-3.8-live")

    run_virtual(main())


@pytest.mark.parametrize("reason", ["invalid session resumption handle", "Session not found"])
def test_a_refused_handle_leads_to_a_fresh_seeded_session_that_is_not_the_first(
    reason: str,
) -> None:  # T11
    async def main() -> None:
        async with linked([None, LiveRefused(1011, reason)]) as bench:
            bench.session.say(Handle("h1", True))
            await bench.settle()
            bench.session.drop()
            await bench.settle(4)
            setups = bench.connector.setups
            assert [setup.handle for setup in setups] == [None, "h1", None]
            assert setups[2].seeds
            assert not setups[1].seeds
            assert bench.of(LinkUp)[-1] == LinkUp(False, reseeded=True, model="gemini-3.8-live")
            assert len(bench.of(LinkUp)) == 2

    run_virtual(main())


@pytest.mark.parametrize(
    ("code", "handles", "resumptions", "failed"),
    [
        (1006, [None, "h", "h", "h"], [True] * 4, "lost"),
        (1011, [None, "h", "h", "h"], [True] * 4, "lost"),
        (1000, [None, "h", "h", "h"], [True] * 4, "lost"),
        (1007, [None, None], [True, True], "invalid"),
        (1008, [None, None], [True, False], "policy"),
    ],
)
def test_close_codes_decide_the_lane(
    code: int, handles: list[str | None], resumptions: list[bool], failed: str
) -> None:
    async def main() -> None:
        async with linked() as bench:
            for _ in range(4):
                if bench.run.done():
                    break
                bench.session.say(Handle("h", True))
                await bench.settle()
                bench.session.drop(code, "why")
                await bench.settle(4)
            assert [setup.handle for setup in bench.connector.setups] == handles
            assert [setup.resumption for setup in bench.connector.setups] == resumptions
            assert bench.of(LinkFailed) == [LinkFailed(failed, f"{code} why")]

    run_virtual(main())


@pytest.mark.req("VOICE-62")
def test_a_setup_that_is_never_answered_fails_after_ten_seconds() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        async with linked(["hang"]) as bench:
            started = bench.connector.trace.times("connect")[0]
            await bench.run
            assert loop.time() - started == pytest.approx(10.0, abs=0.01)
            reason = "504 setupComplete did not arrive within 10 s"
            assert bench.heard == [LinkFailed("setup_timeout", reason)]

    run_virtual(main())


@pytest.mark.parametrize(
    "refusal",
    [
        LiveRefused(429, "Too Many Requests"),
        LiveRefused(1011, "RESOURCE_EXHAUSTED: quota of concurrent sessions"),
    ],
)
def test_a_quota_refusal_is_not_retried(refusal: LiveRefused) -> None:
    async def main() -> None:
        async with linked([refusal]) as bench:
            await bench.settle()
            assert bench.run.done()
            assert [event.code for event in bench.heard if isinstance(event, LinkFailed)] == [
                "quota"
            ]
            assert len(bench.connector.setups) == 1

    run_virtual(main())


def test_the_composer_can_end_the_link_at_a_reconnect() -> None:
    async def main() -> None:
        answers: list[LiveSetup | LiveRefused] = [
            LiveSetup(model="gemini-3.8-live", instruction="i"),
            LiveRefused(403, "no longer approved"),
        ]

        def compose() -> LiveSetup:
            answer = answers.pop(0)
            if isinstance(answer, LiveRefused):
                raise answer
            return answer

        async with linked(compose=compose) as bench:
            bench.session.drop()
            await bench.settle(1)
            assert bench.of(LinkFailed) == [LinkFailed("denied", "403 no longer approved")]
            assert len(bench.connector.setups) == 1

    run_virtual(main())


def test_a_resumption_does_not_need_the_store() -> None:
    async def main() -> None:
        setups = [LiveSetup(model="gemini-3.8-live", instruction="i")]
        async with linked(compose=setups.pop) as bench:
            bench.session.say(Handle("h1", True))
            await bench.settle()
            bench.session.drop()
            await bench.settle(1)  # the composer raises IndexError now
            assert bench.connector.setups[1].handle == "h1"
            assert bench.connector.setups[1].instruction == "i"

    run_virtual(main())


def test_unknown_messages_are_counted_and_passed_on() -> None:
    async def main() -> None:
        async with linked() as bench:
            bench.session.say(Unknown(("brandNew",)))
            await a_turn(bench)
            assert bench.link.stats.unknown == 1
            assert bench.of(TurnComplete)

    run_virtual(main())


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


def test_a_send_that_never_gets_through_counts_as_a_dead_line() -> None:
    async def main() -> None:
        async with linked() as bench:
            old = bench.session
            old.say(Handle("h1", True))
            old.stuck = True
            bench.link.audio(pcm(640))
            await bench.settle(6)
            assert old.closed
            assert len(bench.connector.sessions) == 2
            assert bytes(bench.session.sound) == pcm(640)
            assert bench.of(LinkDown) == [LinkDown("1006 a send took longer than 5 s")]

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

"""A link after a loss or a refusal: resume, start afresh or give up, after which wait."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from media.live.link import LinkDown, LinkFailed, LinkUp
from media.live.port import (
    Handle,
    Interaction,
    LiveRefused,
    LiveSetup,
    TurnComplete,
)
from tests.media.live.fake_live import a_turn, linked, pcm
from tests.virtual_time import run_virtual


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
    """T10: 1011; the second connect is refused while the first is open; the waits are exact."""

    async def main() -> None:
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
) -> None:
    """T11: re-seeded; the new session is not the first, so nobody greets."""

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

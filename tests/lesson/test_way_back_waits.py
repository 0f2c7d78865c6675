"""When a lost Live session is tried again, and when one that opened is trusted. In virtual time."""

import asyncio
from collections.abc import Callable

import pytest

from media.live.link_events import LinkDown, LinkEvent, LinkFailed, LinkUp
from media.live.port import LiveEvent, ReplyText
from server.way_back import FIRST_S, LONGEST_S, RELIABLE_S, STEADY_S, Trial, Waits
from tests.virtual_time import run_virtual


@pytest.mark.req("VOICE-4", "RTC-16")
def test_waits_double_up_to_a_bound_and_a_short_return_does_not_shorten_them() -> None:
    waits = Waits()
    assert [waits.next() for _ in range(7)] == [30, 60, 120, 240, 480, 480, 480]
    waits.lasted(RELIABLE_S - 1)
    assert waits.next() == LONGEST_S
    waits.lasted(RELIABLE_S)
    assert waits.next() == FIRST_S


def _tried(play: Callable[[Trial], None], within_s: float = 60.0) -> tuple[bool, float]:
    """Whether the session stands, and after how many seconds that is known."""

    async def main() -> tuple[bool, float]:
        loop = asyncio.get_running_loop()
        trial = Trial(lambda event: None)
        loop.call_later(2.0, play, trial)
        started = loop.time()
        async with asyncio.timeout(within_s):
            stands = await trial.stands()
        return stands, round(loop.time() - started, 3)

    return run_virtual(main())


@pytest.mark.req("RTC-16")
def test_a_session_that_is_still_there_a_moment_later_stands() -> None:
    assert _tried(lambda trial: trial.hear(LinkUp(True))) == (True, 2.0 + STEADY_S)


@pytest.mark.req("RTC-16")
@pytest.mark.parametrize("end", [LinkDown("1011"), LinkFailed("quota", "429")])
def test_one_that_is_refused_or_dropped_does_not(end: LinkEvent) -> None:
    assert _tried(lambda trial: trial.hear(end)) == (False, 2.0)

    def dropped(trial: Trial) -> None:
        trial.hear(LinkUp(True))
        asyncio.get_running_loop().call_later(STEADY_S / 2, trial.hear, end)

    assert _tried(dropped) == (False, 2.0 + STEADY_S / 2)


@pytest.mark.req("RTC-19")
def test_a_lesson_that_ends_waits_for_nothing() -> None:
    assert _tried(lambda trial: trial.call_off()) == (False, 2.0)


def test_nothing_of_it_is_passed_on_until_it_is_taken() -> None:
    async def main() -> None:
        heard: list[LiveEvent | LinkEvent] = []
        trial = Trial(heard.append)
        trial.hear(LinkUp(True, model="m"))
        trial.hear(ReplyText("Hello!"))
        assert (heard, trial.model) == ([], "m")
        trial.taken = True
        trial.hear(ReplyText("Yes?"))
        assert heard == [ReplyText("Yes?")]

    run_virtual(main())

"""When a lesson ends: on time, after the sentence, or not yet. In virtual time."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from server.ending import FAREWELL_S, SENTENCE_S, Ending
from tests.virtual_time import run_virtual


def _timed(body: Callable[[Ending, list[bool]], Awaitable[None]]) -> tuple[str, float]:
    """The reason of an ending and when it came; `quiet[0]` is what the lesson says of itself."""

    async def main() -> tuple[str, float]:
        quiet = [True]
        ending: Ending

        def arm() -> None:
            if quiet[0]:
                ending.quiet()

        ending = Ending("s1", arm)
        started = asyncio.get_running_loop().time()
        await body(ending, quiet)
        await ending.reached.wait()
        return ending.reason, round(asyncio.get_running_loop().time() - started, 3)

    return run_virtual(main())


@pytest.mark.req("VOICE-63")
@pytest.mark.parametrize("speaking", [False, True])
def test_the_limit_is_kept_to_the_second(speaking: bool) -> None:
    async def body(ending: Ending, quiet: list[bool]) -> None:
        quiet[0] = not speaking
        ending.limit(1800)

    reason, seconds = _timed(body)
    assert reason == "session-limit"
    assert seconds == 1800


@pytest.mark.req("VOICE-63", "OWN-69")
def test_what_could_not_be_answered_any_more_is_not_taken() -> None:
    async def body(ending: Ending, quiet: list[bool]) -> None:
        ending.limit(60)
        await asyncio.sleep(60 - SENTENCE_S - 0.1)
        assert not ending.expiring
        await asyncio.sleep(0.2)
        assert ending.expiring

    assert _timed(body) == ("session-limit", 60)


@pytest.mark.req("VOICE-63")
def test_a_farewell_that_the_learner_asked_for_does_not_lengthen_the_session() -> None:
    async def body(ending: Ending, quiet: list[bool]) -> None:
        quiet[0] = False
        ending.limit(60)
        await asyncio.sleep(55)
        ending.after_reply("stopped")

    assert FAREWELL_S > 5
    assert _timed(body) == ("session-limit", 60)


@pytest.mark.req("CARD-17")
def test_a_restart_waits_for_the_sentence_and_no_longer() -> None:
    async def short(ending: Ending, quiet: list[bool]) -> None:
        quiet[0] = False
        ending.when_quiet("shutdown")
        await asyncio.sleep(1.5)
        quiet[0] = True
        ending.quiet()

    async def long(ending: Ending, quiet: list[bool]) -> None:
        quiet[0] = False
        ending.when_quiet("shutdown")

    assert _timed(short) == ("shutdown", 1.5)
    assert _timed(long) == ("shutdown", SENTENCE_S)

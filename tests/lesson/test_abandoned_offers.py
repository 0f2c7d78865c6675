"""Offers that nobody follows up: they keep nobody out, and leave nothing."""

import asyncio
import uuid
from pathlib import Path

import pytest

from tests.media.peers import Client, until
from tests.rig import house


@pytest.mark.req("RTC-21", "RTC-1")
@pytest.mark.parametrize("sessions", [1, 20], ids=["one-session", "twenty-sessions"])
async def test_after_twenty_aborted_offers_a_lesson_starts_at_once(
    tmp_path: Path, sessions: int
) -> None:
    """T25: the newest offer counts, no deadline of an older one has to pass."""
    async with house(tmp_path) as home:
        ada = await home.person()
        topic = await ada.ground()
        ids = [str(uuid.uuid4()) for _ in range(sessions)]
        client = Client()
        sdp = await client.offer()
        statuses = []
        for number in range(20):
            asking = asyncio.create_task(ada.offer(sdp, ids[number % sessions], topic))
            if number % 3 == 0:  # the page is closed before the answer
                await asyncio.sleep(0.002)
                asking.cancel()
                await asyncio.wait([asking])
            else:
                statuses.append((await asking)[0])
        assert set(statuses) == {200}
        started = asyncio.get_running_loop().time()
        async with ada.call(topic) as call:
            assert asyncio.get_running_loop().time() - started < 5
            assert (await call.ask("Am I in?"))["saved"] is True
            # Of the rest at most what may still connect is there.
            await until(lambda: len(home.lessons) <= 3, "the superseded ones are gone")
            assert call.farewell == ""
        await client.close()
        for lesson in home.lessons.running():
            lesson.stop("stopped")
        await home.empty()


@pytest.mark.req("RTC-21")
async def test_a_lesson_that_goes_on_never_gives_way(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        ada = await home.person()
        topic = await ada.ground()
        client = Client()
        sdp = await client.offer()
        async with ada.call(topic) as first, ada.call(topic) as second:
            for _ in range(6):
                assert (await ada.offer(sdp, str(uuid.uuid4()), topic))[0] == 200
            assert (first.farewell, second.farewell) == ("", "")
            assert (await first.ask("Still here?"))["saved"] is True
        await client.close()
        for lesson in home.lessons.running():
            lesson.stop("stopped")
        await home.empty()


@pytest.mark.req("RTC-15")
async def test_a_page_is_told_only_of_changes_of_its_microphone(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:

            def told() -> list[str]:
                return [kind for kind in call.kinds if kind.startswith("user-mute")]

            for on in (True, True, False, False, True):
                call.act("mic", on=on)
            await until(lambda: len(told()) == 2, "both changes")
            await call.ask("Anything else?")
            assert told() == ["user-mute-started", "user-mute-stopped"]

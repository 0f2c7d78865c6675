"""A link that goes on with a session which another process has left."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from media.live.link import LinkEvent, LinkFailed, LinkUp, LiveLink
from media.live.port import Handle, LiveEvent, LiveRefused, LiveSetup, Seed, TurnComplete
from tests.media.live.fake_live import MODEL, FakeConnector
from tests.virtual_time import run_virtual

SETUP = LiveSetup(model=MODEL, instruction="i", seeds=(Seed("user", "so far"),))


@asynccontextmanager
async def _left(
    script: Sequence[LiveRefused | str | None] = (),
) -> AsyncIterator[tuple[FakeConnector, list[LiveEvent | LinkEvent]]]:
    connector, heard = FakeConnector(script), list[LiveEvent | LinkEvent]()

    async def compose() -> LiveSetup:
        return SETUP

    link = LiveLink(
        connector, compose, heard.append, quiet=lambda: True, jitter=lambda: 0.5, handle="left"
    )
    run = asyncio.create_task(link.run())
    try:
        # Two refusals and their pauses; the clock is virtual.
        await asyncio.sleep(4)
        yield connector, heard
    finally:
        await link.close()
        await asyncio.wait({run}, timeout=2)


@pytest.mark.req("VOICE-4", "VOICE-65")
def test_the_first_connection_resumes_and_sends_no_past_turns() -> None:
    async def main() -> None:
        async with _left() as (connector, heard):
            (setup,) = connector.setups
            assert (setup.handle, setup.seeds, setup.model) == ("left", (), MODEL)
            assert heard == [LinkUp(first=True, resumed=True, reseeded=False, model=MODEL)]
            assert connector.sessions[0].sent == []  # nothing that the tutor would greet

    run_virtual(main())


@pytest.mark.req("VOICE-4")
@pytest.mark.parametrize(
    "refusals",
    [
        [LiveRefused(1008, "BidiGenerateContent session not found.")],
        [LiveRefused(1007, "bad handle")],
        [LiveRefused(1011, "still connected"), LiveRefused(1011, "still connected")],
    ],
)
def test_a_refused_handle_becomes_a_seeded_session(refusals: list[LiveRefused]) -> None:
    """T11: seeds instead, and the new session can be resumed in its turn."""

    async def main() -> None:
        async with _left(refusals) as (connector, heard):
            last = connector.setups[-1]
            assert len(connector.setups) == len(refusals) + 1
            assert (last.handle, last.seeds, last.resumption) == (None, SETUP.seeds, True)
            assert heard == [LinkUp(first=True, resumed=False, reseeded=False, model=MODEL)]
            connector.sessions[-1].say(TurnComplete(), Handle("new", True))
            await asyncio.sleep(0.01)
            connector.sessions[-1].drop(1011)
            await asyncio.sleep(3)
            assert connector.setups[-1].handle == "new"

    run_virtual(main())


@pytest.mark.req("VOICE-4")
def test_a_service_that_is_away_for_good_ends_in_words() -> None:
    async def main() -> None:
        async with _left([LiveRefused(0, "unreachable")] * 9) as (connector, heard):
            await asyncio.sleep(30)
            (failed,) = heard
            assert isinstance(failed, LinkFailed)
            assert len(connector.setups) == 4

    run_virtual(main())

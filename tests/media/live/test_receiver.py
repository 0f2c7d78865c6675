"""A reply that comes in a burst does not hold up the other lessons of the process."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from media.live.limits import LinkLimits, LinkStats
from media.live.port import LiveClosed, LiveEvent, LiveSetup, ReplyAudio
from media.live.receiver import FRAMES_IN_A_ROW, Receiver
from media.live.recovery import Recovery
from media.live.sender import Sender
from tests.media.live.fake_live import FakeConnector


@pytest.mark.req("CARD-13")
async def test_others_get_their_turn_within_a_burst() -> None:
    emitted: list[LiveEvent] = []
    stats = LinkStats()
    sender = Sender(lambda: True, LinkLimits(), stats, lambda waited_s: None)
    receiver = Receiver(emitted.append, sender, Recovery(lambda: 0.0), stats)
    session = await FakeConnector().connect(LiveSetup(model="gemini-3.8-live", instruction=""))
    pieces = [ReplyAudio(bytes([n, 0])) for n in range(40)]
    for piece in pieces:
        session.say(piece)
    session.drop()
    between: list[int] = []

    async def another_lesson() -> None:
        while True:
            between.append(len(emitted))
            await asyncio.sleep(0)

    other = asyncio.create_task(another_lesson())
    with pytest.raises(LiveClosed):
        await receiver.run(session, lambda: True)
    other.cancel()
    assert emitted == pieces
    steps = [after - before for before, after in itertools.pairwise(between)]
    assert max(steps) == FRAMES_IN_A_ROW

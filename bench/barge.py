"""The learner talks over the tutor: from the first voiced packet sent to silence received."""

from __future__ import annotations

import asyncio
from collections import deque

from bench.arrivals import Yielding, loudness, yielding
from bench.learner import KEPT_PAYLOADS, Learner
from bench.sound import Repertoire
from media.opus import Decoder

# An utterance, the service's hold, and a generous delay.
REPLY_WITHIN_S = 12.0
# The tutor is talked over this long after the reply began; the watching ends after it.
INTO_REPLY_S, WATCHED_S = 0.8, 1.4
RATE = 16_000


async def interrupt(
    learner: Learner, repertoire: Repertoire, times: int, seed: int
) -> list[Yielding]:
    """Talks over the tutor so many times; each interruption is the question that is answered next.

    A reply that does not come counts as nothing seen.
    """
    loop = asyncio.get_running_loop()
    learner.say(repertoire.short[seed % len(repertoire.short)])
    seen: list[Yielding] = []
    for turn in range(times):
        learner.payloads = deque(maxlen=KEPT_PAYLOADS)
        try:
            if not await _reply(learner):
                seen.append(Yielding(None, None))
                learner.say(repertoire.short[(seed + turn) % len(repertoire.short)])
                continue
            # Not in step with the frames of either side.
            await asyncio.sleep(INTO_REPLY_S + 0.007 * (seed % 7))
            learner.say(repertoire.short[(seed + turn + 1) % len(repertoire.short)])
            await asyncio.sleep(WATCHED_S)
            seen.append(yielding(_levels(learner), learner.said_at, loop.time()))
        finally:
            learner.payloads = None
    return seen


async def _reply(learner: Learner) -> bool:
    """Waits until the tutor is heard and the learner is not."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + REPLY_WITHIN_S
    while loop.time() < deadline:
        heard = learner.payloads
        if learner.state == "speaking" and heard and not learner.saying:
            return True
        await asyncio.sleep(0.005)
    return False


def _levels(learner: Learner) -> list[tuple[float, float]]:
    decoder = Decoder(RATE)
    try:
        return [(at, loudness(decoder.decode(payload))) for at, payload in learner.payloads or ()]
    finally:
        decoder.close()

"""T27: whoever takes the microphone's sound stalls for 2 s. Queues are bounded, the oldest goes,
and what is said afterwards is not late."""

from __future__ import annotations

import asyncio

from media.inbound import HELD_MAX, Inbound
from media.live.link import LinkLimits
from tests.media.live.fake_live import linked, pcm
from tests.media.peers import packets, tone
from tests.virtual_time import run_virtual

STALL_S, LAG_S = 2.0, 0.2
BLOCK_SAMPLES, MESSAGE, RATE = 320, 640, 16_000


def test_t27_a_process_that_stalled_is_up_to_date_with_the_first_packet_after_it() -> None:
    """The socket gives 2 s of packets at once; none of them waits for the one after it."""
    tones = packets(tone(500, 48_000, 4.0))
    out: list[tuple[bytes, float]] = []
    inbound = Inbound(lambda block, at: out.append((block, at)))
    for n, payload in enumerate(tones):
        sent = 0.020 * n
        stalled = 0.5 <= sent < 0.5 + STALL_S
        at = 0.5 + STALL_S if stalled else sent
        before = len(out)
        if n != 60:  # one of them was lost
            inbound.packet(payload, n, 960 * n, at)
            if not stalled:
                inbound.tick(at + 0.001)
                assert len(out) > before
                assert out[-1][1] - sent < LAG_S
        assert len(inbound._held) <= HELD_MAX
    assert inbound.stats.lost == 1
    assert len(out) == len(tones)


def test_t27_a_session_that_stalled_gets_the_newest_second_and_is_up_to_date() -> None:
    async def main() -> None:
        async with linked(limits=LinkLimits(send_s=10.0)) as bench:
            session, link, number = bench.session, bench.link, 0
            flows, send = asyncio.Event(), session.send_audio

            async def send_audio(sound: bytes) -> None:
                await flows.wait()
                await send(sound)

            session.send_audio = send_audio
            flows.set()

            async def speak(seconds: float) -> None:
                nonlocal number
                for _ in range(round(seconds / 0.02)):
                    link.audio(pcm(BLOCK_SAMPLES, BLOCK_SAMPLES * number))
                    number += 1
                    await asyncio.sleep(0.02)

            await speak(0.4)
            flows.clear()
            await speak(STALL_S)
            assert len(session.sound) <= 0.4 * RATE * 2
            # A second waits, and the message that is stuck.
            dropped = round((STALL_S - 1.0) * RATE) - MESSAGE
            assert abs(link.stats.samples_dropped - dropped) <= 2 * MESSAGE
            flows.set()
            await speak(LAG_S)
            newest = pcm(MESSAGE, number * BLOCK_SAMPLES - round(LAG_S * RATE / 2))
            assert newest in bytes(session.sound)

    run_virtual(main())

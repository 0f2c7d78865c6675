"""Loss, reordering and DTX over a real connection: aiortc#543 must not come back."""

from __future__ import annotations

import asyncio

import pytest

from media.opus import has_fec
from tests.media.peers import call, loudness, packets, tone, until, voiced
from tests.media.peers import no_loop_errors as no_loop_errors

TONE = packets(tone(500, 48_000, 2.0))


class Delays:
    """Send time of each packet against the time its last block came out of the sink."""

    def __init__(self, server, client) -> None:
        self.server, self.client = server, client
        self.now = asyncio.get_running_loop().time

    async def run(self, payloads: list[bytes | None]) -> list[float]:
        delays = []
        start = self.now()
        for n, payload in enumerate(payloads):
            sent, before = self.now(), len(self.server.blocks)
            self.client.send(payload)
            if payload is not None:
                await asyncio.sleep(0.015)
                new = self.server.blocks[before:]
                delays.append(new[0][1] - sent if new else 1.0)
            await asyncio.sleep(max(0.0, start + 0.020 * (n + 1) - self.now()))
        return delays


@pytest.mark.parametrize("lost", [{30}, {20, 40, 60}], ids=["one", "three"])
async def test_loss_leaves_no_standing_delay(lost: set[int]) -> None:
    """T24, over a real connection."""
    async with call() as (server, client):
        await client.speak(TONE[:10])
        delays = await Delays(server, client).run(
            [None if n in lost else payload for n, payload in enumerate(TONE)]
        )
        # The stock buffer would hold every packet after the first loss for 280 ms. Medians,
        # because this machine may stall; exact times are in test_inbound.
        for part in (delays[:30], delays[-30:]):
            assert sorted(part)[len(part) // 2] < 0.010
        assert sum(delay == 1.0 for delay in delays[-30:]) <= 5
        stats = server.peer.stats()
        assert stats.lost == len(lost)
        assert stats.loss == pytest.approx(len(lost) / 110, rel=0.1)


async def test_swapped_packets_are_put_in_order() -> None:
    async with call() as (server, client):
        for n in range(0, 60, 2):
            client.sequence, client.timestamp = 100 + n + 1, 5000 + 960 * (n + 1)
            if n % 10 == 0:
                client.send(TONE[n + 1])
                client.sequence, client.timestamp = 100 + n, 5000 + 960 * n
                client.send(TONE[n])
            else:
                client.sequence, client.timestamp = 100 + n, 5000 + 960 * n
                client.send(TONE[n])
                client.send(TONE[n + 1])
            await asyncio.sleep(0.04)
        stats = server.peer.stats()
        # The very first packet of a stream cannot be known to be late.
        assert (stats.received, stats.lost) == (60, 0)
        assert stats.late <= 1
        loud = [pcm for pcm, _ in server.blocks if loudness(pcm) > 3000]
        assert len(loud) >= 57


async def test_fec_is_used_and_shown() -> None:
    sent = packets(voiced(48_000, 2.0), fec=True, loss_percent=20)
    lost = {n for n in range(10, 95, 7) if has_fec(sent[n + 1])}
    assert lost
    async with call() as (server, client):
        await client.speak([None if n in lost else payload for n, payload in enumerate(sent)])
        await until(lambda: server.peer.stats().fec == len(lost), "copies used")
        assert server.peer.stats().concealed == 0


async def test_dtx_is_silence_in_time() -> None:
    """Contiguous numbers, timestamps that jump by 400 ms."""
    async with call() as (server, client):
        await client.speak(TONE[:25])
        blocks = len(server.blocks)
        for _ in range(3):
            client.timestamp += 960 * 19
            await asyncio.sleep(0.4)
            client.send(TONE[0])
        await until(lambda: len(server.blocks) >= blocks + 60, "1.2 s of blocks")
        assert len(server.blocks) <= blocks + 64
        assert server.peer.stats().lost == 0


async def test_a_sender_that_stops_leaves_a_live_silence() -> None:
    async with call() as (server, client):
        await client.speak(TONE[:25])
        blocks = len(server.blocks)
        await asyncio.sleep(1.0)
        assert 40 <= len(server.blocks) - blocks <= 55
        assert loudness(server.blocks[-1][0]) == 0


async def test_a_new_source_is_followed() -> None:
    async with call() as (server, client):
        await client.speak(TONE[:10])
        client.hook._ssrc ^= 1
        client.sequence, client.timestamp = 60_000, 7
        await client.speak(TONE[10:20])
        stats = server.peer.stats()
        assert (stats.received, stats.lost, stats.late) == (20, 0, 0)


async def test_packets_of_a_stranger_are_refused() -> None:
    async with call() as (server, client):
        await client.speak(TONE[:3])
        hook = server.peer._voice._hook
        pair = client.hook._connection._nominated[1]
        pair.protocol.transport.sendto(b"\x80\x60" + bytes(60), pair.remote_addr)
        await until(lambda: hook.refused == 1, "refused")
        assert server.peer.stats().received == 3

"""Sound and messages between two real peers over loopback."""

from __future__ import annotations

import asyncio
import itertools

import numpy as np
import pytest
from av import AudioFrame

from media.inbound import BLOCK_BYTES
from media.opus import Decoder
from media.peer import PeerState
from tests.media.peers import call, loudness, packets, pitch, tone, until
from tests.media.peers import no_loop_errors as no_loop_errors


@pytest.mark.req("RTC-5")
async def test_learners_tone_reaches_the_sink_at_16_khz() -> None:
    async with call() as (server, client):
        await until(lambda: server.blocks, "silence before the first packet")
        server.blocks.clear()
        await client.speak(packets(tone(1000, 48_000, 1.0)))
        loud = [pcm for pcm, _ in server.blocks if loudness(pcm) > 1000]
        assert all(len(pcm) == BLOCK_BYTES for pcm, _ in server.blocks)
        assert abs(len(loud) * 20 - 1000) <= 20
        assert pitch(b"".join(loud), 16_000) == pytest.approx(1000, rel=0.01)
        assert server.peer.stats().received == 50


@pytest.mark.req("RTC-6")
async def test_reply_tone_reaches_the_browser_at_48_khz() -> None:
    async with call(raw_client=False) as (server, client):
        track, frames = client.transceiver.receiver.track, []

        async def listen() -> None:
            while True:
                frames.append(await track.recv())

        listening = asyncio.create_task(listen())
        server.reply += [tone(440, 24_000, 2.0)[i : i + 960] for i in range(0, 96_000, 960)]
        await until(lambda: len(frames) >= 90, "frames at the browser")
        listening.cancel()
        await asyncio.wait([listening])
    assert all(isinstance(f, AudioFrame) and f.sample_rate == 48_000 for f in frames)
    assert {b.pts - a.pts for a, b in itertools.pairwise(frames)} == {960}
    left = np.concatenate([f.to_ndarray()[0][::2] for f in frames[5:]]).tobytes()
    assert pitch(left, 48_000) == pytest.approx(440, rel=0.01)
    assert loudness(left) == pytest.approx(9000 / 2**0.5, rel=0.15)


async def test_messages_travel_both_ways() -> None:
    async with call() as (server, client):
        await until(lambda: client.channel.readyState == "open", "open at the browser")
        client.channel.send("hello")
        await until(lambda: server.messages == ["hello"], "message at the server")
        assert server.peer.send("grüezi")
        await until(lambda: client.messages == ["grüezi"], "message at the browser")
        assert server.opened == 1
        assert server.states == [PeerState.CONNECTED]


async def test_nothing_is_sent_while_the_tutor_is_silent() -> None:
    async with call() as (server, client):
        server.reply += [tone(440, 24_000, 0.02)] * 5
        await until(lambda: server.peer.stats().sent == 7, "five frames and the tail")
        await asyncio.sleep(0.1)
        assert server.peer.stats().sent == 7
        first = [payload for payload, _, _ in client.received]
        assert len(first) == 7
        decoder = Decoder(48_000)
        assert [len(decoder.decode(p)) for p in first] == [1920] * 7

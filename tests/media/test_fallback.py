"""The public-API path: switched on by a setting, or used by a peer without Opus."""

from __future__ import annotations

import asyncio
import re
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from aiortc import MediaStreamTrack, rtp
from av import AudioFrame, Packet

from media.fallback import QUEUE_PACKETS, PlainVoice, QueueTrack
from media.peer import PeerState
from media.plane import MediaPlane
from tests.media.peers import Client, Server, join, loudness, packets, pitch, tone, until
from tests.media.peers import no_loop_errors as no_loop_errors


class ToneTrack(MediaStreamTrack):
    """A microphone for the stock sender: 48 kHz mono frames in real time."""

    kind = "audio"

    def __init__(self) -> None:
        super().__init__()
        self.pcm, self.n, self.start = tone(1000, 48_000, 10.0), 0, 0.0

    async def recv(self) -> AudioFrame:
        loop = asyncio.get_running_loop()
        self.start = self.start or loop.time()
        await asyncio.sleep(max(0.0, self.start + 0.020 * self.n - loop.time()))
        frame = AudioFrame(format="s16", layout="mono", samples=960)
        frame.planes[0].update(self.pcm[1920 * self.n : 1920 * self.n + 1920])
        frame.sample_rate, frame.pts = 48_000, 960 * self.n
        frame.time_base = Fraction(1, 48_000)
        self.n += 1
        return frame


async def _listen(track: MediaStreamTrack, frames: list[AudioFrame]) -> None:
    while True:
        frames.append(await track.recv())


async def _talk(plane: MediaPlane, strip: str | None) -> tuple[Server, list[AudioFrame]]:
    """One call with a stock client; both sides hear the other's tone. `strip`: codec removed."""
    server, client, frames = Server(plane), Client(track=ToneTrack()), []
    with mock.patch("aioice.ice.get_host_addresses", return_value=["127.0.0.1"]):
        offer = await client.offer()
        if strip:
            pt = re.search(rf"a=rtpmap:(\d+) {strip}/48000/2\r\n", offer)[1]
            offer = offer.replace(f"SAVPF {pt} ", "SAVPF ")
            offer = re.sub(rf"a=rtpmap:{pt} .*\r\n", "", offer)
        answer = await server.peer.answer(offer)
    await client.accept(answer, raw=False)
    await until(lambda: server.peer.state is PeerState.CONNECTED, "connected")
    listening = asyncio.create_task(_listen(client.transceiver.receiver.track, frames))
    server.reply += [tone(440, 24_000, 3.0)[i : i + 960] for i in range(0, 144_000, 960)]
    await until(lambda: sum(loudness(pcm) > 1000 for pcm, _ in server.blocks) > 60, "learner heard")
    await until(lambda: len(frames) > 60, "tutor heard")
    client.channel.send("hi")
    await until(lambda: server.messages == ["hi"], "message")
    stats = server.peer.stats()
    assert stats.received > 60
    assert stats.sent > 60
    listening.cancel()
    await asyncio.wait([listening])
    await client.close()
    await until(lambda: server.peer.state is PeerState.LOST, "goodbye noticed")
    await server.peer.close()
    return server, frames


def _mono(frames: list[AudioFrame]) -> bytes:
    step = len(frames[0].layout.channels)
    return np.concatenate([f.to_ndarray()[0][::step] for f in frames]).tobytes()


@pytest.mark.req("RTC-5", "RTC-6")
async def test_the_public_api_carries_both_directions() -> None:
    async with MediaPlane(host="127.0.0.1", udp_port=0, raw_hooks=False) as plane:
        assert plane.udp_port is None
        with mock.patch(
            "aiortc.rtp.compute_audio_level_dbov", wraps=rtp.compute_audio_level_dbov
        ) as level:
            server, frames = await _talk(plane, None)
    # Our own encoder: the library's level loop saw the client's frames only (960 samples).
    assert {call.args[0].samples for call in level.call_args_list} == {960}
    loud = [pcm for pcm, _ in server.blocks if loudness(pcm) > 1000]
    assert pitch(b"".join(loud[5:60]), 16_000) == pytest.approx(1000, rel=0.01)
    assert pitch(_mono(frames[5:60]), 48_000) == pytest.approx(440, rel=0.01)


@pytest.mark.req("VOICE-40", "GOTCHA-5")
async def test_a_peer_without_opus_is_served() -> None:
    async with MediaPlane(host="127.0.0.1", udp_port=0) as plane:
        server, frames = await _talk(plane, "opus")
    rate = frames[0].sample_rate
    assert rate in (8_000, 16_000)
    loud = [pcm for pcm, _ in server.blocks if loudness(pcm) > 1000]
    assert {len(pcm) for pcm, _ in server.blocks} == {640}
    assert pitch(b"".join(loud[5:60]), 16_000) == pytest.approx(1000, rel=0.01)
    assert pitch(_mono(frames[5:60]), rate) == pytest.approx(440, rel=0.01)


async def test_no_level_loop_and_no_executor_on_our_path() -> None:
    """pcm -> packet costs the library 119 to 450 us of Python per frame; ours never goes there."""
    loop = asyncio.get_running_loop()
    async with MediaPlane(host="127.0.0.1", udp_port=0) as plane:
        server, client = Server(plane), Client()
        with (
            mock.patch("aiortc.rtp.compute_audio_level_dbov") as level,
            mock.patch.object(loop, "run_in_executor") as executor,
        ):
            await join(server, client)
            server.reply += [tone(440, 24_000, 0.02)] * 20
            await client.speak(packets(tone(500, 48_000, 0.5)))
            await until(lambda: len(client.received) >= 20, "reply")
        level.assert_not_called()
        executor.assert_not_called()
        await client.close()


async def test_the_queue_drops_the_oldest() -> None:
    track = QueueTrack()
    offered = []
    for n in range(QUEUE_PACKETS + 3):
        packet = Packet(bytes([n]))
        offered.append(track.offer(packet))
    assert offered == [True] * QUEUE_PACKETS + [False] * 3
    assert bytes(await track.recv()) == bytes([3])
    track.stop()


@pytest.mark.parametrize("opus", [True, False])
async def test_presentation_times_follow_the_ticks(opus: bool) -> None:
    pattern = [True, True, False, False, False, False, True]
    frames = iter(pattern)
    pcm = tone(440, 24_000, 0.02)
    voice = PlainVoice(lambda *_: None, lambda at: pcm if next(frames) else None, opus=opus)
    for n in range(len(pattern)):
        voice.tick(n * 0.020)
    times = []
    while not voice.track._queue.empty():
        data = await voice.track.recv()
        times.append(Fraction(data.pts) * Fraction(data.time_base))
    # Two spoken, two of tail, a pause, one spoken.
    assert times == [Fraction(n, 50) for n in (0, 1, 2, 3, 6)]
    assert voice.sent.sent == 5
    await voice.close()
    await voice.close()

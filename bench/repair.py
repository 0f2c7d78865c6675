"""Delay that stays after packets were lost: two real peers in one process, counted in blocks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from unittest import mock

from aiortc import (
    RTCBundlePolicy,
    RTCConfiguration,
    RTCPeerConnection,
    RTCSessionDescription,
)

from bench.figures import quantile
from bench.process import ProcessBroken
from bench.sound import Frame
from media.hooks import AudioHook
from media.peer import Peer, PeerState
from media.plane import MediaPlane
from media.voice import ParkedTrack

CONNECT_S = 10.0
BLOCK_S = 0.020
WARM, BEFORE, AFTER = 10, 40, 60  # packets
# The budget: back to baseline within this after the loss.
SETTLED = 5  # packets, 100 ms
LOSSES = {"one": {0}, "five in a row": set(range(5)), "every third of ten": {0, 3, 6, 9}}
OPUS = 96


@dataclass(frozen=True, slots=True)
class Standing:
    """Median delay (s) of a packet to its block: before the loss, and after the settling time."""

    before_s: float
    after_s: float


async def standing_delays(packets: Sequence[Frame]) -> dict[str, Standing]:
    """By pattern of loss. Raises ProcessBroken when the peers do not connect."""
    found = {}
    for name, lost in LOSSES.items():
        found[name] = await _one(packets, lost)
    return found


async def _one(packets: Sequence[Frame], lost: set[int]) -> Standing:
    loop = asyncio.get_running_loop()
    heard: list[float] = []
    async with MediaPlane(host="127.0.0.1", udp_port=0) as plane:
        peer = plane.peer(
            on_audio=lambda pcm, at: heard.append(loop.time()),
            pull=lambda at: None,
            on_message=lambda text: None,
            on_state=lambda state: None,
        )
        connection = RTCPeerConnection(
            RTCConfiguration(iceServers=[], bundlePolicy=RTCBundlePolicy.MAX_BUNDLE)
        )
        try:
            hook = await _connect(connection, peer)
            delays = await _delays(hook, heard, packets, lost)
        finally:
            await connection.close()
            await peer.close()
    span = max(lost) + 1
    before = quantile(delays[:BEFORE], 0.5)
    after = quantile(delays[BEFORE + span + SETTLED :], 0.5)
    assert before is not None
    assert after is not None
    return Standing(before, after)


async def _connect(connection: RTCPeerConnection, peer: Peer) -> AudioHook:
    audio = connection.addTransceiver(ParkedTrack(), "sendrecv")
    with mock.patch("aioice.ice.get_host_addresses", return_value=["127.0.0.1"]):
        await connection.setLocalDescription()
    answer = await peer.answer(connection.localDescription.sdp)
    hook = AudioHook(audio, OPUS, lambda *_: None)
    hook.attach()
    await connection.setRemoteDescription(RTCSessionDescription(answer, "answer"))
    await _until(lambda: peer.state is PeerState.CONNECTED, "connection")
    await _until(lambda: connection.connectionState == "connected", "connection")
    return hook


async def _until(fact: Callable[[], object], what: str) -> None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + CONNECT_S
    while not fact():
        if loop.time() > deadline:
            raise ProcessBroken(f"two peers in one process: no {what} within {CONNECT_S:g} s")
        await asyncio.sleep(0.002)


async def _delays(
    hook: AudioHook, heard: list[float], packets: Sequence[Frame], lost: set[int]
) -> list[float]:
    """Of each packet: until as many blocks came as packets were due, itself included.

    Blocks made up for a loss count as blocks; one that never comes counts as a whole second.
    """
    loop = asyncio.get_running_loop()
    sent: list[float] = []
    start, base = loop.time() + BLOCK_S * WARM, 0
    for n in range(-WARM, BEFORE + max(lost) + 1 + AFTER):
        if n == 0:  # from here on one block a packet: the clock makes no silence any more
            base = len(heard)
        if n >= 0:
            sent.append(loop.time())
        if n - BEFORE not in lost:
            hook.send(packets[n % len(packets)].payload, 100 + n, 50_000 + 960 * n, False)
        await asyncio.sleep(max(0.0, start + BLOCK_S * (n + 1) - loop.time()))
    await asyncio.sleep(5 * BLOCK_S)
    blocks = heard[base:]
    return [blocks[n] - at if n < len(blocks) else 1.0 for n, at in enumerate(sent)]

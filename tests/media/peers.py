"""A browser's end for tests: a real aiortc peer over loopback whose packets the test decides."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import random
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import numpy as np
import pytest
from aiortc import (
    RTCBundlePolicy,
    RTCConfiguration,
    RTCPeerConnection,
    RTCSessionDescription,
)

from media.hooks import AudioHook, connection_of
from media.opus import Encoder
from media.peer import Peer, PeerState
from media.plane import MediaPlane
from media.voice import ParkedTrack

DEADLINE_S = 10.0
# Up to so late (s) a message of the channel is shown to a test: `LATE_S=0.12 make test` finds tests
# that take two messages, or a message and an answer, to come in one order.
LATE_S = float(os.environ.get("LATE_S", "0"))


def tone(hertz: float, rate: int, seconds: float, level: int = 9000) -> bytes:
    t = np.arange(int(rate * seconds)) / rate
    return bytes((level * np.sin(2 * np.pi * hertz * t)).astype("<i2").tobytes())


def voiced(rate: int, seconds: float) -> bytes:
    """Something that Opus takes for speech (a gliding buzz in syllables), so that FEC works."""
    t = np.arange(int(rate * seconds)) / rate
    phase = np.cumsum(2 * np.pi * (120 + 20 * np.sin(4 * np.pi * t)) / rate)
    x = sum(np.sin(k * phase) / k for k in range(1, 20)) * np.abs(np.sin(6 * np.pi * t))
    return bytes((9000 * x / np.max(np.abs(x))).astype("<i2").tobytes())


def pitch(pcm: bytes, rate: int) -> float:
    """The strongest frequency, in Hz."""
    x = np.frombuffer(pcm, "<i2").astype(float)
    spectrum = np.abs(np.fft.rfft(x * np.hanning(len(x)), 4 * len(x)))
    return float(np.argmax(spectrum) * rate / (4 * len(x)))


def loudness(pcm: bytes) -> float:
    x = np.frombuffer(pcm, "<i2").astype(float)
    return float(np.sqrt(np.mean(x * x))) if len(x) else 0.0


def packets(pcm: bytes, rate: int = 48_000, **settings: Any) -> list[bytes]:
    """20 ms Opus packets as a browser makes them (VOIP)."""
    settings = {"application": "voip", "bitrate": 32_000, **settings}
    encoder, size = Encoder(rate, **settings), rate // 50 * 2
    return [encoder.encode(pcm[i : i + size]) for i in range(0, len(pcm) - size + 1, size)]


@pytest.fixture(autouse=True)
def no_loop_errors(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """For every module that imports it: what the loop complains about fails the test."""
    yield
    gc.collect()
    records = [r for r in caplog.get_records("call") if r.name == "asyncio"]
    assert [r.getMessage() for r in records if r.levelno >= logging.WARNING] == []


async def until(condition: Callable[[], object], what: str, within: float = DEADLINE_S) -> None:
    """Waits for a fact, bounded; never a fixed sleep."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + within
    while not condition():
        assert loop.time() < deadline, f"did not happen within {within} s: {what}"
        await asyncio.sleep(0.005)


@dataclass
class Server:
    """What a lesson would see of its peer."""

    plane: MediaPlane
    blocks: list[tuple[bytes, float]] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    states: list[PeerState] = field(default_factory=list)
    reply: list[bytes] = field(default_factory=list)
    opened: int = 0

    def __post_init__(self) -> None:
        self.peer: Peer = self.plane.peer(
            on_audio=lambda pcm, at: self.blocks.append((pcm, at)),
            pull=lambda at: self.reply.pop(0) if self.reply else None,
            on_message=self.messages.append,
            on_state=self.states.append,
        )
        self.peer.on_channel_open = self._open

    def _open(self) -> None:
        self.opened += 1

    @property
    def heard(self) -> bytes:
        return b"".join(pcm for pcm, _ in self.blocks)


class Client:
    """`send` puts one packet on the wire: the test owns sequence numbers and timestamps."""

    def __init__(self, *, track: Any = None, channel: bool = True) -> None:
        self.pc = RTCPeerConnection(
            RTCConfiguration(iceServers=[], bundlePolicy=RTCBundlePolicy.MAX_BUNDLE)
        )
        self.transceiver = self.pc.addTransceiver(track or ParkedTrack(), "sendrecv")
        self.channel = self.pc.createDataChannel("chat") if channel else None
        self.messages: list[Any] = []
        if self.channel is not None:
            self.channel.on("message", self._arrives)
        self._due = 0.0
        self.received: list[tuple[bytes, int, int]] = []
        self.sequence, self.timestamp = 100, 5000
        self.hook: AudioHook | None = None

    def _arrives(self, message: Any) -> None:
        if not LATE_S:
            self.told(message)
            return
        loop = asyncio.get_running_loop()
        self._due = max(self._due + 1e-4, loop.time() + random.uniform(0, LATE_S))
        loop.call_at(self._due, self.told, message)

    def told(self, message: Any) -> None:
        self.messages.append(message)

    async def offer(self) -> str:
        with mock.patch("aioice.ice.get_host_addresses", return_value=["127.0.0.1"]):
            await self.pc.setLocalDescription()
        return self.pc.localDescription.sdp

    async def accept(self, answer: str, *, raw: bool = True) -> None:
        if raw:
            self.hook = AudioHook(self.transceiver, 96, self._packet)
            self.hook.attach()
        await self.pc.setRemoteDescription(RTCSessionDescription(answer, "answer"))

    def _packet(self, payload: bytes, sequence: int, timestamp: int, ssrc: int) -> None:
        self.received.append((payload, sequence, timestamp))

    def send(self, payload: bytes | None, step: int = 960) -> None:
        """The next packet in order; None skips it (lost on the way)."""
        assert self.hook is not None
        if payload is not None:
            assert self.hook.send(payload, self.sequence & 0xFFFF, self.timestamp, False)
        self.sequence += 1
        self.timestamp += step

    async def speak(self, payloads: list[bytes | None]) -> None:
        """In real time: one packet per 20 ms."""
        loop = asyncio.get_running_loop()
        start = loop.time()
        for n, payload in enumerate(payloads):
            self.send(payload)
            await asyncio.sleep(max(0.0, start + 0.020 * (n + 1) - loop.time()))

    def vanish(self) -> None:
        """The machine is gone: its socket closes and nobody says goodbye."""
        for protocol in connection_of(self.transceiver)._protocols:
            protocol.transport.abort()

    async def close(self) -> None:
        await self.pc.close()


async def join(server: Server, client: Client, *, raw: bool = True) -> str:
    """Offer, answer, connected, channel open. Returns the answer."""
    answer = await server.peer.answer(await client.offer())
    await client.accept(answer, raw=raw)
    await until(lambda: server.peer.state is PeerState.CONNECTED, "server connected")
    await until(lambda: client.pc.connectionState == "connected", "client connected")
    if client.channel is not None:
        await until(lambda: server.peer.channel_open, "channel open")
    return answer


@asynccontextmanager
async def call(**settings: Any) -> AsyncIterator[tuple[Server, Client]]:
    """A connected pair; everything is closed at the end, loop errors fail the test."""
    problems: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))
    raw = settings.pop("raw_client", True)
    track = settings.pop("track", None)
    async with MediaPlane(host="127.0.0.1", udp_port=0, **settings) as plane:
        server, client = Server(plane), Client(track=track)
        try:
            await join(server, client, raw=raw)
            yield server, client
        finally:
            await client.close()
            await server.peer.close()
    assert problems == []

"""A learner's page without a browser, cheap enough for 32 on a core: packets are made beforehand,
the tutor's are counted and not decoded."""

from __future__ import annotations

import asyncio
import json
import random
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any
from unittest import mock

from aiortc import (
    RTCBundlePolicy,
    RTCConfiguration,
    RTCPeerConnection,
    RTCSessionDescription,
)

from bench.arrivals import Arrival
from bench.house import House
from bench.process import ProcessBroken
from bench.sound import Frame
from media import audio_level
from media.hooks import AudioHook, connection_of
from media.pacer import Pacer
from media.voice import ParkedTrack

JOIN_S = 20.0
CLOSE_S = 5.0
OPUS = 96  # aiortc's payload type for Opus in an offer
PING_TICKS = 50  # the client says something once a second
KEPT = 20_000  # arrivals
KEPT_PAYLOADS = 500  # ten seconds

_PING = json.dumps({"label": "rtvi-ai", "type": "client-message", "id": "1", "data": {"t": "ping"}})


class Learner:
    """One lesson. `round` is what the microphone sends again and again, `room` what it sends
    without one; `say` puts an utterance before both."""

    def __init__(
        self, house: House, token: str, topic_id: str, room: Sequence[Frame], seed: int
    ) -> None:
        self._house, self._token, self._topic_id = house, token, topic_id
        self._room = room
        self._random = random.Random(seed)
        self._loop = asyncio.get_running_loop()
        self._pc = RTCPeerConnection(
            RTCConfiguration(iceServers=[], bundlePolicy=RTCBundlePolicy.MAX_BUNDLE)
        )
        self._transceiver = self._pc.addTransceiver(ParkedTrack(), "sendrecv")
        self._channel = self._pc.createDataChannel("chat")
        self._channel.on("message", self._message)
        self._hook: AudioHook | None = None
        self._leave: Callable[[], None] = lambda: None
        self._sequence, self._timestamp, self._ticks = seed % 1000, seed * 960, 0
        self._saying: deque[Frame] = deque()
        self.round: Sequence[Frame] = ()
        self.position = 0
        self.microphone_on = True
        self.loss = 0.0
        self.said_at = 0.0
        self.state = ""
        self.turns = 0
        self.peer_id = ""
        self.arrivals: deque[Arrival] = deque(maxlen=KEPT)
        self.payloads: deque[tuple[float, bytes]] | None = None
        self.answer_s = self.connected_s = 0.0

    # --- life -----------------------------------------------------------------------------------

    async def join(self, pacer: Pacer) -> None:
        """From the tap to `listening`. Raises ProcessBroken."""
        with mock.patch("aioice.ice.get_host_addresses", return_value=["127.0.0.1"]):
            await self._pc.setLocalDescription()
        began = self._loop.time()
        body = {
            "sdp": self._pc.localDescription.sdp,
            "type": "offer",
            "requestData": {"sessionId": str(uuid.uuid4()), "topicId": self._topic_id},
        }
        answer = await self._house.ask("POST", "/api/offer", self._token, body)
        self.answer_s = self._loop.time() - began
        self.peer_id = answer["pc_id"]
        self._hook = AudioHook(self._transceiver, OPUS, self._packet)
        self._hook.attach()
        await self._pc.setRemoteDescription(RTCSessionDescription(answer["sdp"], "answer"))
        await self._until(lambda: self._pc.connectionState == "connected", "connection")
        self.connected_s = self._loop.time() - began
        self._leave = pacer.add(self._tick)
        await self._until(lambda: self._channel.readyState == "open", "data channel")
        ready = {"version": "2.1.0", "about": {"library": "bench"}}
        self._channel.send(
            json.dumps({"label": "rtvi-ai", "type": "client-ready", "id": "1", "data": ready})
        )
        await self._until(lambda: self.state == "listening", "listening")

    async def _until(self, fact: Callable[[], object], what: str) -> None:
        deadline = self._loop.time() + JOIN_S
        while not fact():
            if self._loop.time() > deadline:
                raise ProcessBroken(f"a learner got no {what} within {JOIN_S:g} s")
            await asyncio.sleep(0.002)

    async def leave(self) -> None:
        """Closes the page: goodbye to the server and to the connection."""
        self._leave()
        if self.peer_id:
            body = {"pc_id": self.peer_id}
            await self._house.ask("POST", "/api/rtcClose", self._token, body)
        await self.drop()

    async def drop(self) -> None:
        """Frees this end without a word to the server. Idempotent."""
        self._leave()
        async with asyncio.timeout(CLOSE_S):
            await self._pc.close()

    def vanish(self) -> None:
        """The machine is gone: its socket closes and nobody says goodbye."""
        self._leave()
        for protocol in connection_of(self._transceiver)._protocols:
            protocol.transport.abort()

    # --- sound ----------------------------------------------------------------------------------

    def say(self, packets: Sequence[Frame]) -> None:
        """From the next tick on; `said_at` is then the time its first packet left."""
        self._saying = deque(packets)
        self.said_at = 0.0

    @property
    def saying(self) -> bool:
        return bool(self._saying)

    def _tick(self, at: float) -> None:
        self._ticks += 1
        if self._ticks % PING_TICKS == 0 and self._channel.readyState == "open":
            self._channel.send(_PING)
        frame = self._next()
        sent = self.microphone_on and not (self.loss and self._random.random() < self.loss)
        if sent and self._hook is not None:
            self._send(self._hook, frame)
        if self.microphone_on:
            self._sequence += 1
        self._timestamp += 960

    def _send(self, hook: AudioHook, frame: Frame) -> None:
        sequence, timestamp = self._sequence & 0xFFFF, self._timestamp & 0xFFFF_FFFF
        told = b""
        if hook.level_id is not None:
            told = audio_level.extension(frame.level, hook.level_id)
        hook.send(frame.payload, sequence, timestamp, False, told)

    def _next(self) -> Frame:
        if self._saying:
            if not self.said_at:
                self.said_at = self._loop.time()
            return self._saying.popleft()
        self.position += 1
        sounds = self.round or self._room
        return sounds[self.position % len(sounds)]

    def _packet(self, payload: bytes, sequence: int, timestamp: int, ssrc: int) -> None:
        at = self._loop.time()
        self.arrivals.append(Arrival(at, sequence, timestamp))
        if self.payloads is not None:
            self.payloads.append((at, payload))

    # --- messages -------------------------------------------------------------------------------

    def _message(self, text: str) -> None:
        if '"activity"' in text:
            return
        message: dict[str, Any] = json.loads(text)
        data = message.get("data")
        if message.get("type") == "server-message" and isinstance(data, dict):
            if data.get("type") == "status":
                self.state = str(data["state"])
            elif data.get("type") == "turn":
                self.turns += 1

"""The other end of rtc_shim.js: a WebSocket of PCM and JSON on one side, a real aiortc peer that
the server under test answers on the other. A route that only the tests add."""

from __future__ import annotations

import asyncio
import contextlib
import fractions
import json
from typing import Any

import numpy as np
from aiohttp import WSMsgType, web
from aiortc import (
    MediaStreamTrack,
    RTCConfiguration,
    RTCDataChannel,
    RTCPeerConnection,
    RTCSessionDescription,
)
from aiortc.mediastreams import MediaStreamError
from av import AudioFrame
from av.audio.resampler import AudioResampler

RATE = 48_000
BLOCK = 960
# Two seconds of microphone: a stalled peer drops the newest.
QUEUE_MAX = 100


class Microphone(MediaStreamTrack):
    kind = "audio"

    def __init__(self) -> None:
        super().__init__()
        self.queue: asyncio.Queue[np.ndarray] = asyncio.Queue(QUEUE_MAX)
        self._rest = np.zeros(0, np.int16)
        self._pts = 0

    def put(self, pcm: bytes) -> None:
        with contextlib.suppress(asyncio.QueueFull):
            self.queue.put_nowait(np.frombuffer(pcm, np.int16))

    async def recv(self) -> AudioFrame:
        while len(self._rest) < BLOCK:
            self._rest = np.concatenate([self._rest, await self.queue.get()])
        block, self._rest = self._rest[:BLOCK], self._rest[BLOCK:]
        frame = AudioFrame.from_ndarray(block.reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate, frame.pts = RATE, self._pts
        frame.time_base = fractions.Fraction(1, RATE)
        self._pts += BLOCK
        return frame


class Bridge:
    def __init__(self, socket: web.WebSocketResponse) -> None:
        self._socket = socket
        self._peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self._microphone = Microphone()
        self._channels: dict[str, RTCDataChannel] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._peer.on("track", lambda track: self._spawn(self._play(track)))
        self._peer.on("connectionstatechange", self._tell_state)

    def _spawn(self, coroutine: Any) -> None:
        task = asyncio.ensure_future(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(ConnectionError):
            await self._socket.send_json(message)

    def _tell_state(self) -> None:
        self._spawn(self._send({"op": "state", "state": self._peer.connectionState}))

    async def _play(self, track: MediaStreamTrack) -> None:
        resampler = AudioResampler(format="s16", layout="mono", rate=RATE)
        with contextlib.suppress(MediaStreamError, ConnectionError):
            while True:
                for frame in resampler.resample(await track.recv()):
                    await self._socket.send_bytes(frame.to_ndarray().tobytes())

    def _open(self, label: str) -> None:
        channel = self._channels[label] = self._peer.createDataChannel(label)

        def tell(message: dict[str, Any]) -> None:
            self._spawn(self._send({**message, "label": label}))

        channel.on("open", lambda: tell({"op": "open"}))
        channel.on("close", lambda: tell({"op": "close"}))
        channel.on("message", lambda text: tell({"op": "text", "data": text}))

    async def handle(self, message: dict[str, Any]) -> None:
        match message["op"]:
            case "offer":
                self._peer.addTrack(self._microphone)
                for label in message["labels"]:
                    self._open(label)
                await self._peer.setLocalDescription(await self._peer.createOffer())
                sdp = self._peer.localDescription.sdp
                await self._send({"op": "sdp", "type": "offer", "sdp": sdp})
            case "answer":
                await self._peer.setRemoteDescription(
                    RTCSessionDescription(message["sdp"], "answer")
                )
            case "text":
                self._channels[message["label"]].send(message["data"])

    def hear(self, pcm: bytes) -> None:
        self._microphone.put(pcm)

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._peer.close()


async def gateway(request: web.Request) -> web.WebSocketResponse:
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    bridge = Bridge(socket)
    try:
        async for message in socket:
            if message.type == WSMsgType.BINARY:
                bridge.hear(message.data)
            elif message.type == WSMsgType.TEXT:
                await bridge.handle(json.loads(message.data))
    finally:
        await bridge.close()
    return socket

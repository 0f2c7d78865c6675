"""The audio of one peer behind one port: raw packets here, the public API in `fallback`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from aiortc import MediaStreamTrack, RTCRtpTransceiver

from media.hooks import AudioHook, Reception
from media.inbound import Inbound, InboundStats, Sink
from media.outbound import Outbound, OutboundStats, Pull

REPORT_TICKS = 50  # once a second: sender report, loss of the way back


class Voice(Protocol):
    """What a Peer needs of its audio. Ticks start once the peer is connected."""

    track: MediaStreamTrack

    def attach(self, transceiver: RTCRtpTransceiver) -> None:
        """Before the connection starts, once both directions are known."""

    def tick(self, at: float) -> None:
        """Every 20 ms."""

    @property
    def last_packet_at(self) -> float | None: ...

    @property
    def received(self) -> InboundStats: ...

    @property
    def sent(self) -> OutboundStats: ...

    def reception(self) -> Reception: ...

    async def close(self) -> None:
        """Idempotent."""


class ParkedTrack(MediaStreamTrack):
    """Gives the library's sender a track (SDP, SSRC and RTCP stay its own) and never a frame."""

    kind = "audio"

    async def recv(self) -> object:  # type: ignore[override]
        return await asyncio.get_running_loop().create_future()


class RawVoice:
    """Opus packets straight between the socket and `Inbound`/`Outbound`."""

    def __init__(self, on_audio: Sink, pull: Pull, payload_type: int) -> None:
        self.track: MediaStreamTrack = ParkedTrack()
        self._payload_type = payload_type
        self._inbound = Inbound(on_audio)
        self._outbound = Outbound(pull, self._send)
        self._hook: AudioHook | None = None
        self._transceiver: RTCRtpTransceiver | None = None
        self._now: Callable[[], float] = asyncio.get_running_loop().time
        self._stream: int | None = None
        self._closed = False

    def attach(self, transceiver: RTCRtpTransceiver) -> None:
        self._transceiver = transceiver
        self._hook = AudioHook(transceiver, self._payload_type, self._packet)
        self._hook.attach()

    def tick(self, at: float) -> None:
        self._inbound.tick(at)
        self._outbound.tick(at)
        if self._hook is not None and self._outbound.stats.ticks % REPORT_TICKS == 1:
            self._hook.report(self._outbound.timestamp)
            self._outbound.adapt(self._hook.reception().loss or 0.0)

    @property
    def last_packet_at(self) -> float | None:
        return self._inbound.last_packet_at

    @property
    def received(self) -> InboundStats:
        return self._inbound.stats

    @property
    def sent(self) -> OutboundStats:
        return self._outbound.stats

    def reception(self) -> Reception:
        return Reception() if self._hook is None else self._hook.reception()

    async def close(self) -> None:
        self._closed = True
        self._inbound.close()
        self._outbound.close()
        self._hook = self._transceiver = None

    def _packet(self, payload: bytes, sequence: int, timestamp: int, ssrc: int) -> None:
        if self._closed:
            return
        at = self._now()
        if ssrc != self._stream:
            if self._stream is not None:
                self._inbound.restart(at)
            self._stream = ssrc
        level = None if self._hook is None else self._hook.level
        self._inbound.packet(payload, sequence, timestamp, at, level)

    def _send(self, payload: bytes, sequence: int, timestamp: int, marker: bool) -> bool:
        hook, transceiver = self._hook, self._transceiver
        if hook is None or transceiver is None:
            return False
        if transceiver.currentDirection not in ("sendrecv", "sendonly"):
            return False
        return hook.send(payload, sequence, timestamp, marker)

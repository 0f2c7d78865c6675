"""The audio of a peer through the public API: for `raw_hooks=False` and peers without Opus.

Receiving goes through the library's jitter buffer and decoder thread (80 ms and more); sending
hands it our own Opus packets, or frames to encode where the peer speaks G.711/G.722 only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

from aiortc import MediaStreamTrack, RTCRtpTransceiver
from aiortc.mediastreams import MediaStreamError
from av import AudioFrame, Packet

from media.hooks import Reception
from media.inbound import RATE, Blocks, InboundStats, Sink
from media.outbound import FRAME_BYTES, Outbound, OutboundStats, Pull
from media.resample import StreamResampler, downmix

QUEUE_PACKETS = 10  # 200 ms; the oldest is dropped

Media: TypeAlias = "Packet[Any] | AudioFrame"

_OPUS_BASE = Fraction(1, 48_000)
_PCM_RATE = 24_000


class QueueTrack(MediaStreamTrack):
    """A track whose packets come from the pacer; the sender waits for the next one."""

    kind = "audio"

    def __init__(self) -> None:
        super().__init__()
        self._queue: asyncio.Queue[Media] = asyncio.Queue(QUEUE_PACKETS)

    def offer(self, data: Media) -> bool:
        """Queues; False when the oldest had to go."""
        room = not self._queue.full()
        if not room:
            self._queue.get_nowait()
        self._queue.put_nowait(data)
        return room

    async def recv(self) -> Media:
        if self.readyState != "live":
            raise MediaStreamError
        return await self._queue.get()


class PlainVoice:
    """`Voice` over RTCRtpSender and RemoteStreamTrack."""

    def __init__(self, on_audio: Sink, pull: Pull, *, opus: bool) -> None:
        self._track = QueueTrack()
        self.track: MediaStreamTrack = self._track
        self._opus = opus
        self._stats = InboundStats()
        self._blocks = Blocks(on_audio, self._stats)
        self._outbound = Outbound(pull, self._send, None if opus else bytes)
        self._origin = self._outbound.timestamp
        self._now: Callable[[], float] = asyncio.get_running_loop().time
        self._receiving: asyncio.Task[None] | None = None
        self._resampler: tuple[int, StreamResampler] | None = None
        self.last_packet_at: float | None = None

    def attach(self, transceiver: RTCRtpTransceiver) -> None:
        if transceiver.receiver.track is not None:
            self._receiving = asyncio.create_task(
                self._receive(transceiver.receiver.track), name="voice:receive"
            )

    def tick(self, at: float) -> None:
        self._blocks.tick(at)
        self._outbound.tick(at)

    @property
    def received(self) -> InboundStats:
        return self._stats

    @property
    def sent(self) -> OutboundStats:
        return self._outbound.stats

    def reception(self) -> Reception:
        return Reception()

    async def close(self) -> None:
        task, self._receiving = self._receiving, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        self._outbound.close()

    async def _receive(self, track: MediaStreamTrack) -> None:
        try:
            while True:
                frame = await track.recv()
                if isinstance(frame, AudioFrame):
                    self.last_packet_at = self._now()
                    self._stats.received += 1
                    self._blocks.audio(self._to_mono_16k(frame), self.last_packet_at)
        except MediaStreamError:
            return  # the peer went away; its state says so

    def _to_mono_16k(self, frame: AudioFrame) -> bytes:
        channels = len(frame.layout.channels)
        pcm = downmix(bytes(frame.planes[0])[: 2 * channels * frame.samples], channels)
        if self._resampler is None or self._resampler[0] != frame.sample_rate:
            self._resampler = (frame.sample_rate, StreamResampler(frame.sample_rate, RATE))
        return self._resampler[1].feed(pcm)

    def _send(self, payload: bytes, sequence: int, timestamp: int, marker: bool) -> bool:
        elapsed = timestamp - self._origin & 0xFFFF_FFFF
        if self._opus:
            packet = Packet(payload)
            packet.pts, packet.time_base = elapsed, _OPUS_BASE
            return self._track.offer(packet)
        frame = AudioFrame(format="s16", layout="mono", samples=FRAME_BYTES // 2)
        frame.planes[0].update(payload)
        frame.sample_rate = _PCM_RATE
        frame.pts, frame.time_base = elapsed // 2, Fraction(1, _PCM_RATE)
        return self._track.offer(frame)

"""One browser's WebRTC connection: audio both ways, one data channel."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from aiortc import RTCDataChannel, RTCPeerConnection, RTCSessionDescription

from media.channel import Channel
from media.fallback import PlainVoice
from media.offer import OfferRefused, finish_answer, opus_only, read_offer
from media.peer_state import PeerState, PeerStats
from media.voice import RawVoice, Voice

if TYPE_CHECKING:
    from media.plane import MediaPlane

__all__ = ["OfferRefused", "Peer", "PeerState", "PeerStats"]

LOST_AFTER_S = 4.0  # without RTP and without a message
LIVENESS_TICKS = 25  # looked at every 0.5 s, so a loss is noticed within 5 s
CONNECT_S = 20.0
ANSWER_S = 5.0
CLOSE_S = 2.5

_log = logging.getLogger(__name__)


class Peer:
    """Made by `MediaPlane.peer`. Callbacks run on the loop; none runs once close() has started.

    `on_audio(pcm, at)` gets 640 bytes (PCM16 mono 16 kHz) per 20 ms while connected; `pull(at)` is
    asked for 960 bytes (PCM16 mono 24 kHz) or None per 20 ms while connected.
    """

    def __init__(
        self,
        plane: MediaPlane,
        *,
        on_audio: Callable[[bytes, float], None],
        pull: Callable[[float], bytes | None],
        on_message: Callable[[str], None],
        on_state: Callable[[PeerState], None],
    ) -> None:
        self.id = uuid.uuid4().hex
        self.on_channel_open: Callable[[], None] | None = None
        self.state = PeerState.CONNECTING
        self.ended = False  # the connection is gone for good: a LOST peer does not come back
        self._plane, self._on_audio, self._pull = plane, on_audio, pull
        self._on_message, self._on_state = on_message, on_state
        self._now = asyncio.get_running_loop().time
        self._born = self._heard = self._now()
        self._pc: RTCPeerConnection | None = None
        self._voice: Voice | None = None
        self._channel = Channel(self._channel_opened, self._message)
        self._release = AsyncExitStack()
        self._closing: asyncio.Task[None] | None = None
        self._ticks = 0

    async def answer(self, offer_sdp: str) -> str:
        """The answer to a browser's offer; once per peer. Raises OfferRefused, and is closed then.

        Carries the shared UDP port's addresses and Opus with FEC; asks nobody, waits for nothing.
        """
        if self._pc is not None or self._closing is not None:
            raise RuntimeError("a peer answers one offer")
        try:
            async with asyncio.timeout(ANSWER_S):
                return await self._answer(offer_sdp)
        except TimeoutError as error:
            await self.close()
            raise OfferRefused("The connection could not be prepared in time.") from error
        except BaseException:
            await self.close()
            raise

    async def _answer(self, offer_sdp: str) -> str:
        offer = read_offer(offer_sdp)
        pc = self._pc = self._plane.connection()
        pc.on("connectionstatechange", self._connection_changed)
        pc.on("datachannel", self._channel_arrived)
        voice: Voice
        if offer.opus is not None and self._plane.raw_hooks:
            voice = RawVoice(self._audio, self._pull, offer.opus)
        else:
            voice = PlainVoice(self._audio, self._pull, opus=offer.opus is not None)
        self._voice = voice
        self._release.push_async_callback(voice.close)
        audio = pc.addTransceiver(voice.track, "sendrecv")
        if offer.opus is not None:
            audio.setCodecPreferences(opus_only())
        await self._step(pc.setRemoteDescription(RTCSessionDescription(offer.sdp, "offer")))
        for transceiver in pc.getTransceivers():
            if transceiver is not audio:
                transceiver.direction = "inactive"
        self._release.callback(self._plane.share(audio))
        voice.attach(audio)
        await self._step(pc.setLocalDescription())
        self._born = self._now()
        self._release.callback(self._plane.pacer.add(self.tick))
        return finish_answer(pc.localDescription.sdp)

    async def _step(self, step: Awaitable[None]) -> None:
        """The boundary to the library: what it makes of a strange offer is a refusal, no crash."""
        try:
            await step
        except Exception as error:
            raise OfferRefused("The connection offer could not be used.") from error
        finally:
            if self._closing is not None:
                raise OfferRefused("The connection offer came too late: the lesson was closed.")

    @property
    def channel_open(self) -> bool:
        return self._closing is None and self._channel.open

    def send(self, text: str) -> bool:
        """Queues a message on the data channel; False when it is not open or too much waits."""
        return self._closing is None and self._channel.send(text)

    def _channel_arrived(self, channel: RTCDataChannel) -> None:
        if self._closing is None:
            self._channel.adopt(channel)

    def _channel_opened(self) -> None:
        self._heard = self._now()
        if self.on_channel_open is not None:
            self._guard(self.on_channel_open)

    def _message(self, text: str) -> None:
        self._heard = self._now()
        self._guard(self._on_message, text)

    def _audio(self, pcm: bytes, at: float) -> None:
        if self.state is PeerState.CONNECTED:
            self._guard(self._on_audio, pcm, at)

    def tick(self, at: float) -> None:
        """Called by the plane's pacer every 20 ms."""
        self._ticks += 1
        if self._ticks % LIVENESS_TICKS == 0 and not self.ended:
            self._check_life(at)
        if self.state is PeerState.CONNECTED and self._voice is not None:
            self._voice.tick(at)

    def _check_life(self, at: float) -> None:
        if self.state is PeerState.CONNECTING:
            if at - self._born > CONNECT_S:
                self.end("no connection in time")
            return
        silent = self._quiet_s(at) >= LOST_AFTER_S
        if silent and self.state is PeerState.CONNECTED:
            self._move(PeerState.LOST, "silent")
        elif not silent and self.state is PeerState.LOST:
            self._move(PeerState.CONNECTED, "heard again")

    def _quiet_s(self, at: float) -> float:
        packet = None if self._voice is None else self._voice.last_packet_at
        return at - max(self._heard, packet or 0.0)

    def _connection_changed(self) -> None:
        if self._closing is not None or self._pc is None or self.ended:
            return
        state = self._pc.connectionState
        if state == "connected" and self.state is PeerState.CONNECTING:
            self._heard = self._now()
            self._move(PeerState.CONNECTED, "connected")
        elif state in ("failed", "closed"):
            self.end(f"connection {state}")

    def end(self, why: str) -> None:
        """This connection cannot go on: LOST for good."""
        if self._closing is None and not self.ended:
            self.ended = True
            if self.state is not PeerState.LOST:
                self._move(PeerState.LOST, why)

    def _move(self, to: PeerState, why: str) -> None:
        _log.info("peer state", extra={"peer": self.id, "from": self.state, "to": to, "why": why})
        self.state = to
        self._guard(self._on_state, to)

    def _guard(self, callback: Callable[..., None], *arguments: object) -> None:
        """The boundary between the library's tasks and the owner: an error of the owner is
        reported to the loop and ends this peer, never the socket or another peer."""
        if self._closing is not None:
            return
        try:
            callback(*arguments)
        except Exception as error:
            report("a callback of a peer failed", error)
            self.end("callback failed")

    async def close(self) -> None:
        """Idempotent; at most CLOSE_S, then the connection is abandoned and logged."""
        if self._closing is None:
            self.state, self.ended = PeerState.CLOSED, True
            self._closing = asyncio.create_task(self._shut(), name=f"peer:{self.id}:close")
        await asyncio.shield(self._closing)

    async def _shut(self) -> None:
        try:
            async with asyncio.timeout(CLOSE_S):
                if self._pc is not None:
                    await self._pc.close()
        except TimeoutError:
            _log.error("peer did not close in time", extra={"peer": self.id})
        # The boundary to the library: a connection it cannot close is reported and abandoned.
        except Exception as error:
            report("a peer could not be closed", error)
        finally:
            await self._release.aclose()
            self._channel.close()
            self._pc = self._voice = None
            self._plane.peers.discard(self)

    def stats(self) -> PeerStats:
        """A snapshot; zeros before the answer and after close."""
        if self._voice is None:
            return PeerStats(refused_messages=self._channel.refused)
        heard, sent, reception = self._voice.received, self._voice.sent, self._voice.reception()
        expected = heard.received + heard.lost - heard.late
        return PeerStats(
            rtt_s=reception.rtt_s,
            remote_loss=reception.loss,
            loss=heard.lost / expected if expected > 0 else 0.0,
            received=heard.received,
            lost=heard.lost,
            concealed=heard.concealed,
            fec=heard.fec,
            late=heard.late,
            silence=heard.silence,
            sent=sent.sent,
            unsent=sent.unsent,
            refused_messages=self._channel.refused,
            quiet_s=self._quiet_s(self._now()),
        )


def report(message: str, error: Exception) -> None:
    """Hands an error to the loop's handler: nobody awaits what it broke."""
    context = {"message": message, "exception": error}
    asyncio.get_running_loop().call_exception_handler(context)

"""The one file that knows private names of aiortc 1.16 and aioice 0.13. Instances, never classes.

Why: the library's own receive path adds 80 ms always and 280 ms for the rest of a call after one
lost packet, and a thread per peer (aiortc#543); its send path encodes stereo in an executor; each
connection opens sockets of its own. Every name used here has a contract test in
tests/media/test_hooks.py, so that an upgrade of the pinned versions tells us.
"""

from __future__ import annotations

import asyncio
import struct
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pylibsrtp
from aioice import Candidate, Connection
from aioice.candidate import candidate_foundation, candidate_priority
from aioice.ice import StunProtocol
from aiortc import RTCRtpReceiver, RTCRtpTransceiver, clock
from aiortc.rtcrtpparameters import RTCRtpReceiveParameters
from aiortc.rtcrtpreceiver import StreamStatistics
from aiortc.rtp import RtpPacket

from media import audio_level

OPUS_CLOCK = 48_000  # RFC 7587: whatever the sampling rate
TURN_GATHER_S = 2
# SRTP that arrives in the same turn of the loop as the end of the DTLS handshake.
EARLY_PACKETS = 32

_RTP = struct.Struct("!BBHLL")
_COMPONENT = 1

OpenTransport = Callable[[str, Any], asyncio.DatagramTransport]


def connection_of(transceiver: RTCRtpTransceiver) -> Connection:
    """The ICE connection that carries a transceiver."""
    return transceiver.receiver.transport.transport._connection


def gather_through(
    connection: Connection, open_transport: OpenTransport, hosts: tuple[str, ...], port: int
) -> None:
    """Replaces gathering of host candidates: one given transport, advertised as `hosts`.

    Relayed candidates (a TURN server in the configuration) are still gathered by the library.
    """
    gather = connection.get_component_candidates

    async def candidates(component: int, addresses: list[str], timeout: int = 5) -> list[Candidate]:
        offered = [
            Candidate(
                foundation=candidate_foundation("host", "udp", host),
                component=component,
                transport="udp",
                priority=candidate_priority(component, "host", 65535 - rank),
                host=host,
                port=port,
                type="host",
            )
            for rank, host in enumerate(hosts)
        ]
        protocol = StunProtocol(connection)
        protocol.connection_made(open_transport(connection.local_username, protocol))
        protocol.local_candidate = offered[0]
        connection._protocols.append(protocol)
        if connection.turn_server is not None:
            offered += await gather(component, [], TURN_GATHER_S)
        return offered

    connection.get_component_candidates = candidates  # type: ignore[method-assign]


@dataclass(frozen=True, slots=True)
class Reception:
    """What the other side reported about our sending: round trip in s, share of packets lost."""

    rtt_s: float | None = None
    loss: float | None = None


class _Arrival:
    """The two attributes of an RTP packet that StreamStatistics reads."""

    __slots__ = ("sequence_number", "timestamp")


class AudioHook:
    """RTP of one Opus transceiver straight from and to the socket.

    `on_packet(payload, sequence, timestamp, ssrc)` runs inside the socket's callback. RTCP, DTLS
    and everything else stay the library's. Attach before the connection starts. `level` is that of
    the packet handed on, in dB below full scale, None where its header does not tell it.
    """

    def __init__(
        self,
        transceiver: RTCRtpTransceiver,
        payload_type: int,
        on_packet: Callable[[bytes, int, int, int], None],
    ) -> None:
        self._receiver, self._sender = transceiver.receiver, transceiver.sender
        self._dtls = self._receiver.transport
        self._connection = connection_of(transceiver)
        self._payload_type, self._on_packet = payload_type, on_packet
        self._ssrc: int = self._sender._ssrc
        self._early: deque[bytes] = deque(maxlen=EARLY_PACKETS)
        self._arrival: Any = _Arrival()
        self._statistics: tuple[int, StreamStatistics] | None = None
        self._packets = self._octets = 0
        self.refused = self.dropped_data = 0
        self.level: int | None = None
        self.level_id: int | None = None

    def attach(self) -> None:
        self._original = self._connection.data_received
        self._connection.data_received = self._data_received  # type: ignore[method-assign]
        self._receiver.receive = self._receive  # type: ignore[method-assign]
        self._send_data = self._dtls._send_data
        self._dtls._send_data = self._send_data_if_connected  # type: ignore[method-assign]

    async def _receive(self, parameters: RTCRtpReceiveParameters) -> None:
        """RTCRtpReceiver.receive without the decoder thread: routes RTCP, reports reception."""
        receiver: Any = self._receiver
        if receiver._RTCRtpReceiver__started:
            return
        self._dtls._register_rtp_receiver(self._receiver, parameters)
        receiver._RTCRtpReceiver__rtcp_task = asyncio.ensure_future(self._receiver._run_rtcp())
        receiver._RTCRtpReceiver__started = True
        for extension in parameters.headerExtensions:
            if extension.uri == audio_level.URI:
                self.level_id = extension.id

    async def _send_data_if_connected(self, data: bytes) -> None:
        """SCTP over a closed DTLS is packet loss, not an error in a task nobody awaits."""
        try:
            await self._send_data(data)
        except ConnectionError:
            self.dropped_data += 1

    def _data_received(self, data: bytes, component: int) -> None:
        if len(data) > _RTP.size and 127 < data[0] < 192 and data[1] & 0x7F == self._payload_type:
            session = self._dtls._rx_srtp
            if session is None:
                self._early.append(data)
                return
            while self._early:
                self._rtp(session, self._early.popleft())
            self._rtp(session, data)
        else:
            self._original(data, component)

    def _rtp(self, session: pylibsrtp.Session, data: bytes) -> None:
        try:
            data = session.unprotect(data)
        except pylibsrtp.Error:  # forged, replayed or too old
            self.refused += 1
            return
        first, _, sequence, timestamp, ssrc = _RTP.unpack_from(data)
        start = _RTP.size + 4 * (first & 15)
        self.level = None
        if first & 16:
            after = start + 4 + 4 * int.from_bytes(data[start + 2 : start + 4], "big")
            if self.level_id is not None:
                self.level = audio_level.read(data, start, min(after, len(data)), self.level_id)
            start = after
        end = len(data) - data[-1] if first & 32 else len(data)
        self._account(ssrc, sequence, timestamp)
        if start < end:
            self._on_packet(data[start:end], sequence, timestamp, ssrc)

    def _account(self, ssrc: int, sequence: int, timestamp: int) -> None:
        """Feeds the receiver reports, which drive the browser's FEC and bitrate."""
        arrival: RtpPacket = self._arrival
        arrival.sequence_number, arrival.timestamp = sequence, timestamp
        if self._statistics is None or self._statistics[0] != ssrc:
            self._statistics = (ssrc, StreamStatistics(OPUS_CLOCK))
            self._statistics[1].add(arrival)
            streams = _remote_streams(self._receiver)
            streams.clear()
            streams[ssrc] = self._statistics[1]
        else:
            self._statistics[1].add(arrival)

    def send(
        self, payload: bytes, sequence: int, timestamp: int, marker: bool, extension: bytes = b""
    ) -> bool:
        """One RTP packet to the nominated address; False while there is none."""
        pair = self._connection._nominated.get(_COMPONENT)
        session = self._dtls._tx_srtp
        if pair is None or session is None:
            return False
        kind = self._payload_type | (0x80 if marker else 0)
        first = 0x90 if extension else 0x80
        header = _RTP.pack(first, kind, sequence, timestamp, self._ssrc)
        packet = session.protect(header + extension + payload)
        pair.protocol.transport.sendto(packet, pair.remote_addr)
        self._packets += 1
        self._octets += len(payload)
        return True

    def report(self, timestamp: int) -> None:
        """Keeps the library's sender reports true; call about once a second."""
        sender: Any = self._sender
        sender._RTCRtpSender__ntp_timestamp = clock.current_ntp_time()
        sender._RTCRtpSender__rtp_timestamp = timestamp
        sender._RTCRtpSender__packet_count = self._packets
        sender._RTCRtpSender__octet_count = self._octets

    def reception(self) -> Reception:
        """The newest receiver report of the other side."""
        sender: Any = self._sender
        report = sender._RTCRtpSender__stats.get(f"remote-inbound-rtp_{id(sender)}")
        loss = None if report is None else report.fractionLost / 256
        return Reception(sender._RTCRtpSender__rtt, loss)


def _remote_streams(receiver: RTCRtpReceiver) -> dict[int, StreamStatistics]:
    private: Any = receiver
    streams: dict[int, StreamStatistics] = private._RTCRtpReceiver__remote_streams
    return streams

"""One contract test per private name of aiortc/aioice that media/hooks.py uses.

A red test here after an upgrade means: read the library's change, then media/hooks.py.
"""

from __future__ import annotations

import asyncio
import inspect
from importlib.metadata import version

import aioice
import pylibsrtp
import pytest
from aioice.ice import CandidatePair, StunProtocol
from aiortc import RTCConfiguration, RTCPeerConnection
from aiortc.rtcdtlstransport import RTCDtlsTransport
from aiortc.rtcrtpreceiver import RTCRtpReceiver, StreamStatistics
from aiortc.stats import RTCStatsReport

from media import audio_level
from media.hooks import AudioHook, connection_of
from tests.media.peers import call, packets, tone, until
from tests.media.peers import no_loop_errors as no_loop_errors


@pytest.fixture
async def transceiver():
    pc = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    yield pc.addTransceiver("audio")
    await pc.close()


def test_pinned_versions() -> None:
    assert version("aiortc") == "1.16.0"
    assert version("aioice") == "0.13.0"


async def test_ice_transport_connection(transceiver) -> None:
    ice = transceiver.receiver.transport.transport
    assert isinstance(ice._connection, aioice.Connection)
    assert connection_of(transceiver) is ice._connection
    # Bound before our hook: replacing data_received must not need them anew.
    assert ice._recv == ice._connection.recv


async def test_connection_nominated(transceiver) -> None:
    connection = connection_of(transceiver)
    assert connection._nominated == {}
    assert isinstance(CandidatePair.remote_addr, property)
    async with call() as (server, client):
        pair = connection_of(client.transceiver)._nominated[1]
        assert isinstance(pair, CandidatePair)
        assert pair.remote_addr == ("127.0.0.1", server.plane.udp_port)
        assert callable(pair.protocol.transport.sendto)


async def test_connection_protocols(transceiver) -> None:
    connection = connection_of(transceiver)
    assert connection._protocols == []
    protocol = StunProtocol(connection)
    assert protocol.receiver is connection
    assert inspect.iscoroutinefunction(protocol.close)


async def test_connection_data_received_is_looked_up_per_datagram(transceiver) -> None:
    connection, seen = connection_of(transceiver), []
    assert list(inspect.signature(connection.data_received).parameters) == ["data", "component"]
    protocol = StunProtocol(connection)
    protocol.local_candidate = aioice.Candidate("1", 1, "udp", 1, "127.0.0.1", 9, "host")
    connection.data_received = lambda data, component: seen.append((data, component))
    protocol.datagram_received(b"\x80" + bytes(30), ("127.0.0.1", 9))
    assert seen == [(b"\x80" + bytes(30), 1)]


async def test_connection_get_component_candidates(transceiver) -> None:
    connection, asked = connection_of(transceiver), []
    names = list(inspect.signature(connection.get_component_candidates).parameters)
    assert names == ["component", "addresses", "timeout"]

    async def none(**arguments):
        asked.append(arguments)
        return []

    connection.get_component_candidates = none
    await connection.gather_candidates()
    assert [sorted(arguments) for arguments in asked] == [["addresses", "component"]]


async def test_connection_turn_server_and_user_name(transceiver) -> None:
    connection = connection_of(transceiver)
    assert connection.turn_server is None
    assert len(connection.local_username) >= 4


async def test_dtls_srtp_sessions(transceiver) -> None:
    dtls = transceiver.receiver.transport
    assert dtls._rx_srtp is None
    assert dtls._tx_srtp is None
    async with call() as (_, client):
        dtls = client.transceiver.receiver.transport
        assert isinstance(dtls._rx_srtp, pylibsrtp.Session)
        assert isinstance(dtls._tx_srtp, pylibsrtp.Session)


def test_dtls_register_rtp_receiver() -> None:
    names = list(inspect.signature(RTCDtlsTransport._register_rtp_receiver).parameters)
    assert names == ["self", "receiver", "parameters"]


async def test_dtls_send_data(transceiver) -> None:
    assert inspect.iscoroutinefunction(RTCDtlsTransport._send_data)
    with pytest.raises(ConnectionError):
        await transceiver.receiver.transport._send_data(b"x")


async def test_receiver_receive_and_run_rtcp(transceiver) -> None:
    assert inspect.iscoroutinefunction(RTCRtpReceiver.receive)
    assert inspect.iscoroutinefunction(RTCRtpReceiver._run_rtcp)
    assert list(inspect.signature(RTCRtpReceiver.receive).parameters) == ["self", "parameters"]


async def test_receiver_started_and_rtcp_task(transceiver) -> None:
    receiver = transceiver.receiver
    assert receiver._RTCRtpReceiver__started is False
    assert receiver._RTCRtpReceiver__rtcp_task is None
    assert receiver._RTCRtpReceiver__decoder_thread is None


async def test_receiver_remote_streams_are_what_reports_are_made_of(transceiver) -> None:
    assert transceiver.receiver._RTCRtpReceiver__remote_streams == {}
    source = inspect.getsource(RTCRtpReceiver._run_rtcp)
    assert "self.__remote_streams.items()" in source


def test_stream_statistics_reads_two_attributes() -> None:
    class Arrival:
        __slots__ = ("sequence_number", "timestamp")

    arrival, statistics = Arrival(), StreamStatistics(48_000)
    for n in (0, 1, 3, 4):
        arrival.sequence_number, arrival.timestamp = n, n * 960
        statistics.add(arrival)
    assert (statistics.packets_received, statistics.packets_lost) == (4, 1)
    assert statistics.max_seq == 4


async def test_sender_ssrc(transceiver) -> None:
    assert 0 <= transceiver.sender._ssrc < 2**32


@pytest.mark.parametrize("name", ["ntp_timestamp", "rtp_timestamp", "packet_count", "octet_count"])
async def test_sender_report_counters(transceiver, name: str) -> None:
    assert getattr(transceiver.sender, f"_RTCRtpSender__{name}") == 0


async def test_sender_rtt_and_stats(transceiver) -> None:
    assert transceiver.sender._RTCRtpSender__rtt is None
    assert isinstance(transceiver.sender._RTCRtpSender__stats, RTCStatsReport)


async def test_reports_flow_both_ways_and_tell_loss_and_round_trip() -> None:
    """The reason for keeping the library's RTCP: the browser adapts its FEC to our reports."""
    async with call() as (server, client):
        silent = packets(tone(500, 48_000, 0.02))[0]
        server.reply += [tone(440, 24_000, 0.02)] * 200
        speaking = asyncio.create_task(
            client.speak([None if n % 10 == 3 else silent for n in range(200)])
        )

        def lost() -> float:
            client.hook.report(client.timestamp)
            return client.hook.reception().loss or 0.0

        await until(lambda: 0.05 < lost() < 0.2, "receiver report with the loss")
        await until(lambda: server.peer.stats().rtt_s is not None, "round trip")
        assert 0 <= server.peer.stats().rtt_s < 1.0
        await speaking


async def test_no_thread_and_no_queue_per_peer() -> None:
    async with call() as (server, client):
        await client.speak(packets(tone(500, 48_000, 0.5)))
        receiver = server.peer._pc.getReceivers()[0]
        assert receiver._RTCRtpReceiver__decoder_thread is None
        assert receiver.track._queue.empty()
        assert server.peer._pc.getSenders()[0]._RTCRtpSender__encoder is None


async def test_packets_before_the_end_of_the_handshake_are_not_lost() -> None:
    async with call() as (server, client):
        hook, sound = server.peer._voice._hook, packets(tone(500, 48_000, 0.1))
        dtls, session = hook._dtls, hook._dtls._rx_srtp
        dtls._rx_srtp = None
        for payload in sound[:3]:
            client.send(payload)
        await until(lambda: len(hook._early) == 3, "kept")
        dtls._rx_srtp = session
        client.send(sound[3])
        await until(lambda: server.peer.stats().received == 4, "all four")
        assert server.peer.stats().late == server.peer.stats().lost == 0


async def test_hook_survives_malformed_rtp_of_the_peer() -> None:
    """What is authenticated can still be nonsense: extension and padding beyond the packet."""
    async with call() as (server, client):
        hook = client.hook
        assert isinstance(hook, AudioHook)
        pair = connection_of(client.transceiver)._nominated[1]
        session = hook._dtls._tx_srtp
        for n, first in enumerate((0x90, 0xA0, 0x8F, 0xBF)):
            head = bytes([first, 96]) + n.to_bytes(2, "big") + bytes(4) + b"\0\0\0\7"
            body = b"\xff" * 64
            try:
                packet = session.protect(head + body)
            except pylibsrtp.Error:
                continue  # the sender's own library refuses it
            pair.protocol.transport.sendto(packet, pair.remote_addr)
        client.send(packets(tone(500, 48_000, 0.02))[0])
        await until(lambda: server.peer.stats().received, "the good packet")
        assert server.plane.mux.failures == 0


async def test_the_level_of_a_packet_is_negotiated_and_read() -> None:
    """RFC 6464: what browsers send, and what a quiet room is known by."""
    payload = packets(tone(500, 48_000, 0.1))[0]
    async with call() as (server, client):
        theirs, ours = client.hook, server.peer._voice._hook
        assert theirs.level_id == ours.level_id is not None
        told = audio_level.extension(33, theirs.level_id)
        theirs.send(payload, 100, 5000, False, told)
        await until(lambda: server.peer.stats().received == 1, "packet")
        assert ours.level == 33
        theirs.send(payload, 101, 5960, False)
        await until(lambda: server.peer.stats().received == 2, "packet")
        assert ours.level is None
        assert server.peer.stats().concealed == 0

"""How a peer ends: gone, silent, muted, said goodbye, closed; and that nothing of it stays."""

from __future__ import annotations

import asyncio
import gc
import os
import weakref

import pytest
from aiortc import RTCPeerConnection

from media import peer as peer_module
from media.peer import OfferRefused, PeerState
from media.plane import MediaPlane
from tests.media.peers import Client, Server, call, join, packets, tone, until
from tests.media.peers import no_loop_errors as no_loop_errors

SOUND = packets(tone(500, 48_000, 0.02))[0]


@pytest.mark.req("RTC-21")
async def test_a_vanished_peer_is_lost_within_5_s_a_muted_one_stays() -> None:
    """T25: a closed tab that says no goodbye."""
    loop = asyncio.get_running_loop()
    async with MediaPlane(host="127.0.0.1", udp_port=0) as plane:
        gone, muted = Server(plane), Server(plane)
        leaver, quiet = Client(), Client()
        await join(gone, leaver)
        await join(muted, quiet)
        leaver.send(SOUND)
        await until(lambda: gone.peer.stats().received, "sound")
        leaver.vanish()
        since = loop.time()
        while gone.peer.state is not PeerState.LOST:
            assert loop.time() - since < 5.0
            quiet.channel.send("ping")
            await asyncio.sleep(0.2)
        assert loop.time() - since > 3.5
        assert gone.states == [PeerState.CONNECTED, PeerState.LOST]
        assert muted.states == [PeerState.CONNECTED]
        assert muted.peer.stats().received == 0
        assert len(muted.blocks) > 150  # mute is silence, not absence
        await quiet.close()
        await leaver.close()


async def test_a_peer_that_is_heard_again_is_connected_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(peer_module, "LOST_AFTER_S", 0.3)
    async with call() as (server, client):
        await until(lambda: server.peer.state is PeerState.LOST, "lost")
        blocks = len(server.blocks)
        server.reply += [tone(440, 24_000, 0.02)] * 5
        await asyncio.sleep(0.1)
        assert len(server.blocks) == blocks
        assert len(server.reply) == 5  # nothing is played to nobody
        speaking = asyncio.create_task(client.speak([SOUND] * 50))
        await until(lambda: server.peer.state is PeerState.CONNECTED, "back")
        assert not server.peer.ended
        await until(lambda: not server.reply, "played")
        await speaking
        assert server.states[:3] == [PeerState.CONNECTED, PeerState.LOST, PeerState.CONNECTED]


async def test_a_goodbye_is_noticed_at_once() -> None:
    """T25: a closed tab whose browser says it."""
    loop = asyncio.get_running_loop()
    async with call() as (server, client):
        since = loop.time()
        await client.close()
        await until(lambda: server.peer.state is PeerState.LOST, "lost")
        assert loop.time() - since < 1.0
        assert server.peer.ended
        assert not server.peer.send("too late")


async def test_a_connection_that_never_comes_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer_module, "CONNECT_S", 0.2)
    async with MediaPlane(host="127.0.0.1", udp_port=0) as plane:
        server, client = Server(plane), Client()
        await server.peer.answer(await client.offer())
        await until(lambda: server.states == [PeerState.LOST], "given up")
        assert server.peer.ended
        await client.close()


async def test_close_is_idempotent_bounded_and_silent() -> None:
    loop = asyncio.get_running_loop()
    async with call() as (server, client):
        server.reply += [tone(440, 24_000, 0.02)] * 500
        speaking = asyncio.create_task(client.speak([SOUND] * 20))
        await until(lambda: server.peer.stats().sent > 3, "talking")
        since = loop.time()
        closing = [asyncio.create_task(server.peer.close()) for _ in range(3)]
        await asyncio.sleep(0)
        counts = len(server.blocks), len(server.messages), len(server.states), len(server.reply)
        client.channel.send("after the end")
        await asyncio.gather(*closing)
        await server.peer.close()
        assert loop.time() - since < 3.0
        speaking.cancel()
        await asyncio.wait([speaking])
        await until(lambda: client.pc.connectionState == "closed", "the browser is told")
        after = len(server.blocks), len(server.messages), len(server.states), len(server.reply)
        assert after == counts
        assert server.peer.state is PeerState.CLOSED
        assert not server.peer.channel_open
        assert not server.peer.send("x")
        assert server.peer.stats().received == 0
        with pytest.raises(RuntimeError):
            await server.peer.answer("v=0")


async def test_a_close_that_hangs_is_abandoned(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(peer_module, "CLOSE_S", 0.1)
    async with MediaPlane(host="127.0.0.1", udp_port=0) as plane:
        server, client = Server(plane), Client()
        await join(server, client)
        pc, forever = server.peer._pc, asyncio.Event()
        really = pc.close
        monkeypatch.setattr(pc, "close", forever.wait)
        async with asyncio.timeout(1.0):
            await server.peer.close()
        assert (plane.peers, plane.mux.names, plane.mux.routes) == (set(), {}, {})
        assert len(plane.pacer) == 0
        assert "peer did not close in time" in caplog.messages
        await really()
        await client.close()


async def test_a_callback_that_raises_ends_only_its_peer() -> None:
    problems: list[dict] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))
    async with MediaPlane(host="127.0.0.1", udp_port=0) as plane:
        bad, good = Server(plane), Server(plane)
        one, two = Client(), Client()
        await join(bad, one)
        await join(good, two)

        def boom(*_: object) -> None:
            raise RuntimeError("a broken lesson")

        bad.peer._on_message = boom
        one.channel.send("x")
        await until(lambda: bad.peer.state is PeerState.LOST, "ended")
        assert [str(p["exception"]) for p in problems] == ["a broken lesson"]
        two.channel.send("still here")
        await until(lambda: good.messages == ["still here"], "the other peer goes on")
        await one.close()
        await two.close()


async def test_a_playout_that_raises_ends_only_its_peer() -> None:
    problems: list[dict] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))
    async with MediaPlane(host="127.0.0.1", udp_port=0) as plane:
        bad, good = Server(plane), Server(plane)
        one, two = Client(), Client()
        await join(bad, one)
        await join(good, two)
        bad.reply.append(b"odd")
        await until(lambda: bad.peer.state is PeerState.LOST, "ended")
        assert len(problems) == 1
        blocks = len(good.blocks)
        await until(lambda: len(good.blocks) > blocks + 5, "the other peer goes on")
        await one.close()
        await two.close()


@pytest.mark.req("RTC-19")
async def test_closed_connections_are_collected() -> None:
    async with MediaPlane(host="127.0.0.1", udp_port=0) as plane:
        server, client = Server(plane), Client()
        await join(server, client)
        await client.speak([SOUND] * 5)
        pc = weakref.ref(server.peer._pc)
        assert isinstance(pc(), RTCPeerConnection)
        await server.peer.close()
        await client.close()
        del client

        def collected() -> bool:
            gc.collect()
            return pc() is None

        await until(collected, "collected although its owner keeps the peer")


def _files() -> int:
    return len(os.listdir("/proc/self/fd"))


async def test_twenty_aborted_offers_leave_nothing() -> None:
    client = Client()
    offer = await client.offer()
    await client.close()
    async with MediaPlane(host="127.0.0.1", udp_port=0) as plane:
        await asyncio.sleep(0.05)
        tasks, files = asyncio.all_tasks(), _files()
        for n in range(20):
            peer = Server(plane).peer
            if n % 3 == 0:  # closed right after the answer
                await peer.answer(offer)
                await peer.close()
            elif n % 3 == 1:  # cancelled while answering
                answering = asyncio.create_task(peer.answer(offer))
                await asyncio.sleep(0)
                answering.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await answering
            else:  # refused
                with pytest.raises(OfferRefused):
                    await peer.answer(offer.replace("a=fingerprint", "a=finger"))
        assert (plane.peers, plane.mux.names, plane.mux.routes) == (set(), {}, {})
        assert len(plane.pacer) == 0
        await until(lambda: asyncio.all_tasks() <= tasks, "tasks ended")
        assert _files() == files


async def test_ten_calls_leave_nothing() -> None:
    async with MediaPlane(host="127.0.0.1", udp_port=0) as plane:
        await asyncio.sleep(0.05)
        tasks, files = asyncio.all_tasks(), _files()
        for _ in range(10):
            server, client = Server(plane), Client()
            await join(server, client)
            await client.close()
            await server.peer.close()
        assert (plane.peers, plane.mux.names, plane.mux.routes) == (set(), {}, {})
        await until(lambda: asyncio.all_tasks() <= tasks, "tasks ended")
        assert _files() == files


async def test_the_end_of_the_plane_closes_its_peers() -> None:
    async with MediaPlane(host="127.0.0.1", udp_port=0) as plane:
        server, client = Server(plane), Client()
        await join(server, client)
    assert server.peer.state is PeerState.CLOSED
    assert plane.peers == set()
    await client.close()


async def test_a_page_that_leaves_while_messages_flow_leaves_no_error() -> None:
    """T25. The library alone: 'Task exception was never retrieved … Cannot send encrypted data'."""
    async with call() as (server, client):
        hook = server.peer._voice._hook
        # DTLS is over, SCTP does not know yet: the moment in which a page leaves.
        hook._dtls.on("statechange", lambda: [server.peer.send("late") for _ in range(3)])
        # As browsers leave: close_notify without a word of SCTP.
        await client.transceiver.receiver.transport.stop()
        await until(lambda: server.peer.state is PeerState.LOST, "lost")
        assert hook.dropped_data > 0

"""Offers: what is answered, how fast and with what; what is refused, and that nothing stays."""

from __future__ import annotations

import asyncio
import re

import pytest
from aiortc import RTCConfiguration, RTCPeerConnection

from media import hooks
from media.mux import host_addresses
from media.offer import MAX_OFFER_BYTES, read_offer
from media.peer import OfferRefused, PeerState
from media.plane import MediaPlane
from tests.media.peers import Client, Server, call, join, until
from tests.media.peers import no_loop_errors as no_loop_errors

MDNS = (
    "a=candidate:1 1 udp 2113937151 6f1a2c9e-0b1d-4f63-9a51-2f6f1b0a9f11.local 51000 typ host\r\n"
    "a=candidate:2 1 tcp 1518280447 10.9.8.7 9 typ host tcptype active\r\n"
    "a=end-of-candidates\r\n"
)


def _plane(**settings):
    return MediaPlane(**{"host": "127.0.0.1", "udp_port": 0, **settings})


async def _offer(**kinds) -> str:
    client = Client(**kinds)
    offer = await client.offer()
    await client.close()
    return offer


def _with_candidates(offer: str) -> str:
    bare = re.sub(r"a=(candidate:.*|end-of-candidates)\r\n", "", offer)
    return re.sub(r"(a=mid:0\r\n)", rf"\g<1>{MDNS}", bare, count=1)


@pytest.mark.req("RTC-1")
async def test_the_answer_carries_our_address_our_opus_and_nobody_elses() -> None:
    async with _plane() as plane:
        server = Server(plane)
        answer = await server.peer.answer(_with_candidates(await _offer()))
        pt = re.search(r"a=rtpmap:(\d+) opus/48000/2\r\n", answer)[1]
        line = f"a=fmtp:{pt} minptime=10;useinbandfec=1;stereo=0;maxaveragebitrate=32000\r\n"
        assert answer.count(line) == 1
        assert not re.search("PCMU|PCMA|G722", answer)
        candidates = re.findall(r"a=candidate:.*", answer)
        assert {c.split()[4:8:3][0] for c in candidates} == {"127.0.0.1"}
        assert all(f"127.0.0.1 {plane.udp_port} typ host" in c for c in candidates)
        assert ".local" not in answer
        assert "10.9.8.7" not in answer
        assert "a=setup:active" in answer


async def test_the_answer_does_not_depend_on_the_candidates_of_the_offer() -> None:
    offer = await _offer()
    async with _plane() as plane:
        answers = [
            await Server(plane).peer.answer(text)
            for text in (offer, _with_candidates(offer), offer.replace("\r\n", "\n"))
        ]
    shapes = {
        re.sub(r"(ice-ufrag|ice-pwd|fingerprint|msid|ssrc|o=).*", r"\1", answer)
        for answer in answers
    }
    assert len(shapes) == 1


async def test_names_nobody_can_resolve_do_not_delay_the_answer() -> None:
    offer = _with_candidates(await _offer())
    loop = asyncio.get_running_loop()
    async with _plane() as plane:
        await Server(plane).peer.answer(offer)
        start = loop.time()
        await Server(plane).peer.answer(offer)
        assert loop.time() - start < 0.5  # the library alone: 1 s and an answer without candidates


async def test_an_answer_takes_less_than_50_ms() -> None:
    offer, times = await _offer(), []
    loop = asyncio.get_running_loop()
    async with _plane() as plane:
        for _ in range(15):
            start = loop.time()
            await Server(plane).peer.answer(offer)
            times.append(loop.time() - start)
    assert sorted(times)[len(times) // 2] < 0.050


async def test_a_call_with_names_and_end_of_candidates_connects() -> None:
    async with _plane() as plane:
        server, client = Server(plane), Client()
        answer = await server.peer.answer(_with_candidates(await client.offer()))
        await client.accept(answer)
        await until(lambda: server.peer.state is PeerState.CONNECTED, "connected")
        await client.close()


async def test_nobody_is_asked_for_our_address(monkeypatch: pytest.MonkeyPatch) -> None:
    async with _plane() as plane:
        pc = plane.connection()
        transceiver = pc.addTransceiver("audio")
        connection = transceiver.receiver.transport.transport._connection
        assert connection.stun_server is None
        assert connection.turn_server is None
        await pc.close()


async def test_configured_relay_is_handed_to_the_library() -> None:
    relay = {"urls": "turn:192.0.2.1:3478", "username": "u", "credential": "c"}
    async with _plane(ice_servers=[relay]) as plane:
        pc = plane.connection()
        connection = pc.addTransceiver("audio").receiver.transport.transport._connection
        assert connection.turn_server == ("192.0.2.1", 3478)
        assert (connection.turn_username, connection.turn_password) == ("u", "c")
        await pc.close()


async def test_a_relay_that_does_not_answer_costs_a_bounded_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hooks, "TURN_GATHER_S", 0.1)
    relay = {"urls": "turn:127.0.0.1:9", "username": "u", "credential": "c"}
    offer, loop = await _offer(), asyncio.get_running_loop()
    async with _plane(ice_servers=[relay]) as plane:
        start = loop.time()
        answer = await Server(plane).peer.answer(offer)
        assert loop.time() - start < 1.0
        assert f"127.0.0.1 {plane.udp_port} typ host" in answer


async def test_advertised_addresses_replace_the_bound_one() -> None:
    offer = await _offer()
    async with _plane(host="0.0.0.0", advertise=("203.0.113.7",)) as plane:
        answer = await Server(plane).peer.answer(offer)
        found = {c.split()[4] for c in re.findall(r"a=candidate:.*", answer)}
        assert found == {"203.0.113.7"}


async def test_a_wildcard_offers_every_address_and_localhost_works() -> None:
    async with _plane(host="0.0.0.0") as plane:
        server, client = Server(plane), Client()
        answer = await join(server, client)
        found = [c.split()[4] for c in re.findall(r"a=candidate:.*", answer.split("m=app")[0])]
        assert found == list(host_addresses())
        priorities = [int(c.split()[3]) for c in re.findall(r"a=candidate:.*", answer)]
        assert priorities[: len(found)] == sorted(priorities[: len(found)], reverse=True)
        await client.close()


async def test_video_sections_of_a_stock_client_stay_inactive() -> None:
    async with _plane() as plane:
        server, client = Server(plane), Client()
        client.pc.addTransceiver("video")
        client.pc.addTransceiver("video")
        answer = await join(server, client)
        sections = answer.split("m=")[1:]
        kinds = {s.split()[0]: s for s in sections}
        assert sum(s.startswith("video") and "a=inactive" in s for s in sections) == 2
        assert "a=sendrecv" in kinds["audio"]
        await client.close()


async def test_offers_that_cannot_work_are_refused_in_words() -> None:
    good = await _offer()
    video = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    video.addTransceiver("video")
    await video.setLocalDescription()
    audio_off = good.replace("a=sendrecv", "a=inactive", 1)
    cases = {
        "": "not a session description",
        "hello": "not a session description",
        "v=0": "no audio",
        "v=0\r\n": "no audio",
        good[: len(good) // 3]: "damaged|credentials|fingerprint|name|BUNDLE|data",
        good.replace("m=audio", "m=audio x"): "damaged",
        good.replace("m=audio", "m=image"): "more than audio|damaged",
        good + "\x00": "not a session description",
        good + "\udcff": "not valid text",
        "v=0\r\n" + "a=x\r\n" * 1_000_000: f"larger than {MAX_OFFER_BYTES // 1024} KiB",
        video.localDescription.sdp: "no audio",
        audio_off: "no audio",
        re.sub(r"a=fingerprint.*\r\n", "", good): "fingerprint",
        re.sub(r"a=ice-ufrag.*\r\n", "", good): "credentials",
        re.sub(r"a=mid.*\r\n", "", good): "name its sections",
        re.sub(r"a=group:BUNDLE.*\r\n", "", good): "BUNDLE",
        re.sub(r"a=rtpmap.*\r\n", "", good).replace("SAVPF 96 9 0 8", "SAVPF 35"): "could not",
    }
    await video.close()
    async with _plane() as plane:
        before = asyncio.all_tasks()
        for text, words in cases.items():
            server = Server(plane)
            with pytest.raises(OfferRefused, match=words) as refusal:
                await server.peer.answer(text)
            assert str(refusal.value).startswith("The connection offer ")
            assert str(refusal.value).endswith(".")
            assert server.peer.state is PeerState.CLOSED
            assert server.states == []
        assert plane.peers == set()
        assert (plane.mux.names, plane.mux.routes, len(plane.pacer)) == ({}, {}, 0)
        await until(lambda: asyncio.all_tasks() <= before, "no task left")


async def test_any_damage_to_an_offer_is_refused_or_answered() -> None:
    """Every line dropped or garbled, one at a time: an answer or a sentence, never a crash."""
    good = await _offer()
    lines = good.split("\r\n")[:-1]
    async with _plane() as plane:
        for n, line in enumerate(lines):
            for other in ([], [line[: len(line) // 2]], [line.replace(" ", "  ")], [line, line]):
                server = Server(plane)
                text = "\r\n".join([*lines[:n], *other, *lines[n + 1 :], ""])
                try:
                    await server.peer.answer(text)
                except OfferRefused:
                    pass
                await server.peer.close()
        assert (plane.mux.names, plane.mux.routes, len(plane.pacer)) == ({}, {}, 0)


async def test_a_peer_answers_once() -> None:
    offer = await _offer()
    async with _plane() as plane:
        peer = Server(plane).peer
        await peer.answer(offer)
        with pytest.raises(RuntimeError):
            await peer.answer(offer)


async def test_a_peer_closed_meanwhile_refuses() -> None:
    offer = await _offer()
    async with _plane() as plane:
        peer = Server(plane).peer
        answering = asyncio.create_task(peer.answer(offer))
        await asyncio.sleep(0)
        await peer.close()
        with pytest.raises(OfferRefused):
            await answering
        assert (plane.mux.names, len(plane.pacer)) == ({}, 0)


async def test_a_listener_without_microphone_is_served() -> None:
    async with call() as (server, _):
        assert server.peer.state is PeerState.CONNECTED
    offer = (await _offer()).replace("a=sendrecv", "a=recvonly", 1)
    async with _plane() as plane:
        answer = await Server(plane).peer.answer(offer)
        assert "a=sendonly" in answer


def test_reading_an_offer_is_pure_text_work() -> None:
    with pytest.raises(OfferRefused):
        read_offer("v=1")

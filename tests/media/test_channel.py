"""The data channel: bounds, sizes, odd clients."""

from __future__ import annotations

from media.channel import BUFFER_BYTES
from tests.media.peers import call, until
from tests.media.peers import no_loop_errors as no_loop_errors


async def test_the_largest_message_travels_both_ways() -> None:
    async with call() as (server, client):
        text = "x" * 262_144
        client.channel.send(text)
        await until(lambda: server.messages == [text], "at the server")
        assert server.peer.send(text)
        await until(lambda: client.messages == [text], "at the browser")
        assert not server.peer.send(text + "x")
        assert server.peer.stats().refused_messages == 1


async def test_what_waits_to_be_sent_is_bounded() -> None:
    async with call() as (server, client):
        piece = "y" * 10_000
        accepted = 0
        while server.peer.send(piece):
            accepted += 1
            assert accepted < 100
        assert accepted * len(piece) <= BUFFER_BYTES
        assert server.peer.stats().refused_messages == 1
        await until(lambda: len(client.messages) == accepted, "all that was accepted")
        assert server.peer.send(piece)


async def test_bytes_that_are_text_are_taken_others_counted() -> None:
    async with call() as (server, client):
        client.channel.send("é".encode())
        client.channel.send(b"\xff\xfe")
        client.channel.send("end")
        await until(lambda: "end" in server.messages, "last message")
        assert server.messages == ["é", "end"]
        assert server.peer.stats().refused_messages == 1


async def test_a_second_channel_is_ignored_while_the_first_is_open() -> None:
    async with call() as (server, client):
        other = client.pc.createDataChannel("other")
        await until(lambda: other.readyState == "open", "second channel")
        other.send("from the second")
        client.channel.send("from the first")
        await until(lambda: server.messages, "message")
        assert server.messages == ["from the first"]
        assert server.opened == 1


async def test_nothing_is_sent_before_the_channel_is_open() -> None:
    async with call() as (server, client):
        client.channel.close()
        await until(lambda: not server.peer.channel_open, "closed by the browser")
        assert not server.peer.send("x")
        again = client.pc.createDataChannel("chat")
        await until(lambda: server.peer.channel_open, "opened again")
        again.send("back")
        await until(lambda: server.messages == ["back"], "message")
        assert server.opened == 2

"""One socket for many peers: who gets which datagram, and who cannot take whose."""

from __future__ import annotations

import asyncio
import socket

import pytest

from media import mux as mux_module
from media.mux import MAX_ADDRESSES, UdpMux, host_addresses, ipv4, user_fragment
from tests.media.peers import no_loop_errors as no_loop_errors
from tests.media.peers import until


def stun_request(name: str, extra: bytes = b"") -> bytes:
    value = f"{name}:peer".encode()
    padded = value + bytes(-len(value) % 4)
    attributes = extra + b"\x00\x06" + len(value).to_bytes(2, "big") + padded
    size = len(attributes).to_bytes(2, "big")
    return b"\x00\x01" + size + b"\x21\x12\xa4\x42" + bytes(12) + attributes


class Endpoint:
    def __init__(self) -> None:
        self.datagrams: list[bytes] = []
        self.media: list[bytes] = []
        self.lost = 0
        self.receiver = self

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.datagrams.append(data)
        if data == b"\x20bad":
            raise RuntimeError("broken peer")

    def data_received(self, data: bytes, component: int) -> None:
        self.media.append(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost += 1


@pytest.fixture
async def mux():
    mux = UdpMux("127.0.0.1", 0)
    mux.start()
    yield mux
    mux.close()
    mux.close()


@pytest.fixture
def outside():
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 0))
    sock.setblocking(False)
    yield sock
    sock.close()


RTP = b"\x80\x60" + bytes(20)
DTLS = b"\x16\xfe" + bytes(20)
SUCCESS = b"\x01\x01" + bytes(18)
ERROR = b"\x01\x11" + bytes(18)


async def test_requests_go_by_name_the_rest_by_address(mux, outside) -> None:
    one, two = Endpoint(), Endpoint()
    first, second = mux.open("aaaa", one), mux.open("bbbb", two)
    outside.sendto(stun_request("bbbb"), mux.address)
    await until(lambda: two.datagrams, "request")
    assert one.datagrams == []
    outside.sendto(RTP, mux.address)
    await until(lambda: mux.strays == 1, "media of an unknown address")
    second.sendto(SUCCESS, outside.getsockname())
    outside.sendto(RTP, mux.address)
    outside.sendto(DTLS, mux.address)
    await until(lambda: len(two.datagrams) == 2, "DTLS")
    assert two.media == [RTP]
    first.close()
    second.close()


async def test_an_error_answer_teaches_no_address(mux, outside) -> None:
    endpoint = Endpoint()
    transport = mux.open("aaaa", endpoint)
    transport.sendto(ERROR, outside.getsockname())
    assert mux.routes == {}
    transport.close()


async def test_only_a_success_answer_takes_an_address_over(mux, outside) -> None:
    old, new = Endpoint(), Endpoint()
    leaving, coming = mux.open("aaaa", old), mux.open("bbbb", new)
    addr = outside.getsockname()
    leaving.sendto(SUCCESS, addr)
    coming.sendto(stun_request("x"), addr)
    assert mux.routes[addr] is old
    coming.sendto(SUCCESS, addr)
    assert mux.routes[addr] is new
    # The old peer's own consent checks do not take it back, and its end does not remove it.
    leaving.sendto(stun_request("x"), addr)
    leaving.close()
    assert mux.routes[addr] is new
    coming.close()
    assert mux.routes == {}


async def test_addresses_per_peer_are_bounded(mux) -> None:
    transport = mux.open("aaaa", Endpoint())
    for port in range(20_000, 20_000 + 3 * MAX_ADDRESSES):
        transport.sendto(SUCCESS, ("127.0.0.1", port))
    assert len(mux.routes) == MAX_ADDRESSES
    transport.close()


async def test_close_forgets_everything_and_tells_the_endpoint_once(mux) -> None:
    endpoint = Endpoint()
    transport = mux.open("aaaa", endpoint)
    transport.sendto(SUCCESS, ("127.0.0.1", 9))
    transport.close()
    transport.abort()
    await asyncio.sleep(0)
    assert (endpoint.lost, mux.names, mux.routes) == (1, {}, {})
    assert transport.is_closing()
    transport.sendto(SUCCESS, ("127.0.0.1", 9))
    assert mux.routes == {}


async def test_a_name_taken_anew_survives_the_close_of_its_first_owner(mux) -> None:
    first, second = mux.open("aaaa", Endpoint()), mux.open("aaaa", Endpoint())
    first.close()
    assert mux.names == {"aaaa": second}
    second.close()


async def test_a_peer_that_raises_costs_only_its_datagram(mux, outside) -> None:
    problems: list[dict] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))
    endpoint = Endpoint()
    transport = mux.open("aaaa", endpoint)
    transport.sendto(SUCCESS, outside.getsockname())
    outside.sendto(b"\x20bad", mux.address)
    outside.sendto(DTLS, mux.address)
    await until(lambda: DTLS in endpoint.datagrams, "the next datagram")
    assert mux.failures == len(problems) == 1
    transport.close()


async def test_noise_is_ignored(mux, outside) -> None:
    garbage = (b"", b"\x00", b"\x00\x01", stun_request("zzzz"), b"\xff" * 2000, b"\x00\x01" * 50)
    for noise in garbage:
        outside.sendto(noise, mux.address)
    await until(lambda: mux.strays == 6, "six strays")
    assert mux.failures == 0


def test_user_fragment_reads_only_well_formed_requests() -> None:
    assert user_fragment(stun_request("abcd")) == "abcd"
    assert user_fragment(stun_request("abcd", b"\x80\x22\x00\x03abc\x00")) == "abcd"
    assert user_fragment(b"\x00\x01" + bytes(18)) is None
    assert user_fragment(bytes(20) + b"\x00\x06\xff\xff") == ""


def test_advertised_addresses() -> None:
    assert UdpMux("127.0.0.1", 0).advertise == ("127.0.0.1",)
    assert UdpMux("0.0.0.0", 0).advertise == host_addresses()
    assert UdpMux("0.0.0.0", 0, ("203.0.113.7",)).advertise == ("203.0.113.7",)


def test_hosts_are_ipv4_or_names_of_it() -> None:
    assert [ipv4(h) for h in ("127.0.0.1", "localhost", "::1")] == ["127.0.0.1"] * 3
    assert [ipv4(h) for h in ("0.0.0.0", "::", "")] == ["0.0.0.0"] * 3
    with pytest.raises(ValueError):
        UdpMux("127.0.0.1", 0, ("voice.example.org",))


def test_host_addresses_end_with_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ip:
        def __init__(self, ip: object) -> None:
            self.ip = ip

    class Adapter:
        ips = (
            *(Ip(a) for a in ("127.0.0.1", "10.0.0.5", "169.254.1.1", "10.0.0.5")),
            Ip(("fe80::1", 0, 2)),
            *(Ip(f"10.1.0.{n}") for n in range(20)),
        )

    monkeypatch.setattr(mux_module.ifaddr, "get_adapters", lambda: [Adapter()])
    found = host_addresses()
    assert found[0] == "10.0.0.5"
    assert found[-1] == "127.0.0.1"
    assert len(found) == len(set(found)) == mux_module.MAX_ADVERTISED


async def test_a_taken_port_is_an_error_without_a_leak(mux) -> None:
    with pytest.raises(OSError, match="in use"):
        UdpMux("127.0.0.1", mux.port).start()


async def test_without_a_socket_there_is_no_port() -> None:
    with pytest.raises(RuntimeError):
        _ = UdpMux("127.0.0.1", 0).port

"""One UDP socket for every peer of a process: one port for a firewall, a container or a 1:1 NAT.

Datagrams find their peer by ICE user name (STUN requests) or by address (everything else). An
address is learned only from what we answer with success or send ourselves, so a stranger's
packets cannot claim or evict one.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Callable
from typing import Any, Protocol

import ifaddr
from aioice import Connection

from media.hooks import gather_through

# Datagrams per turn of the loop, about 4 ms of work: a stalled loop catches up without starving
# the pacer.
BATCH = 16
BUFFER_BYTES = 4 << 20
MAX_DATAGRAM = 2048
MAX_ADDRESSES = 32  # per peer; the oldest is forgotten
MAX_ADVERTISED = 8
_EXPEDITED = 0xB8  # DSCP EF (RFC 8837: audio)

_STUN_REQUEST = b"\x00\x01"
_STUN_SUCCESS = b"\x01\x01"
_STUN_ERROR = b"\x01\x11"
_USERNAME = 6

Address = tuple[str, int]


class Receiver(Protocol):
    """What takes datagrams: aioice's Connection, seen from here."""

    def data_received(self, data: bytes, component: int) -> None: ...


class Endpoint(Protocol):
    """One peer's side of the socket: aioice's StunProtocol, seen from here."""

    receiver: Any

    def datagram_received(self, data: bytes, addr: Address) -> None: ...

    def connection_lost(self, exc: Exception | None) -> None: ...


def host_addresses() -> tuple[str, ...]:
    """Every IPv4 address of this machine that a browser may reach, loopback last."""
    found: list[str] = []
    for adapter in ifaddr.get_adapters():
        for ip in adapter.ips:
            if isinstance(ip.ip, str):
                address = ipaddress.ip_address(ip.ip)
                if not (address.is_loopback or address.is_link_local) and ip.ip not in found:
                    found.append(ip.ip)
    return (*found[: MAX_ADVERTISED - 1], "127.0.0.1")


def ipv4(host: str) -> str:
    """The IPv4 address to bind for a configured host; raises OSError for an unknown name."""
    if host in ("", "::"):
        return "0.0.0.0"
    if host == "::1":
        return "127.0.0.1"
    try:
        return str(ipaddress.IPv4Address(host))
    except ValueError:
        return socket.gethostbyname(host)


def user_fragment(data: bytes) -> str | None:
    """Our half of the USERNAME of a STUN request (RFC 8489 14.3), or None."""
    at, end = 20, len(data)
    while at + 4 <= end:
        kind = int.from_bytes(data[at : at + 2], "big")
        size = int.from_bytes(data[at + 2 : at + 4], "big")
        if kind == _USERNAME:
            name = data[at + 4 : at + 4 + size].split(b":", 1)[0]
            return name.decode("ascii", "replace")
        at += 4 + size + (-size % 4)
    return None


class MuxTransport(asyncio.DatagramTransport):
    """The transport that one peer's endpoint sends through."""

    def __init__(self, mux: UdpMux, name: str, endpoint: Endpoint) -> None:
        super().__init__()
        self._mux, self._name, self.endpoint = mux, name, endpoint
        self._addresses: dict[Address, None] = {}
        self._closed = False

    def sendto(self, data: Any, addr: Any = None) -> None:
        if self._closed:
            return
        if addr not in self._addresses or self._mux.routes.get(addr) is not self.endpoint:
            self._learn(data, addr)
        self._mux.send(data, addr)

    def _learn(self, data: bytes, addr: Address) -> None:
        head = data[:2]
        if head == _STUN_ERROR:
            return
        owner = self._mux.routes.get(addr)
        # Only a success answer (the other side knew our password) takes an address over.
        if owner is not None and owner is not self.endpoint and head != _STUN_SUCCESS:
            return
        self._mux.routes[addr] = self.endpoint
        self._addresses[addr] = None
        if len(self._addresses) > MAX_ADDRESSES:
            self._forget(next(iter(self._addresses)))

    def _forget(self, addr: Address) -> None:
        self._addresses.pop(addr, None)
        if self._mux.routes.get(addr) is self.endpoint:
            del self._mux.routes[addr]

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._mux.address if name == "sockname" else default

    def is_closing(self) -> bool:
        return self._closed

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        for addr in tuple(self._addresses):
            self._forget(addr)
        if self._mux.names.get(self._name) is self:
            del self._mux.names[self._name]
        asyncio.get_running_loop().call_soon(self.endpoint.connection_lost, None)

    abort = close


class UdpMux:
    """The socket. `advertise` names the addresses that answers carry; by default the bound one.

    Raises ValueError for an advertised address that is not IPv4, OSError for an unknown host.
    """

    def __init__(self, host: str, port: int, advertise: tuple[str, ...] = ()) -> None:
        self._host, self._port = ipv4(host), port
        bound = host_addresses() if self._host == "0.0.0.0" else (self._host,)
        self.advertise = tuple(str(ipaddress.IPv4Address(ip)) for ip in advertise) or bound
        self.names: dict[str, MuxTransport] = {}
        self.routes: dict[Address, Endpoint] = {}
        self.received = self.unsent = self.strays = self.failures = 0
        self._socket: socket.socket | None = None

    @property
    def port(self) -> int:
        """The bound UDP port."""
        return self.address[1]

    @property
    def address(self) -> Address:
        if self._socket is None:
            raise RuntimeError("the UDP socket is not open")
        host, port = self._socket.getsockname()[:2]
        return str(host), int(port)

    def start(self) -> None:
        """Binds and reads. Raises OSError when the port is taken."""
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            sock.setblocking(False)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
            sock.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, _EXPEDITED)
            sock.bind((self._host, self._port))
        except OSError:
            sock.close()
            raise
        self._socket = sock
        asyncio.get_running_loop().add_reader(sock.fileno(), self._read)

    def close(self) -> None:
        """Idempotent. Peers must be closed before."""
        sock, self._socket = self._socket, None
        if sock is not None:
            asyncio.get_running_loop().remove_reader(sock.fileno())
            sock.close()
        self.names.clear()
        self.routes.clear()

    def attach(self, connection: Connection) -> Callable[[], None]:
        """Makes an ICE connection gather this socket instead of opening its own.

        Returns what drops the connection's entries, also when it never closes properly.
        """
        opened: list[MuxTransport] = []

        def open_transport(name: str, endpoint: Endpoint) -> MuxTransport:
            opened.append(self.open(name, endpoint))
            return opened[-1]

        def release() -> None:
            for transport in opened:
                transport.close()

        gather_through(connection, open_transport, self.advertise, self.port)
        return release

    def open(self, name: str, endpoint: Endpoint) -> MuxTransport:
        """A transport for the peer whose ICE user name fragment is `name`."""
        transport = self.names[name] = MuxTransport(self, name, endpoint)
        return transport

    def send(self, data: bytes, addr: Address) -> None:
        """Sends or drops (a full buffer, no route): media is never queued."""
        if self._socket is None:
            return
        try:
            self._socket.sendto(data, addr)
        except OSError:
            self.unsent += 1

    def _read(self) -> None:
        sock = self._socket
        for _ in range(BATCH):
            if sock is None or sock is not self._socket:
                return
            try:
                data, addr = sock.recvfrom(MAX_DATAGRAM)
            except OSError:
                return
            self.received += 1
            try:
                self._dispatch(data, addr)
            # The boundary between the socket and the peers: one bad datagram costs only itself.
            except Exception as error:
                self.failures += 1
                asyncio.get_running_loop().call_exception_handler(
                    {"message": "a datagram could not be handled", "exception": error}
                )

    def _dispatch(self, data: bytes, addr: Address) -> None:
        if len(data) < 2:
            self.strays += 1
            return
        endpoint = self.routes.get(addr)
        if 127 < data[0] < 192:  # RTP and RTCP (RFC 7983), most of all traffic
            if endpoint is not None:
                endpoint.receiver.data_received(data, 1)
            else:
                self.strays += 1
            return
        if data[:2] == _STUN_REQUEST:
            name = user_fragment(data)
            transport = self.names.get(name) if name is not None else None
            endpoint = None if transport is None else transport.endpoint
        if endpoint is not None:
            endpoint.datagram_received(data, addr)
        else:
            self.strays += 1

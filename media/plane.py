"""What the peers of a process share: one UDP port, one pacer, the settings of every connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, Self

from aiortc import (
    RTCBundlePolicy,
    RTCConfiguration,
    RTCIceServer,
    RTCPeerConnection,
    RTCRtpTransceiver,
)

from media.hooks import connection_of
from media.mux import UdpMux
from media.opus import library
from media.pacer import Pacer, Tick
from media.peer import Peer, report
from media.peer_state import PeerState


class MediaPlane:
    """What all peers of a process share: UDP port, pacer, settings. An async context manager.

    `host` 127.0.0.1 offers only that; 0.0.0.0 offers every IPv4 address of the machine and
    loopback; `advertise` replaces them (a public address behind 1:1 NAT). `ice_servers` are
    `{urls, username?, credential?}`; by default nobody is asked. `raw_hooks=False` uses only the
    public API of the library: more CPU, more delay, a random port per peer.
    """

    def __init__(
        self,
        *,
        host: str,
        udp_port: int,
        advertise: tuple[str, ...] = (),
        ice_servers: Sequence[Mapping[str, Any]] = (),
        raw_hooks: bool = True,
    ) -> None:
        self.raw_hooks = raw_hooks
        self.peers: set[Peer] = set()
        self.pacer = Pacer(self._tick_failed)
        self.mux = UdpMux(host, udp_port, advertise) if raw_hooks else None
        self._servers = [RTCIceServer(**server) for server in ice_servers]
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Loads libopus, binds the UDP port. Raises OpusMissing, or OSError when it is taken."""
        library()
        if self.mux is not None:
            self.mux.start()
            self._stack.callback(self.mux.close)
        pacer = asyncio.create_task(self.pacer.run(), name="media:pacer")
        self._stack.push_async_callback(_cancelled, pacer)
        self._stack.push_async_callback(self._close_peers)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    @property
    def udp_port(self) -> int | None:
        """The bound port; None without raw hooks."""
        return None if self.mux is None else self.mux.port

    def peer(
        self,
        *,
        on_audio: Callable[[bytes, float], None],
        pull: Callable[[float], bytes | None],
        on_message: Callable[[str], None],
        on_state: Callable[[PeerState], None],
    ) -> Peer:
        """A peer that waits for its offer. Its owner closes it; the plane does so at the end."""
        peer = Peer(self, on_audio=on_audio, pull=pull, on_message=on_message, on_state=on_state)
        self.peers.add(peer)
        return peer

    def connection(self) -> RTCPeerConnection:
        """A new connection. An empty server list, not None: None asks a public STUN server."""
        return RTCPeerConnection(
            RTCConfiguration(iceServers=self._servers, bundlePolicy=RTCBundlePolicy.MAX_BUNDLE)
        )

    def share(self, transceiver: RTCRtpTransceiver) -> Callable[[], None]:
        """Puts a connection on the shared UDP port; returns what takes it off again."""
        if self.mux is None:
            return lambda: None
        return self.mux.attach(connection_of(transceiver))

    async def _close_peers(self) -> None:
        await asyncio.gather(*(peer.close() for peer in tuple(self.peers)))

    def _tick_failed(self, tick: Tick, error: Exception) -> None:
        report("a tick of a peer failed", error)
        for peer in tuple(self.peers):
            if peer.tick == tick:
                peer.end("tick failed")


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])

"""Who is on the line: the peer of a lesson, its replacement by a newer one, and its absence."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from media.peer import Peer, PeerState, PeerStats
from media.plane import MediaPlane
from media.spans import OFFER_TO_ANSWER, Spans
from server import rtvi
from server.channel import Channel
from server.errors import Unavailable
from server.farewell import CLOSED_TEXT

# A peer that went away, or never came, may be replaced within this time (design 5.6).
PEER_GRACE_S = 15.0


class Attendance:
    """At most one peer at a time; the one before is told and closed before the next may speak.

    `hear` and `pull` carry its sound, `channel` its words; `missing` is called once when nobody
    has been on the line for PEER_GRACE_S, `unheard` with the seconds that a lost line was dead,
    `absent` whenever whoever was on the line is lost or replaced.
    """

    def __init__(
        self,
        plane: MediaPlane,
        channel: Channel,
        *,
        hear: Callable[[bytes, float], None],
        pull: Callable[[float], bytes | None],
        message: Callable[[str], None],
        missing: Callable[[], None],
        unheard: Callable[[float], None],
        absent: Callable[[], None],
        spans: Spans,
    ) -> None:
        self._plane, self._channel, self._spans = plane, channel, spans
        self._hear, self._pull, self._message, self._missing = hear, pull, message, missing
        self._unheard, self._absent = unheard, absent
        self._loop = asyncio.get_running_loop()
        self._peer: Peer | None = None
        self._attaching = asyncio.Lock()
        self._grace: asyncio.TimerHandle | None = None
        self._ended = False
        # Somebody has been on the line.
        self.joined = False

    @property
    def peer_id(self) -> str | None:
        return self._peer.id if self._peer else None

    @property
    def stats(self) -> PeerStats | None:
        """Of the peer while it is connected."""
        peer = self._peer
        return peer.stats() if peer and peer.state is PeerState.CONNECTED else None

    async def attach(self, offer_sdp: str) -> tuple[str, str]:
        """Answers an offer: (answer SDP, peer id). An offer that is refused changes nothing.

        Raises OfferRefused; Unavailable when the lesson is ending.
        """
        async with self._attaching:
            self._require_open()
            started = self._loop.time()
            peer = self._plane.peer(
                on_audio=self._hear,
                pull=self._pull,
                on_message=self._message,
                on_state=lambda state: self._moved(peer, state),
            )
            try:
                answer = await peer.answer(offer_sdp)
                self._spans.add(OFFER_TO_ANSWER, self._loop.time() - started)
                missed_since = await self._replace()
                self._require_open()
            except BaseException:
                await peer.close()
                raise
            self._peer = peer
            self._channel.attach(peer.send, missed_since=missed_since)
            self._await_peer()
            return answer, peer.id

    async def _replace(self) -> float | None:
        """Sends the peer before away; when it was heard last, None without one."""
        old = self._peer
        if old is None:
            return None
        heard_at = self._loop.time() - old.stats().quiet_s
        self._absent()
        await self._dismiss(rtvi.Closed(reason="replaced", text=CLOSED_TEXT["replaced"]))
        return heard_at

    async def end(self, farewell: rtvi.Closed) -> None:
        """Nobody attaches any more, and whoever is here leaves."""
        self._ended = True
        if self._grace is not None:
            self._grace.cancel()
            self._grace = None
        await self._dismiss(farewell)

    async def _dismiss(self, farewell: rtvi.Closed) -> None:
        peer, self._peer = self._peer, None
        if peer is not None:
            self._channel.farewell(farewell)
        self._channel.detach()
        if peer is not None:
            await peer.close()

    def _require_open(self) -> None:
        if self._ended:
            raise Unavailable(
                "This voice session is ending. Please try again.", details={"reason": "ending"}
            )

    def _moved(self, peer: Peer, state: PeerState) -> None:
        """A peer that was replaced has nothing to say any more."""
        if peer is not self._peer:
            return
        if state is PeerState.CONNECTED:
            self.joined = True
            if self._grace is not None:
                self._grace.cancel()
                self._grace = None
        elif state is PeerState.LOST and self._grace is None:
            self._unheard(peer.stats().quiet_s)
            self._absent()
            self._await_peer()

    def _await_peer(self) -> None:
        """Nobody is connected now: somebody has to be, PEER_GRACE_S from now."""
        if self._grace is not None:
            self._grace.cancel()
        if not self._ended:
            self._grace = self._loop.call_later(PEER_GRACE_S, self._missing)

"""The one sender of a lesson's data channel: order, bounds, admission. Survives a change of peer.

Outgoing messages wait (bounded) until the client said `client-ready`, so none is lost to a page
that is not listening yet, nor to a connection that had died unnoticed. Incoming ones pass a token
bucket: what is too frequent, too large or not understood is dropped and counted, and never ends a
lesson (RTC-13).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable

from pydantic import BaseModel

from server import rtvi

# Messages kept for a client that is not ready; the oldest goes first.
WAITING_MAX = 256
# Sent frames kept for a peer that replaces one which was gone already.
SENT_MAX = 128
# Token bucket of client messages: sustained a second, and burst.
RATE_PER_S = 40.0
BURST = 80.0

Send = Callable[[str], bool]

# What a new page is told at once and whole: these never wait, the snapshot holds their newest.
_SNAPSHOT = (rtvi.Status, rtvi.Agenda, rtvi.Cost)


class Channel:
    """`on_message` gets what a client said and was admitted; `now` is monotonic seconds."""

    def __init__(
        self,
        on_message: Callable[[rtvi.Received], None],
        now: Callable[[], float],
    ) -> None:
        self._on_message = on_message
        self._now = now
        self._send: Send | None = None
        self._ready = False
        self._waiting: deque[str] = deque(maxlen=WAITING_MAX)
        self._sent: deque[tuple[float, str]] = deque(maxlen=SENT_MAX)
        self._tokens, self._filled_at = BURST, now()
        self.counts: Counter[str] = Counter()

    def attach(self, send: Send, *, missed_since: float | None = None) -> None:
        """A new peer carries the channel from now on; it has to say `client-ready` first.

        `missed_since`: the peer before it was not heard after this moment, so that what it was
        sent since then is told again.
        """
        self._send, self._ready = send, False
        if missed_since is not None:
            missed = [frame for at, frame in self._sent if at >= missed_since]
            self._waiting.extendleft(reversed(missed))
        self._sent.clear()

    def detach(self) -> None:
        self._send, self._ready = None, False

    @property
    def ready(self) -> bool:
        return self._ready

    def send(self, message: BaseModel | str) -> None:
        """Sends now, or keeps the message for a client that is not ready yet."""
        if self._ready:
            frame = rtvi.encode(message)
            if not isinstance(message, _SNAPSHOT):
                self._sent.append((self._now(), frame))
            self._put(frame)
        elif not isinstance(message, _SNAPSHOT):
            if len(self._waiting) == WAITING_MAX:
                self.counts["waiting_dropped"] += 1
            self._waiting.append(rtvi.encode(message))

    def send_if_ready(self, message: BaseModel | str) -> None:
        """For what is stale a moment later (levels): never waits."""
        if self._ready:
            self._put(rtvi.encode(message))

    def farewell(self, message: BaseModel) -> None:
        """The last words to this peer, ready or not; the next peer never hears of them."""
        self._put(rtvi.encode(message))
        self._put(rtvi.PEER_LEFT)

    def reply_ready(self, message_id: str, snapshot: list[BaseModel | str]) -> None:
        """Answers `client-ready`: `bot-ready`, the state of now, then what waited."""
        self._ready = True
        self._put(rtvi.encode(rtvi.bot_ready(), message_id or None))
        for message in snapshot:
            self._put(rtvi.encode(message))
        while self._waiting:
            frame = self._waiting.popleft()
            self._sent.append((self._now(), frame))
            self._put(frame)

    def refuse(self, message_id: str, why: str) -> None:
        """Answers a client message that was understood and not taken."""
        self._put(rtvi.encode(rtvi.ErrorResponse(error=why), message_id or None))

    def received(self, frame: str) -> None:
        """One frame from the peer."""
        if not self._admit():
            self.counts["too_frequent"] += 1
            return
        got = rtvi.decode(frame)
        if isinstance(got, rtvi.Dropped):
            self.counts[got.why] += 1
            if got.answer:
                self.refuse(got.id, got.answer)
            return
        self._on_message(got)

    def _put(self, frame: str) -> None:
        if self._send is None or not self._send(frame):
            self.counts["unsent"] += 1

    def _admit(self) -> bool:
        now = self._now()
        self._tokens = min(BURST, self._tokens + (now - self._filled_at) * RATE_PER_S)
        self._filled_at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

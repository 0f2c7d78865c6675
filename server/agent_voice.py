"""The tutor's end of a talk whose replies come from the agent: sound of the Live voice or of the
speech model, what was heard of it, replays, and how long each turn took. It decides nothing. No
I/O."""

from __future__ import annotations

import logging
from collections.abc import Callable

from media import turn_events as ev
from media.playout import Playout
from media.sound import RATE
from media.spans import LEARNER_TO_TUTOR, REPLY_TO_RTP
from server.replays import Replays
from server.room import Room
from server.turn_metrics import TurnMetrics

log = logging.getLogger(__name__)


class AgentVoice:
    """`handle` gets what the playout says; `replaying` is told when a replay begins and ends."""

    def __init__(
        self,
        room: Room,
        handle: Callable[[ev.TurnEvent], None],
        replaying: Callable[[bool], None],
        metrics: TurnMetrics,
    ) -> None:
        self._room, self._handle, self._metrics = room, handle, metrics
        self._now, self._tell = room.now, room.tell
        self._playout = Playout(on_started=self._started, on_drained=self._drained)
        self.replays = Replays(self._playout, room.tell, replaying)
        self._byte_at: float | None = None
        self.sounded_at = room.now()
        self.reply_s: float | None = None

    # --- what goes in -----------------------------------------------------------------------------

    def begin(self, turn_id: str, text: str) -> None:
        """A reply is awaited; these are all its words."""
        self.replays.halt()
        self._byte_at = None
        self._playout.begin(turn_id)
        self._playout.text(text)

    def audio(self, pcm: bytes, rate: int = RATE) -> None:
        """A piece of the current reply: PCM16 mono at `rate` Hz."""
        turn_id = self._playout.turn_id
        if turn_id is not None and self._byte_at is None:
            self._byte_at = self._now()
            self._metrics.reply_began(turn_id, self._byte_at)
        self._playout.audio(pcm, rate)

    def complete(self) -> None:
        self._playout.complete()

    def flush(self) -> None:
        sounding = self._playout.playing
        if sounding:
            self._metrics.silenced(self._playout.turn_id, self._now())
        self._playout.flush()
        if sounding:
            self._tell("bot-stopped-speaking")

    # --- what comes out ---------------------------------------------------------------------------

    def pull(self, at: float) -> bytes | None:
        """20 ms of the tutor, PCM16 mono 24 kHz, or None: silence."""
        block = self.replays.pull()
        if block is None:
            block = self._playout.pull(at)
        if block is not None:
            self.sounded_at = at
        return block

    def _started(self, turn_id: str, at: float) -> None:
        if self._byte_at is not None and not self._metrics.heard(turn_id):
            self._room.spans.add(REPLY_TO_RTP, self._now() - self._byte_at)
        self._metrics.sounded(turn_id, at)
        self._tell("bot-started-speaking")
        self._handle(ev.PlayoutStarted(at, turn_id))

    def _drained(self, turn_id: str, at: float) -> None:
        self._tell("bot-stopped-speaking")
        self._handle(ev.PlayoutDrained(at, turn_id))

    # --- what was heard ---------------------------------------------------------------------------

    @property
    def playing(self) -> bool:
        """Something of a reply is left to be heard."""
        return self._playout.playing

    def heard(self, turn_id: str) -> str:
        """Words of one of the last replies, as far as they were heard."""
        return self._playout.heard(turn_id).text

    def unheard(self, seconds: float) -> None:
        """What was played into a dead line."""
        self._playout.rewind(seconds * 1000)

    def finished(self, turn_id: str) -> None:
        """A reply is over, heard or not: its times are told (OWN-11, CARD-13)."""
        spans = self._metrics.finished(turn_id, self._now())
        if spans.gate is not None and spans.learner_to_tutor is not None:
            self.reply_s = spans.learner_to_tutor
            self._room.spans.add(LEARNER_TO_TUTOR, self.reply_s)
        log.debug("turn_metrics", extra=spans.log_fields())
        self._room.tell_level(spans.message())
        self._room.timed(spans)

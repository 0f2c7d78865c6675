"""The tutor's end of a native talk: replies as sound, by the Live service or by a stand-in, and
replays of them. What leaves for the learner is what the gate knows as a possible echo. It decides
nothing. No I/O.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

from pydantic import BaseModel

from media import turn_events as ev
from media.gate import Gate
from media.playout import Heard, Playout
from media.sound import BYTES_PER_MS, RATE
from media.spans import REPLY_TO_RTP, Spans
from server.captions import Captions
from server.replays import Replays
from server.stand_in import StandIn
from server.turn_metrics import TurnMetrics

log = logging.getLogger(__name__)

# So many blocks of the tutor with their echo at the microphone, before anybody is told of it.
ECHO_BLOCKS = 150
BLOCK_S = 0.02
# Lateness that is averaged away, and how fast; more is a new beginning.
STALL_S, PULL = 0.25, 0.05


class Takes(Protocol):
    """The turn machine's ear: whether what was just announced is current."""

    @property
    def accepts_audio(self) -> bool: ...


class TutorVoice:
    """`handle` gets what the playout and the stand-in say."""

    def __init__(
        self,
        gate: Gate,
        turns: Takes,
        *,
        handle: Callable[[ev.TurnEvent], None],
        captions: Captions,
        tell: Callable[[BaseModel | str], None],
        metrics: TurnMetrics,
        now: Callable[[], float],
        spans: Spans,
        stand_in: StandIn | None,
    ) -> None:
        self._gate, self._turns, self._handle = gate, turns, handle
        self._captions, self._tell, self._metrics = captions, tell, metrics
        self._now, self._spans, self._stand_in = now, spans, stand_in
        self._playout = Playout(on_started=self._started, on_drained=self._drained)
        self.replays = Replays(self._playout, tell, self._replaying)
        self._reply_at: float | None = None
        self._inaudible = ""
        self._echoed_blocks = 0
        self.sounded_at = self._steady_at = now()
        self.on = True

    # --- what comes out ---------------------------------------------------------------------------

    def pull(self, at: float) -> bytes | None:
        """Every 20 ms: so much of the tutor, PCM16 mono 24 kHz, or None: silence."""
        self._tick(at)
        again = self.replays.pull()
        block = self._playout.pull(at) if again is None else again
        if block is None:
            return None
        self.sounded_at = at
        if again is None and not self.on:
            return None
        self._gate.played(block, self._steady_at)
        self._mind_echo()
        return block

    def _tick(self, at: float) -> None:
        """The learner plays what leaves 20 ms apart, however unsteady our own clock ticks."""
        self._steady_at += BLOCK_S
        off = at - self._steady_at
        self._steady_at += off if abs(off) > STALL_S else PULL * off

    def _mind_echo(self) -> None:
        """A microphone that keeps hearing the tutor: told once a lesson (PAINS T18)."""
        delay_ms = self._gate.echo_delay_ms
        if delay_ms is None or self._echoed_blocks >= ECHO_BLOCKS:
            return
        self._echoed_blocks += 1
        if self._echoed_blocks == ECHO_BLOCKS:
            log.info("the tutor is heard back", extra={"delay_ms": delay_ms})
            self._captions.trouble("echo", self._playout.turn_id or "")

    def _started(self, turn_id: str, at: float) -> None:
        if self._reply_at is not None:
            self._spans.add(REPLY_TO_RTP, self._now() - self._reply_at)
            self._reply_at = None
        self._metrics.sounded(turn_id, at)
        self._gate.set_tutor_speaking(True)
        self._tell("bot-started-speaking")
        self._handle(ev.PlayoutStarted(at, turn_id))

    def _drained(self, turn_id: str, at: float) -> None:
        self._gate.set_tutor_speaking(False)
        self._tell("bot-stopped-speaking")
        audible = self._playout.audible
        self._inaudible = "" if audible else turn_id
        self._handle(ev.PlayoutDrained(at, turn_id, audible))

    def _replaying(self, sounding: bool) -> None:
        self._gate.set_tutor_speaking(sounding)
        self._captions.replaying(sounding)

    # --- what goes in -----------------------------------------------------------------------------

    def audio(self, pcm: bytes, rate: int) -> None:
        """A piece of the reply: PCM16 mono at `rate` Hz."""
        self._handle(ev.TutorAudioArrived(self._now(), len(pcm) / 2 / rate * 1000))
        if self._turns.accepts_audio:
            self._playout.audio(pcm, rate)

    def words(self, text: str) -> None:
        """Words of the reply that sound; they anchor what has been heard."""
        self._handle(ev.TutorWords(self._now(), text))
        if self._turns.accepts_audio:
            self._playout.text(text)

    def perform(self, effect: ev.Effect) -> None:
        """Those effects of the turn machine that are about the voice; others are ignored."""
        match effect:
            case ev.BeginReply(turn_id=turn_id):
                self._reply_at = self._now()
                self._metrics.reply_began(turn_id, self._reply_at)
                self.replays.halt()
                self._playout.begin(turn_id)
            case ev.EndReply():
                self._playout.complete()
            case ev.Duck():
                self._playout.duck()
            case ev.Unduck():
                self._playout.unduck()
            case ev.Pause():
                self._reply_at = None  # held back on purpose: no latency of ours
                self._metrics.paused(self._playout.turn_id, self._now())
                self._playout.pause()
            case ev.Resume():
                self._metrics.resumed(self._playout.turn_id)
                self._playout.resume()
            case ev.Flush():
                self._flush()
            case ev.VoiceText(turn_id=turn_id, text=text):
                self._voice(turn_id, text)
            case _:
                pass

    def _flush(self) -> None:
        if self._stand_in is not None:
            self._stand_in.stop()
        sounding = self._playout.playing
        if sounding:
            self._metrics.silenced(self._playout.turn_id, self._now())
        self._playout.flush()
        self._gate.set_tutor_speaking(False)
        if sounding:
            self._tell("bot-stopped-speaking")

    def _voice(self, turn_id: str, text: str) -> None:
        """Another voice says what came in writing; the machine takes it for the reply's own."""

        def voiced(pcm: bytes) -> None:
            self._handle(ev.TutorAudioArrived(self._now(), len(pcm) / BYTES_PER_MS))
            if self._turns.accepts_audio:
                self._playout.begin(turn_id)
                self._playout.text(text)
                self._playout.audio(pcm, RATE)
                self._playout.complete()
            self._handle(ev.GenerationCompleted(self._now()))
            self._handle(ev.TurnCompleted(self._now()))

        def unvoiced() -> None:
            self._handle(ev.TextUnvoiced(self._now(), turn_id))

        if self._stand_in is None:
            unvoiced()
        else:
            self._stand_in.voice(text, voiced, unvoiced)

    def close(self) -> None:
        self._playout.flush()

    # --- what was heard ---------------------------------------------------------------------------

    def heard(self, turn_id: str) -> Heard:
        """Of one of the last replies; nothing of one that no person could have heard."""
        heard = self._playout.heard(turn_id)
        if turn_id == self._inaudible:
            return Heard("", heard.text + heard.unheard, heard.played_ms, heard.total_ms)
        return heard

    def unheard(self, seconds: float) -> None:
        """The line was dead for so long: what was played into it is not counted as heard."""
        self._playout.rewind(seconds * 1000)

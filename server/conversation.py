"""One spoken conversation: what the peer and the Live session say goes through the turn machine,
and what the machine decides is played, sent, shown or handed on as a finished exchange.

Synchronous throughout: every callback does its work and returns; time comes from the loop. It
owns no task and no socket, and it decides nothing that `Turns` could decide.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from pydantic import BaseModel

from media import turn_events as ev
from media.gate import Gate, GateStep
from media.live import port
from media.playout import Heard, Playout
from media.sound import BYTES_PER_MS
from media.spans import LEARNER_TO_TUTOR, MIC_TO_GATE, REPLY_TO_RTP, Spans
from media.turns import State, Turns
from server import rtvi
from server.captions import Captions
from server.exchanges import Exchange
from server.replays import Replays
from server.stand_in import StandIn
from server.talk_key import TalkKey
from server.turn_metrics import TurnMetrics, TurnSpans

log = logging.getLogger(__name__)

# Design 3.3: at most 5 `activity` messages a second.
LEVEL_EVERY_S = 0.2
LEVEL_AGAIN_S = 2.0
# Silence sent on after speech while no answer has come: the bound of what it may cost.
PATIENCE_S = 6.0
_SILENCE = bytes(640)
# Troubles of a session that may be gone without a close: the next sound finds a new socket.
DEAF = ("silent_turn", "empty_turns")


class Link(Protocol):
    """What the conversation asks of the Live session's keeper."""

    def audio(self, pcm: bytes, at: float) -> None: ...
    def activity(self, started: bool) -> None: ...
    def prompt(self, text: str) -> None: ...
    def holds(self, text: str) -> bool: ...
    def quiet_moment(self) -> None: ...
    def sleep(self) -> None: ...


class Conversation:
    """`tell` reaches the learner's page; `finished` takes each exchange with words heard."""

    def __init__(
        self,
        *,
        gate: Gate,
        turns: Turns,
        captions: Captions,
        tell: Callable[[BaseModel | str], None],
        tell_level: Callable[[BaseModel], None],
        finished: Callable[[Exchange], None],
        now: Callable[[], float],
        spans: Spans,
        manual_activity: bool = False,
        stand_in: StandIn | None = None,
    ) -> None:
        self._gate, self._turns = gate, turns
        self._tell, self._tell_level, self._finished = tell, tell_level, finished
        self._captions, self._now, self._spans = captions, now, spans
        self._manual, self._stand_in = manual_activity, stand_in
        self._playout = Playout(on_started=self._play_started, on_drained=self._play_drained)
        self._replays = Replays(self._playout, tell, self._replaying)
        self._link: Link | None = None
        self._level_at = 0.0
        self._patient_until = 0.0
        self._shown_level: rtvi.ActivityLevel | None = None
        self._reply_at: float | None = None
        self._inaudible = ""
        self.microphone_on = True
        self.speech_on = True
        self.last_voice_at = now()
        self.reply_s: float | None = None
        self.metrics = TurnMetrics()
        self.on_turn: Callable[[TurnSpans], None] = lambda spans: None
        self.on_deadline_changed: Callable[[], None] = lambda: None
        self.on_turned: Callable[[ev.TurnEvent, Sequence[ev.Effect]], None] = lambda *_: None
        self._key = TalkKey(gate, lambda: turns.claimable, self._handle)

    def connect(self, link: Link) -> None:
        self._link = link

    # --- sound ----------------------------------------------------------------------------------

    def hear(self, pcm: bytes, at: float) -> None:
        """20 ms of the microphone, PCM16 mono 16 kHz, that arrived at `at`."""
        self._spans.add(MIC_TO_GATE, self._now() - at)
        heard = self.microphone_on or self._gate.holding
        step = self._gate.feed(pcm if heard else _SILENCE, at)
        for event in step.events:
            self._gate_event(event)
        self._key.heard(at)
        forward = step.forward or self._patience(at)
        if forward and self._link is not None:
            self._link.audio(forward, at)
        if at - self._level_at >= LEVEL_EVERY_S:
            self._show_level(step, at)

    def _patience(self, at: float) -> bytes:
        """The gate is shut and the answer is due: a service that is slow to notice the end of
        speech is never starved of the silence it needs for that: it can only count audio."""
        if self._manual or self._turns.state is not State.FORMULATING:
            return b""
        return _SILENCE if at < self._patient_until else b""

    def _show_level(self, step: GateStep, at: float) -> None:
        """A level that does not move is told again only now and then."""
        level = rtvi.ActivityLevel(level=round(step.level, 2), sending=bool(step.forward))
        if level != self._shown_level or at - self._level_at >= LEVEL_AGAIN_S:
            self._level_at, self._shown_level = at, level
            self._tell_level(level)

    def pull(self, at: float) -> bytes | None:
        """20 ms of the tutor, PCM16 mono 24 kHz, or None: silence."""
        again = self._replays.pull()
        block = self._playout.pull(at) if again is None else None
        if block is not None or again is not None:
            self.last_voice_at = at
        return block if again is None and self.speech_on else again

    def _gate_event(self, event: ev.TurnEvent) -> None:
        match event:
            case ev.SpeechStarted(at=at, onset=onset):
                self.last_voice_at = at
                self.metrics.speech_started(onset, at)
                self._replays.halt()
                self._tell("user-started-speaking")
                if self._manual and self._link is not None:
                    self._link.activity(True)
            case ev.SpeechEnded(at=at):
                self.last_voice_at = at
                self._patient_until = at + PATIENCE_S
                self.metrics.speech_ended(at - self._gate.lag_ms / 1000)
                self._tell("user-stopped-speaking")
                if self._manual and self._link is not None:
                    self._link.activity(False)
        self._handle(event)

    # --- the Live session -----------------------------------------------------------------------

    def live(self, event: port.LiveEvent) -> None:
        at = self._now()
        match event:
            case port.Interrupted():
                self._handle(ev.ReplyInterrupted(at))
            case port.ReplyAudio(pcm=pcm, rate=rate):
                self._handle(ev.TutorAudioArrived(at, len(pcm) / 2 / rate * 1000))
                if self._turns.accepts_audio:
                    self._playout.audio(pcm)
            case port.ReplyText(text=text):
                self._handle(ev.TutorWords(at, text))
                if self._turns.accepts_audio:
                    self._playout.text(text)
            case port.PlainText(text=text):
                self._handle(ev.TutorWords(at, text))
            case port.LearnerText(text=text, finished=finished, interim=interim):
                self._handle(ev.LearnerWords(at, text, finished, interim))
            case port.GenerationComplete():
                self._handle(ev.GenerationCompleted(at))
            case port.TurnComplete(interaction=interaction, reason=reason):
                in_progress = interaction is port.Interaction.IN_PROGRESS
                self._handle(ev.TurnCompleted(at, in_progress, reason))
            case port.ToolCall(name=name):
                # VOICE-22: native sessions declare no tools; a call is ignored.
                log.warning("tool call ignored", extra={"tool": name})
            case port.Unknown(keys=keys):
                log.info("unknown live message", extra={"keys": ",".join(keys)[:200]})
            case _:
                pass

    def link_lost(self, *, planned: bool = False) -> None:
        """`planned`: a hand-over that the learner need not notice."""
        self._handle(ev.LinkLost(self._now()))
        if not planned:
            self._captions.link_lost(self._turns.state)

    def link_restored(self) -> None:
        self._handle(ev.LinkRestored(self._now()))
        self._captions.link_restored(self._turns.state)

    def unheard(self, seconds: float) -> None:
        """The line was dead for so long: what was played into it is not counted as heard."""
        self._playout.rewind(seconds * 1000)

    # --- the learner's page -----------------------------------------------------------------------

    def typed(self, text: str, request_id: str) -> bool:
        """False for a text without words; true means taken, not delivered (OWN-69, OWN-70)."""
        if not text.strip():
            return False
        self.last_voice_at = self._now()
        self.metrics.typed(self.last_voice_at)
        self._replays.halt()
        self._handle(ev.Typed(self.last_voice_at, text, request_id))
        return True

    def replay(self, turn_id: str, rate: float) -> None:
        """One of the last replies once more, as far as it was heard."""
        self._replays.start(turn_id, rate, quiet=self._turns.quiet)

    def _replaying(self, sounding: bool) -> None:
        self._gate.set_tutor_speaking(sounding)
        self._captions.replaying(sounding)

    def push_to_talk(self, down: bool) -> None:
        if down:
            self._replays.halt()
        self._key.move(down, self._now())

    def absent(self) -> None:
        """Nobody is on the line: a key is up again, what was being said is over."""
        at = self._now()
        self._key.move(False, at)
        for event in self._gate.absent(at):
            self._gate_event(event)

    def close(self) -> None:
        """Ends now: what was heard becomes a finished exchange."""
        self.absent()
        self._handle(ev.Closed(self._now()))
        self._playout.flush()

    # --- time -------------------------------------------------------------------------------------

    def time_passed(self) -> None:
        self._handle(ev.TimePassed(self._now()))

    def next_deadline(self) -> float | None:
        return self._turns.next_deadline()

    @property
    def unanswered(self) -> tuple[str, str] | None:
        """(turn, words) of the learner that nothing has been heard in reply to."""
        return self._turns.unanswered

    @property
    def quiet(self) -> bool:
        return self._turns.quiet

    # --- effects ----------------------------------------------------------------------------------

    def _play_started(self, turn_id: str, at: float) -> None:
        if self._reply_at is not None:
            self._spans.add(REPLY_TO_RTP, self._now() - self._reply_at)
            self._reply_at = None
        self.metrics.sounded(turn_id, at)
        self._gate.set_tutor_speaking(True)
        self._tell("bot-started-speaking")
        self._handle(ev.PlayoutStarted(at, turn_id))

    def _play_drained(self, turn_id: str, at: float) -> None:
        self._gate.set_tutor_speaking(False)
        self._tell("bot-stopped-speaking")
        audible = self._playout.audible
        self._inaudible = "" if audible else turn_id
        self._handle(ev.PlayoutDrained(at, turn_id, audible))

    def _handle(self, event: ev.TurnEvent) -> None:
        effects = self._turns.handle(event)
        self.on_turned(event, effects)
        for effect in effects:
            self._perform(effect)
        self.on_deadline_changed()

    def _perform(self, effect: ev.Effect) -> None:
        match effect:
            case ev.BeginReply(turn_id=turn_id):
                self._reply_at = self._now()
                self.metrics.reply_began(turn_id, self._reply_at)
                self._replays.halt()
                self._playout.begin(turn_id)
            case ev.EndReply():
                self._playout.complete()
            case ev.Duck():
                self._playout.duck()
            case ev.Unduck():
                self._playout.unduck()
            case ev.Pause():
                self._reply_at = None  # held back on purpose: no latency of ours
                self.metrics.paused(self._playout.turn_id, self._now())
                self._playout.pause()
            case ev.Resume():
                self.metrics.resumed(self._playout.turn_id)
                self._playout.resume()
            case ev.Flush():
                self._flush()
            case ev.SendTyped(text=text):
                if self._link is not None and not self._link.holds(text):
                    self._link.prompt(text)
            case ev.ShowState():
                self._captions.turned(effect)
            case ev.QuietMoment():
                if self._link is not None:
                    self._link.quiet_moment()
            case ev.VoiceText(turn_id=turn_id, text=text):
                self._voice(turn_id, text)
            case ev.Trouble(code=code, turn_id=turn_id):
                self._captions.trouble(code, turn_id)
                if code in DEAF and self._link is not None:
                    self._link.sleep()
            case ev.FinishTurn():
                self._finish(effect)
            case ev.DropReply(turn_id=turn_id, why=why):
                self.metrics.dropped(turn_id)
                self._captions.dropped(turn_id, why)
            case ev.ShowLearner():
                self._captions.learner(effect)
            case ev.ShowTutor():
                self._captions.tutor(effect, self._turns.opened)
            case ev.ShowInterrupted(turn_id=turn_id):
                self.metrics.interrupted()
                self._captions.interrupted(turn_id, self._playout.heard(turn_id).text)

    def _voice(self, turn_id: str, text: str) -> None:
        """Another voice says what came in writing; the machine takes it for the reply's own."""

        def voiced(pcm: bytes) -> None:
            self._handle(ev.TutorAudioArrived(self._now(), len(pcm) / BYTES_PER_MS))
            if self._turns.accepts_audio:
                self._playout.begin(turn_id)
                self._playout.text(text)
                self._playout.audio(pcm)
                self._playout.complete()
            self._handle(ev.GenerationCompleted(self._now()))
            self._handle(ev.TurnCompleted(self._now()))

        def unvoiced() -> None:
            self._handle(ev.TextUnvoiced(self._now(), turn_id))

        if self._stand_in is None:
            unvoiced()
        else:
            self._stand_in.voice(text, voiced, unvoiced)

    def _flush(self) -> None:
        if self._stand_in is not None:
            self._stand_in.stop()
        sounding = self._playout.playing
        if sounding:
            self.metrics.silenced(self._playout.turn_id, self._now())
        self._playout.flush()
        self._gate.set_tutor_speaking(False)
        if sounding:
            self._tell("bot-stopped-speaking")

    def _finish(self, effect: ev.FinishTurn) -> None:
        heard = self._playout.heard(effect.turn_id)
        if effect.turn_id == self._inaudible:
            heard = Heard("", heard.text + heard.unheard, heard.played_ms, heard.total_ms)
        self._captions.finished(effect.turn_id, heard.text)
        self._finished(
            Exchange(
                turn_id=effect.turn_id,
                learner=effect.learner_text,
                tutor=heard.text,
                unheard=heard.unheard,
                interrupted=effect.interrupted,
            )
        )
        spans = self.metrics.finished(effect.turn_id, self._now())
        if spans.gate is not None and spans.learner_to_tutor is not None:
            self.reply_s = spans.learner_to_tutor
            self._spans.add(LEARNER_TO_TUTOR, self.reply_s)
        log.debug("turn_metrics", extra=spans.log_fields())
        self._tell_level(spans.message())
        self.on_turn(spans)

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
from media.gate import Gate
from media.live import port
from media.spans import LEARNER_TO_TUTOR, Spans
from media.turns import State, Turns
from server.captions import Captions
from server.exchanges import Exchange
from server.microphone import Line, Microphone
from server.stand_in import StandIn
from server.turn_metrics import TurnMetrics, TurnSpans
from server.tutor_voice import TutorVoice

log = logging.getLogger(__name__)

# Troubles of a session that may be gone without a close: the next sound finds a new socket.
DEAF = ("silent_turn", "empty_turns")


class Link(Line, Protocol):
    """What the conversation asks of the Live session's keeper."""

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
        self._turns, self._captions = turns, captions
        self._tell, self._tell_level, self._finished = tell, tell_level, finished
        self._now, self._spans = now, spans
        self.metrics = TurnMetrics()
        self._microphone = Microphone(
            gate,
            manual=manual_activity,
            claimable=lambda: turns.claimable,
            awaited=lambda: turns.state is State.FORMULATING,
            handle=self._heard,
            tell_level=tell_level,
            now=now,
            spans=spans,
        )
        self._voice = TutorVoice(
            gate,
            turns,
            handle=self._handle,
            captions=captions,
            tell=tell,
            metrics=self.metrics,
            now=now,
            spans=spans,
            stand_in=stand_in,
        )
        self._link: Link | None = None
        self._used_at = now()
        self.reply_s: float | None = None
        self.on_turn: Callable[[TurnSpans], None] = lambda spans: None
        self.on_deadline_changed: Callable[[], None] = lambda: None
        self.on_turned: Callable[[ev.TurnEvent, Sequence[ev.Effect]], None] = lambda *_: None

    def connect(self, link: Link) -> None:
        self._link = self._microphone.line = link

    # --- sound ----------------------------------------------------------------------------------

    def hear(self, pcm: bytes, at: float) -> None:
        """20 ms of the microphone, PCM16 mono 16 kHz, that arrived at `at`."""
        self._microphone.hear(pcm, at)

    def _heard(self, event: ev.TurnEvent) -> None:
        match event:
            case ev.SpeechStarted(at=at, onset=onset):
                self._used_at = at
                self.metrics.speech_started(onset, at)
                self._voice.replays.halt()
                self._tell("user-started-speaking")
            case ev.SpeechEnded(at=at):
                self._used_at = at
                self.metrics.speech_ended(at - self._microphone.lag_s)
                self._tell("user-stopped-speaking")
        self._handle(event)

    def pull(self, at: float) -> bytes | None:
        """20 ms of the tutor, PCM16 mono 24 kHz, or None: silence."""
        return self._voice.pull(at)

    @property
    def last_voice_at(self) -> float:
        """When somebody was last heard, or typed."""
        return max(self._used_at, self._voice.sounded_at)

    @last_voice_at.setter
    def last_voice_at(self, at: float) -> None:
        self._used_at = at

    @property
    def microphone_on(self) -> bool:
        return self._microphone.on

    @microphone_on.setter
    def microphone_on(self, on: bool) -> None:
        self._microphone.on = on

    @property
    def speech_on(self) -> bool:
        return self._voice.on

    @speech_on.setter
    def speech_on(self, on: bool) -> None:
        self._voice.on = on

    # --- the Live session -----------------------------------------------------------------------

    def live(self, event: port.LiveEvent) -> None:
        at = self._now()
        match event:
            case port.Interrupted():
                self._handle(ev.ReplyInterrupted(at))
            case port.ReplyAudio(pcm=pcm, rate=rate):
                self._voice.audio(pcm, rate)
            case port.ReplyText(text=text):
                self._voice.words(text)
            case port.PlainText(text=text):
                self._handle(ev.TutorWords(at, text))
            case port.LearnerText(text=text, finished=finished, interim=interim):
                self._handle(ev.LearnerWords(at, text, finished, interim))
                if (asked := self._turns.unanswered) is not None:
                    self._microphone.understood(asked[1])
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

    # --- the learner's page -----------------------------------------------------------------------

    def typed(self, text: str, request_id: str) -> bool:
        """False for a text without words; true means taken, not delivered (OWN-69, OWN-70)."""
        if not text.strip():
            return False
        self._used_at = self._now()
        self.metrics.typed(self._used_at)
        self._voice.replays.halt()
        self._handle(ev.Typed(self._used_at, text, request_id))
        return True

    def replay(self, turn_id: str, rate: float) -> None:
        """One of the last replies once more, as far as it was heard."""
        self._voice.replays.start(turn_id, rate, quiet=self._turns.quiet)

    def push_to_talk(self, down: bool) -> None:
        if down:
            self._voice.replays.halt()
        self._microphone.push_to_talk(down)

    def absent(self) -> None:
        """Nobody is on the line: a key is up again, what was being said is over."""
        self._microphone.absent()

    def unheard(self, seconds: float) -> None:
        """The line was dead for so long: what was played into it is not counted as heard."""
        self._voice.unheard(seconds)

    def close(self) -> None:
        """Ends now: what was heard becomes a finished exchange."""
        self.absent()
        self._handle(ev.Closed(self._now()))
        self._voice.close()

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

    def _handle(self, event: ev.TurnEvent) -> None:
        effects = self._turns.handle(event)
        self.on_turned(event, effects)
        for effect in effects:
            self._perform(effect)
        self.on_deadline_changed()

    def _perform(self, effect: ev.Effect) -> None:
        match effect:
            case ev.SendTyped(text=text):
                if self._link is not None and not self._link.holds(text):
                    self._link.prompt(text)
            case ev.QuietMoment():
                if self._link is not None:
                    self._link.quiet_moment()
            case ev.Trouble(code=code, turn_id=turn_id):
                self._captions.trouble(code, turn_id)
                if code in DEAF and self._link is not None:
                    self._link.sleep()
            case ev.FinishTurn():
                self._finish(effect)
            case ev.DropReply(turn_id=turn_id, why=why):
                self.metrics.dropped(turn_id)
                self._captions.dropped(turn_id, why)
            case ev.ShowState():
                self._captions.turned(effect)
            case ev.ShowLearner():
                self._captions.learner(effect)
            case ev.ShowTutor():
                self._captions.tutor(effect, self._turns.opened)
            case ev.ShowInterrupted(turn_id=turn_id):
                self.metrics.interrupted()
                self._captions.interrupted(turn_id, self._voice.heard(turn_id).text)
            case _:
                self._voice.perform(effect)

    def _finish(self, effect: ev.FinishTurn) -> None:
        heard = self._voice.heard(effect.turn_id)
        if not effect.interrupted:
            self._microphone.replied(heard.text)
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

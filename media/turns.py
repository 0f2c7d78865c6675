"""Who speaks, which reply is current, what is superseded: the turn machine of a lesson.

Pure: events in, effects out; no await, no clock (time comes with the event), no I/O. It never
decides that the learner has finished (VOICE-32): the Live service does; a gate that closes only
changes what is shown and which deadline runs.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from media import turn_events as ev
from media.barge import BargeIn
from media.fence import Fence
from media.slot import LATE_WORDS_S, Reply, Slot
from media.turn_events import Effect, TurnEvent, TurnId

# A late final learner transcript may arrive this long after the end of the exchange (VOICE-52).
GRACE_S = 0.4
# The learner waits this long for the first audio of a reply.
FORMULATING_S = 20.0
# An extended-thinking model said that the answer still follows (VOICE-55).
THINKING_S = 30.0
# Speech without words is noise after this (VOICE-56).
NOISE_S = 4.0
# The service ended the turn without a reply: one may still follow (a cancelled generation).
EMPTY_S = 1.0
# A tutor who has said everything but whose turn is not declared over; one who fell silent midway.
COMPLETION_S = 1.0
SILENT_S = 2.0
# Longest stretch of speech of one learner turn.
SPEECH_MAX_S = 180.0
# A playout that reports nothing is taken for drained this long after its audio must have ended.
STUCK_S = 5.0
# A turn that cannot be handed in because the link is down.
LINK_DOWN_S = 60.0
# Words sooner than this after an onset belong to earlier speech: no recogniser is faster.
WORDS_LAG_S = 0.25
# So many turns in a row with words but without an answer are a trouble.
EMPTY_TURNS = 3


class State(Enum):
    IDLE = "idle"
    LEARNER = "learner"
    FORMULATING = "formulating"
    TUTOR = "tutor"


_SHOWN = {
    State.IDLE: "listening",
    State.LEARNER: "listening",
    State.FORMULATING: "formulating",
    State.TUTOR: "speaking",
}
_LEGAL = {
    State.IDLE: {State.LEARNER, State.FORMULATING},
    State.LEARNER: {State.IDLE, State.FORMULATING, State.TUTOR},
    State.FORMULATING: {State.IDLE, State.LEARNER, State.TUTOR},
    State.TUTOR: {State.IDLE, State.LEARNER, State.FORMULATING},
}


class IllegalMove(RuntimeError):
    """A bug of this machine: the states do not follow each other."""


class Turns:
    """`handle` one event at a time; feed `TimePassed` at `next_deadline()`.

    After `TutorAudioArrived` or `TutorWords` the shell asks `accepts_audio`: false means that the
    piece belongs to a superseded reply and must be dropped.
    """

    def __init__(self, *, prefix: str = "t", link_up: bool = True) -> None:
        self._prefix, self._count = prefix, 0
        self._state = State.IDLE
        self._now = 0.0
        self._out: list[Effect] = []
        self._current: Slot | None = None
        self._closing: list[tuple[float, Slot]] = []
        self._last: Slot | None = None
        self._barge = BargeIn()
        self._fence = Fence()
        self._speaking: float | None = None
        self._spoke_since = False
        self._empties = 0
        self._link_up = link_up
        self._held: list[tuple[TurnId, str, str]] = []
        self._closed = False

    # --- what the shell asks ---------------------------------------------------------------------

    @property
    def state(self) -> State:
        return self._state

    @property
    def opened(self) -> int:
        """How many turns have been opened; their ids are `prefix` + 1, 2, …"""
        return self._count

    @property
    def current_id(self) -> TurnId | None:
        return self._current.turn_id if self._current else None

    @property
    def quiet(self) -> bool:
        """Nobody speaks, nothing is queued, no answer is due."""
        return self._state is State.IDLE and not self._closed

    @property
    def accepts_audio(self) -> bool:
        """Reply audio and words that have just been announced are current."""
        return self._current is not None and self._current.reply.begun and not self._fence.up

    def next_deadline(self) -> float | None:
        due = self._due()
        return due[0] if due else None

    def handle(self, event: TurnEvent) -> tuple[Effect, ...]:
        """Overdue deadlines fire before the event, in their order; time never runs backwards."""
        if self._closed:
            return ()
        self._out = []
        at = max(event.at, self._now)
        self._expire(at, inclusive=isinstance(event, ev.TimePassed))
        self._now = at
        self._dispatch(event)
        return tuple(self._out)

    def _dispatch(self, event: TurnEvent) -> None:
        match event:
            case ev.SpeechEvidence():
                self._evidence()
            case ev.SpeechStarted(onset=onset):
                self._speech_started(onset)
            case ev.SpeechSustained():
                self._speech_sustained()
            case ev.SpeechEnded():
                self._speech_ended()
            case ev.LearnerWords():
                self._learner_words(event)
            case ev.TutorAudioArrived(ms=ms):
                self._audio_arrived(ms)
            case ev.TutorWords(text=text):
                self._tutor_words(text)
            case ev.ReplyInterrupted():
                self._reply_interrupted()
            case ev.GenerationCompleted():
                self._generation_completed()
            case ev.TurnCompleted(in_progress=in_progress):
                self._turn_completed(in_progress)
            case ev.PlayoutStarted(turn_id=turn_id):
                self._playout_started(turn_id)
            case ev.PlayoutDrained(turn_id=turn_id, audible=audible):
                self._playout_drained(turn_id, audible)
            case ev.Typed(text=text, request_id=request_id):
                self._typed(text, request_id)
            case ev.LinkLost():
                self._link_lost()
            case ev.LinkRestored():
                self._link_restored()
            case ev.Closed():
                self._close()
            case ev.TimePassed():
                pass

    # --- the learner -----------------------------------------------------------------------------

    def _evidence(self) -> None:
        if self._current and self._current.reply.begun:
            self._out += self._barge.evidence(self._now)

    def _speech_started(self, onset: float) -> None:
        self._speaking = onset
        self._spoke_since = True
        slot = self._current
        if slot is None:
            self._open(onset, spoken=True)
            self._move(State.LEARNER)
        elif slot.reply.begun:
            self._out += self._barge.started(self._now, onset)
        else:
            slot.spoken, slot.speech_at, slot.speech_ended_at = True, self._now, None
            slot.empty_at = None
            self._move(State.LEARNER)

    def _speech_sustained(self) -> None:
        if self._current and self._barge.unconfirmed:
            self._interrupt()

    def _speech_ended(self) -> None:
        self._speaking = None
        slot = self._current
        if slot is None:
            return
        self._out += self._barge.ended(self._now)
        if self._state is State.LEARNER:
            self._learner_fell_silent(slot)

    def _learner_fell_silent(self, slot: Slot) -> None:
        slot.speech_ended_at = slot.waiting_since = self._now
        self._fence.learner_done(self._now)
        self._move(State.FORMULATING)

    def _learner_words(self, words: ev.LearnerWords) -> None:
        slot = self._slot_for(words)
        if slot is None:
            return
        if not slot.words.hear(words):
            return
        slot.spoken = True
        self._show_learner(slot)
        if slot.words.finished and any(slot is closing for _, closing in self._closing):
            self._finish(slot)

    def _slot_for(self, words: ev.LearnerWords) -> Slot | None:
        """Text belongs to the speech that it came from, however late it is (T20)."""
        slot, now = self._current, self._now
        barge = self._barge
        if slot and barge.unconfirmed and words.text.strip() and not slot.owes_words(now):
            onset = barge.onset
            if onset is not None and now - onset >= WORDS_LAG_S:
                self._interrupt()
                return self._current
        waiting = self._closing[-1][1] if self._closing else None
        if waiting and waiting.owes_words(now):
            young = slot is None or now - slot.speech_at < WORDS_LAG_S
            if young and not (slot and slot.words.text):
                return waiting
        if slot:
            return slot
        if self._last and not self._spoke_since and self._echoes(self._last, words):
            return None
        if not words.text.strip():
            return None
        slot = self._open(now, spoken=True)
        slot.speech_ended_at = slot.waiting_since = now
        self._move(State.FORMULATING)
        return slot

    def _echoes(self, last: Slot, words: ev.LearnerWords) -> bool:
        """Words of a finished exchange: shown in its bubble, too late for anything else."""
        if self._now - last.ended_at < LATE_WORDS_S:
            if last.words.hear(words):
                self._out.append(ev.ShowLearner(last.turn_id, last.words.text, True))
            return True
        return last.words.text.casefold() == words.text.strip().casefold()

    def _typed(self, text: str, request_id: str) -> None:
        if not text.strip():
            return
        if self._current and self._current.reply.begun:
            self._interrupt(handed_in=True)
        slot = self._current or self._open(self._now, spoken=False)
        slot.typed = True
        slot.words.write(text.strip())
        self._show_learner(slot)
        if self._link_up:
            slot.prompts.append((text, request_id))
            self._out.append(ev.SendTyped(text, request_id))
        else:
            self._held.append((slot.turn_id, text, request_id))
        self._fence.learner_done(self._now)
        slot.waiting_since, slot.empty_at = self._now, None
        self._move(State.FORMULATING)

    # --- the reply -------------------------------------------------------------------------------

    def _audio_arrived(self, ms: float) -> None:
        reply = self._admit()
        if reply is None:
            return
        reply.audio_ms += ms
        reply.completed = False
        reply.drained_at = None
        self._expect_playing(reply)

    def _tutor_words(self, text: str) -> None:
        if not text:
            return
        last = self._last
        over = self._current is None and last is not None and last.reply.completed
        if over and last and self._now - last.ended_at < GRACE_S:
            # The transcript of a reply that is over: nothing is left to be said.
            return
        reply = self._admit()
        if reply is None or self._current is None:
            return
        reply.text += text
        self._out.append(ev.ShowTutor(self._current.turn_id, reply.text))

    def _admit(self) -> Reply | None:
        """The reply that a piece arriving now belongs to; None when it is superseded."""
        if not self._fence.admits(self._now):
            return None
        slot = self._current
        if slot is None:
            slot = self._open(self._now, spoken=False)
            slot.waiting_since = self._now
            self._move(State.FORMULATING)
        if not slot.reply.begun:
            slot.reply.begun = True
            slot.empty_at = None
            slot.prompts.clear()
            self._out.append(ev.BeginReply(slot.turn_id))
            if self._speaking is not None:
                self._out += self._barge.hold(self._now)
        return slot.reply

    def _generation_completed(self) -> None:
        slot = self._current
        if slot and slot.reply.begun and not self._fence.up and not slot.reply.generated:
            slot.reply.generated = True
            self._out.append(ev.EndReply(slot.turn_id))

    def _turn_completed(self, in_progress: bool) -> None:
        slot = self._current
        if in_progress:
            if slot and not self._fence.up:
                self._thinking_on(slot)
            return
        owed = self._fence.completed()
        if slot is None:
            return
        reply = slot.reply
        if reply.begun:
            reply.in_progress, reply.completed = False, True
            if not reply.audio_ms:
                self._trouble("text_without_audio", slot)
                self._out.append(ev.Flush())
                self._drop(slot, "unheard")
                return
            self._generation_completed()
            if reply.drained_at is not None:
                self._end(slot)
        elif self._state is State.FORMULATING and not owed:
            slot.empty_at = self._now

    def _thinking_on(self, slot: Slot) -> None:
        """A filler has been said, the answer follows in the same turn (VOICE-55)."""
        reply = slot.reply
        reply.in_progress = True
        if reply.begun:
            self._out.append(ev.EndReply(slot.turn_id))
            reply.generated = False
        if reply.drained_at is not None:
            self._wait(slot)

    def _playout_started(self, turn_id: str) -> None:
        slot = self._playing(turn_id)
        if slot:
            slot.reply.heard = True
            slot.reply.drained_at = None
            self._expect_playing(slot.reply)
            self._empties = 0
            self._move(State.TUTOR)

    def _playout_drained(self, turn_id: str, audible: bool) -> None:
        slot = self._playing(turn_id)
        if slot is None or not slot.reply.heard:
            return
        if not audible:
            self._trouble("inaudible", slot)
        slot.reply.drained_at = self._now
        if slot.reply.completed:
            self._end(slot)
        elif slot.reply.in_progress:
            self._wait(slot)

    def _playing(self, turn_id: str) -> Slot | None:
        slot = self._current
        if slot and slot.reply.audio_ms and turn_id in ("", slot.turn_id):
            return slot
        return None

    def _expect_playing(self, reply: Reply) -> None:
        reply.playing_until = self._now + reply.audio_ms / 1000 + STUCK_S

    def _wait(self, slot: Slot) -> None:
        slot.waiting_since = self._now
        self._move(State.FORMULATING)

    def _reply_interrupted(self) -> None:
        slot = self._current
        if slot and slot.reply.begun and not self._fence.up:
            self._interrupt()
            self._fence.acknowledge()
        else:
            # Nothing of ours is current: a stray one, or the service confirms what we flushed.
            self._fence.acknowledge()

    def _interrupt(self, *, handed_in: bool = False) -> None:
        """The current reply is superseded. Unheard, it leaves the turn to the learner.

        `handed_in`: the learner's next turn is complete already (typed).
        """
        slot = self._current
        assert slot is not None
        onset = self._speaking if self._speaking is not None else self._barge.onset
        reply = slot.reply
        self._out.append(ev.Flush())
        self._fence.supersede(
            generated=reply.generated or reply.completed, completed=reply.completed
        )
        self._barge.clear()
        if not reply.heard:
            slot.reply = Reply()
            slot.waiting_since = self._now
            self._move(State.LEARNER if self._speaking is not None else State.FORMULATING)
        else:
            slot.interrupted = True
            self._out.append(ev.ShowInterrupted(slot.turn_id))
            self._retire(slot)
            if self._speaking is not None or not handed_in:
                # Without an onset the service alone has heard somebody.
                self._next_learner_turn(self._now if onset is None else onset)
        if self._speaking is None:
            self._fence.lower_later(self._now)

    def _next_learner_turn(self, onset: float) -> None:
        slot = self._open(onset, spoken=True)
        if self._speaking is not None:
            self._move(State.LEARNER)
        else:
            slot.speech_ended_at = slot.waiting_since = self._now
            self._move(State.FORMULATING)

    # --- how turns begin and end -----------------------------------------------------------------

    def _open(self, speech_at: float, *, spoken: bool) -> Slot:
        self._count += 1
        slot = Slot(TurnId(f"{self._prefix}{self._count}"), speech_at, spoken)
        slot.waiting_since = self._now
        self._current = slot
        return slot

    def _end(self, slot: Slot) -> None:
        """The exchange is over: heard to its end."""
        if not slot.reply.generated:
            slot.reply.generated = True
            self._out.append(ev.EndReply(slot.turn_id))
        if not slot.reply.completed:
            self._fence.supersede(generated=True, completed=False)
        self._retire(slot)
        self._after()

    def _drop(self, slot: Slot, why: str) -> None:
        for _, earlier in list(self._closing):
            self._finish(earlier)
        self._current = None
        self._spoke_since = False
        # Late words after what passed for noise are an utterance of their own.
        self._last = None if why == "noise" else slot
        slot.ended_at = self._now
        self._held = [held for held in self._held if held[0] != slot.turn_id]
        self._out.append(ev.DropReply(slot.turn_id, why))
        self._after()

    def _after(self) -> None:
        self._barge.clear()
        if self._speaking is not None:
            self._next_learner_turn(self._speaking)
        else:
            self._move(State.IDLE)

    def _retire(self, slot: Slot) -> None:
        """Takes the turn off the stage; a missing transcript gets its grace."""
        self._current = None
        self._last = slot
        self._spoke_since = self._speaking is not None
        slot.ended_at = self._now
        if slot.is_settled(self._now):
            self._finish(slot)
        else:
            self._closing.append((self._now + GRACE_S, slot))

    def _finish(self, slot: Slot) -> None:
        """Exchanges end in the order in which they began."""
        while self._closing and self._closing[0][1] is not slot:
            self._finish(self._closing[0][1])
        if self._closing:
            del self._closing[0]
        if slot.words.text and slot.words.commit():
            self._show_learner(slot)
        text = slot.words.text
        if text and slot.reply.heard:
            self._out.append(ev.FinishTurn(slot.turn_id, text, slot.interrupted, slot.typed))
        else:
            self._out.append(ev.DropReply(slot.turn_id, "unheard" if text else "no_learner"))

    # --- the link and the end --------------------------------------------------------------------

    def _link_lost(self) -> None:
        self._link_up = False
        self._fence = Fence()
        slot = self._current
        if slot is None:
            return
        reply = slot.reply
        if reply.begun and reply.audio_ms:
            # The generation died with the session: what has come is all there will be.
            reply.in_progress = False
            self._generation_completed()
            reply.completed = True
            if reply.drained_at is not None:
                self._end(slot)
            return
        if reply.begun:
            self._out.append(ev.Flush())
            slot.reply = Reply()
            self._barge.clear()
        self._held += [(slot.turn_id, text, request_id) for text, request_id in slot.prompts]
        slot.prompts.clear()

    def _link_restored(self) -> None:
        self._link_up = True
        self._fence = Fence()
        for turn_id, text, request_id in self._held:
            if self._current and self._current.turn_id == turn_id:
                self._current.prompts.append((text, request_id))
            self._out.append(ev.SendTyped(text, request_id))
        self._held.clear()
        if self._current:
            self._current.waiting_since = self._now
        self._show_state("")
        if self.quiet:
            self._out.append(ev.QuietMoment())

    def _close(self) -> None:
        slot, self._current = self._current, None
        for _, earlier in list(self._closing):
            self._finish(earlier)
        if slot:
            if slot.reply.begun:
                self._out.append(ev.Flush())
            if slot.reply.heard:
                slot.interrupted = slot.reply.drained_at is None
                self._finish(slot)
            else:
                self._out.append(ev.DropReply(slot.turn_id, "closed"))
        self._state = State.IDLE
        self._closed = True

    # --- deadlines -------------------------------------------------------------------------------

    def _expire(self, at: float, *, inclusive: bool) -> None:
        while (due := self._due()) and (due[0] < at or (inclusive and due[0] == at)):
            self._now = max(self._now, due[0])
            due[1]()

    def _due(self) -> tuple[float, Callable[[], None]] | None:
        """The earliest deadline and what happens at it; every open turn has at least one."""
        dues: list[tuple[float, Callable[[], None]]] = []
        if self._closing:
            at, closing = self._closing[0]
            dues.append((at, lambda: self._finish(closing)))
        if self._barge.until is not None:
            dues.append((self._barge.until, self._barge_due))
        if self._current:
            dues.append(self._limit(self._current))
        return min(dues, key=lambda due: due[0]) if dues else None

    def _limit(self, slot: Slot) -> tuple[float, Callable[[], None]]:
        reply = slot.reply
        if self._state is State.LEARNER:
            return slot.speech_at + SPEECH_MAX_S, lambda: self._speech_too_long(slot)
        if self._state is State.TUTOR:
            if reply.drained_at is not None:
                wait = COMPLETION_S if reply.generated else SILENT_S
                return reply.drained_at + wait, lambda: self._fell_silent(slot)
            assert reply.playing_until is not None
            return reply.playing_until, lambda: self._stuck(slot)
        if slot.empty_at is not None:
            return slot.empty_at + EMPTY_S, lambda: self._stayed_empty(slot)
        return slot.waiting_since + self._patience(slot), lambda: self._give_up(slot)

    def _patience(self, slot: Slot) -> float:
        if not self._link_up:
            return LINK_DOWN_S
        if slot.reply.in_progress:
            return THINKING_S
        if not slot.words.text and not slot.reply.begun:
            return NOISE_S
        return FORMULATING_S

    def _barge_due(self) -> None:
        effects = self._barge.expire()
        if effects is None:
            self._interrupt()
            return
        self._out += effects
        slot = self._current
        if slot:
            self._expect_playing(slot.reply)
            if self._state is State.LEARNER:
                self._wait(slot)

    def _speech_too_long(self, slot: Slot) -> None:
        if self._speaking is not None:
            self._speaking = self._now
        self._learner_fell_silent(slot)

    def _fell_silent(self, slot: Slot) -> None:
        if slot.reply.generated:
            self._end(slot)
        else:
            self._wait(slot)

    def _stuck(self, slot: Slot) -> None:
        self._trouble("stuck_playout", slot)
        self._out.append(ev.Flush())
        slot.reply.generated = True
        self._end(slot)

    def _stayed_empty(self, slot: Slot) -> None:
        if slot.words.text:
            self._empties += 1
            if self._empties >= EMPTY_TURNS:
                self._empties = 0
                self._trouble("empty_turns", slot)
        self._drop(slot, "empty")

    def _give_up(self, slot: Slot) -> None:
        reply = slot.reply
        if not slot.words.text and not reply.begun:
            self._drop(slot, "noise")
            return
        self._trouble("silent_turn", slot)
        if reply.heard:
            self._end(slot)
            return
        if reply.begun:
            self._out.append(ev.Flush())
        self._drop(slot, "silent_turn" if self._link_up else "link_down")

    # --- showing ---------------------------------------------------------------------------------

    def _move(self, to: State) -> None:
        before = self._state
        if to is before:
            return
        if to not in _LEGAL[before]:
            raise IllegalMove(f"{before.value} -> {to.value}")
        self._state = to
        if _SHOWN[to] != _SHOWN[before]:
            self._show_state("")
        if to is State.IDLE:
            self._out.append(ev.QuietMoment())

    def _show_state(self, reason: str) -> None:
        shown = _SHOWN[self._state]
        self._out.append(ev.ShowState(shown, self._state is State.TUTOR, reason))

    def _show_learner(self, slot: Slot) -> None:
        self._out.append(ev.ShowLearner(slot.turn_id, slot.words.text, slot.words.finished))

    def _trouble(self, code: str, slot: Slot) -> None:
        self._out.append(ev.Trouble(code, slot.turn_id))

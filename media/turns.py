"""Who speaks, which reply is current, what is superseded: the turn machine of a lesson.

Pure: events in, effects out; no await, no clock (time comes with the event), no I/O. It never
decides that the learner has finished (VOICE-32): the Live service does; a gate that closes only
changes what is shown and which deadline runs.
"""

from __future__ import annotations

from media import turn_events as ev
from media.turn_deadlines import Deadlines
from media.turn_events import Effect, TurnEvent, TurnId
from media.turn_learner import LearnerSide
from media.turn_reply import ReplySide
from media.turn_stage import IllegalMove, Stage, State

__all__ = ["IllegalMove", "State", "Turns"]


class Turns:
    """`handle` one event at a time; feed `TimePassed` at `next_deadline()`.

    After `TutorAudioArrived` or `TutorWords` the shell asks `accepts_audio`: false means that the
    piece belongs to a superseded reply and must be dropped.
    """

    def __init__(self, *, prefix: str = "t", link_up: bool = True) -> None:
        self.prefix = prefix
        self._stage = Stage(prefix)
        self._reply = ReplySide(self._stage)
        self._learner = LearnerSide(self._stage, self._reply, link_up=link_up)
        self._deadlines = Deadlines(self._stage, self._reply, self._learner)
        self._closed = False

    @property
    def state(self) -> State:
        return self._stage.state

    @property
    def link_up(self) -> bool:
        return self._learner.link_up

    @property
    def opened(self) -> int:
        """How many turns have been opened; their ids are `prefix` + 1, 2, …"""
        return self._stage.opened

    @property
    def current_id(self) -> TurnId | None:
        current = self._stage.current
        return current.turn_id if current else None

    @property
    def unanswered(self) -> tuple[TurnId, str] | None:
        """The current turn's learner words, while nothing has been heard in reply to them."""
        slot = self._stage.current
        if slot is None or slot.reply.heard or not slot.words.text:
            return None
        return slot.turn_id, slot.words.text

    @property
    def quiet(self) -> bool:
        """Nobody speaks, nothing is queued, no answer is due."""
        return self._stage.state is State.IDLE and not self._closed

    @property
    def claimable(self) -> bool:
        """Whether a push-to-talk key may silence the voice: not while speech in the open, or typed
        words that wait for their answer, own the turn (OWN-29)."""
        slot = self._stage.current
        typed = slot is not None and slot.typed and not slot.reply.begun
        return self._stage.speaking is None and not typed

    @property
    def accepts_audio(self) -> bool:
        """Reply audio and words that have just been announced are current."""
        return self._reply.admitted

    def next_deadline(self) -> float | None:
        due = self._deadlines.due()
        return due[0] if due else None

    def handle(self, event: TurnEvent) -> tuple[Effect, ...]:
        """Overdue deadlines fire before the event, in their order; time never runs backwards."""
        if self._closed:
            return ()
        stage = self._stage
        stage.out = []
        at = max(event.at, stage.now)
        self._deadlines.expire(at, inclusive=isinstance(event, ev.TimePassed))
        stage.now = at
        self._dispatch(event)
        return tuple(stage.out)

    def _dispatch(self, event: TurnEvent) -> None:
        learner, reply = self._learner, self._reply
        match event:
            case ev.SpeechEvidence():
                learner.evidence()
            case ev.SpeechStarted(onset=onset):
                learner.speech_started(onset)
            case ev.SpeechSustained():
                learner.speech_sustained()
            case ev.SpeechEnded():
                learner.speech_ended()
            case ev.LearnerWords():
                learner.words(event)
            case ev.Typed(text=text, request_id=request_id):
                learner.typed(text, request_id)
            case ev.HoldClaimed():
                learner.hold_claimed()
            case ev.HoldReleased():
                learner.hold_released()
            case ev.TutorAudioArrived(ms=ms):
                reply.audio_arrived(ms)
            case ev.TutorWords(text=text):
                reply.words_arrived(text)
            case ev.ReplyInterrupted():
                reply.interrupted()
            case ev.GenerationCompleted():
                reply.generation_completed()
            case ev.TurnCompleted(in_progress=in_progress):
                reply.turn_completed(in_progress)
            case ev.PlayoutStarted(turn_id=turn_id):
                reply.playout_started(turn_id)
            case ev.PlayoutDrained(turn_id=turn_id, audible=audible):
                reply.playout_drained(turn_id, audible)
            case ev.TextUnvoiced(turn_id=turn_id):
                reply.unvoiced(turn_id)
            case ev.LinkLost():
                reply.lost()
                learner.link_lost()
            case ev.LinkRestored():
                self._link_restored()
            case ev.Closed():
                self._close()
            case ev.TimePassed():
                pass

    def _link_restored(self) -> None:
        self._reply.fence.forget()
        self._learner.link_restored()
        self._stage.show_state()
        if self.quiet:
            self._stage.out.append(ev.QuietMoment())

    def _close(self) -> None:
        stage = self._stage
        slot, stage.current = stage.current, None
        stage.finish_closing()
        if slot:
            if slot.reply.begun:
                stage.out.append(ev.Flush())
            if slot.reply.heard:
                slot.interrupted = slot.reply.drained_at is None
                stage.finish(slot)
            else:
                stage.out.append(ev.DropReply(slot.turn_id, "closed"))
        stage.barge.clear()
        stage.state = State.IDLE
        self._closed = True

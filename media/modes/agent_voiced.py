"""Lessons whose every reply is the agent's: the learner's words are committed, the agent decides,
a voice says it, and the microphone waits until that has been heard (VOICE-25 to VOICE-43).

Pure: events in, effects out; no await, no clock, no I/O. One machine for three voices (`Voicing`)
and three ears: transcripts of the Live service, calls of its model (Flow C), our own gate.
"""

from __future__ import annotations

from media import turn_events as ev
from media.modes import agent_events as ag
from media.modes.agent_learner import LearnerSide
from media.modes.agent_reply import ReplySide
from media.modes.agent_stage import Stage, State
from media.modes.awaited import Voicing
from media.modes.flow_c import Calls

__all__ = ["AgentVoiced", "State", "Voicing"]


class AgentVoiced:
    """`handle` one event at a time; feed `TimePassed` at `next_deadline()`.

    `accepts_audio` tells, after `TutorAudioArrived` and `Voiced`, whether that sound may be heard.
    """

    def __init__(
        self, voicing: Voicing, *, prefix: str = "a", link_up: bool = False, speech_on: bool = True
    ) -> None:
        self._stage = Stage(voicing, prefix, link_up=link_up, speech_on=speech_on)
        self._learner = LearnerSide(self._stage)
        self._reply = ReplySide(self._stage)
        self._calls = Calls(self._stage)
        self._closed = False

    @property
    def state(self) -> State:
        return self._stage.state

    @property
    def opened(self) -> int:
        return self._stage.opened

    @property
    def takes_calls(self) -> bool:
        """The model asks by a tool (Flow C)."""
        return self._stage.voicing is Voicing.TOOL

    @property
    def accepts_audio(self) -> bool:
        return self._reply.admitted

    @property
    def quiet(self) -> bool:
        """Nobody speaks, nothing is due."""
        commit = self._stage.commit
        heard = bool(commit.text) or commit.active or commit.sounding
        return self._stage.state is State.LISTENING and not heard and not self._closed

    @property
    def unanswered(self) -> tuple[str, str] | None:
        """(turn, words) of the learner that no reply is known for."""
        question = self._stage.question
        if question is None or self._stage.reply is not None or not question.text:
            return None
        return question.turn_id, question.text

    def next_deadline(self) -> float | None:
        stage = self._stage
        if self._closed:
            return None
        if stage.reply is not None:
            return stage.reply.due()
        return self._learner.due() if stage.state is State.LISTENING else stage.due

    def handle(self, event: ag.AgentEvent) -> tuple[ag.AgentEffect, ...]:
        """Overdue deadlines pass before the event, in their order; time never runs backwards."""
        stage = self._stage
        stage.out, self._reply.admitted = [], False
        if self._closed:
            return ()
        at = max(event.at, stage.now)
        now = isinstance(event, ev.TimePassed)
        while (due := self.next_deadline()) is not None and (due < at or (now and due == at)):
            stage.now = max(stage.now, due)
            self._expire()
        stage.now = at
        self._dispatch(event)
        return tuple(stage.out)

    def _dispatch(self, event: ag.AgentEvent) -> None:
        learner, reply, calls = self._learner, self._reply, self._calls
        match event:
            case ag.Activity(started=started):
                self._stage.commit.activity(self._stage.now, started)
            case ev.LearnerWords():
                learner.words(event)
            case ev.SpeechStarted():
                self._stage.commit.sounding = True
                learner.goes_on()
            case ev.SpeechEnded():
                self._stage.commit.sounding = False
            case ag.Uttered():
                learner.uttered()
            case ag.WrittenDown(text=text):
                learner.written(text)
            case ag.NotWrittenDown():
                learner.not_written()
            case ag.Taken(turn_id=turn_id, text=text):
                learner.taken(turn_id, text)
            case ev.Typed(text=text):
                self._typed(text)
            case ag.Called(call_id=call_id, text=text):
                calls.called(call_id, text)
            case ag.CallsCancelled(call_ids=call_ids):
                calls.cancelled(call_ids)
            case ag.Decided(turn_id=turn_id, text=text):
                reply.decided(turn_id, text)
            case ag.Undecided(turn_id=turn_id):
                self._undecided(turn_id)
            case ev.TutorAudioArrived(ms=ms):
                reply.audio(ms)
            case ev.TutorWords():
                reply.words()
            case ev.GenerationCompleted():
                reply.generated()
            case ev.TurnCompleted(in_progress=in_progress):
                reply.completed(in_progress)
            case ev.ReplyInterrupted():
                reply.interrupted()
                calls.interrupted()
            case ag.Voiced(turn_id=turn_id, ms=ms):
                reply.voiced(turn_id, ms)
            case ag.AllVoiced(turn_id=turn_id):
                reply.all_voiced(turn_id)
            case ag.Unvoiced(turn_id=turn_id):
                reply.unvoiced(turn_id)
            case ev.PlayoutStarted(turn_id=turn_id):
                reply.started(turn_id)
            case ev.PlayoutDrained(turn_id=turn_id):
                reply.drained(turn_id)
            case _:
                self._circumstance(event)

    def _circumstance(self, event: ag.AgentEvent) -> None:
        match event:
            case ag.SpeechSwitched(on=on):
                self._stage.speech_on = on
                if not on:
                    self._reply.cut(shown=False)
            case ag.LineLost():
                if self._stage.reply is not None:
                    self._stage.reply.line_lost(self._stage.now)
            case ev.LinkLost():
                self._stage.link_up = False
                self._reply.link_lost()
                self._calls.link_lost()
            case ev.LinkRestored():
                self._stage.link_up = True
                self._stage.show()
            case ev.Closed():
                self._close()
            case _:
                pass

    def _typed(self, text: str) -> None:
        """Typed words interrupt a reply, and wait for a decision that is being made."""
        if not self._learner.keep_typed(text):
            return
        if self._stage.reply is not None:
            self._reply.cut(shown=self._stage.state is State.SPEAKING)
        else:
            self._learner.ask_typed()

    def _undecided(self, turn_id: str) -> None:
        stage, question = self._stage, self._stage.question
        if question is None or turn_id != question.turn_id or stage.state is not State.ASKING:
            return
        if not self._calls.failed():
            stage.drop("undecided")

    # --- deadlines -------------------------------------------------------------------------------

    def _expire(self) -> None:
        stage, question = self._stage, self._stage.question
        if stage.reply is not None:
            self._reply.due(stage.reply)
        elif stage.state is State.LISTENING:
            self._learner.take()
        elif stage.state is State.WRITING:
            self._learner.not_written()
        elif stage.state is State.ASKING and question is not None:
            stage.out.append(ag.StopAsking(question.turn_id))
            stage.out.append(ev.Trouble("silent_turn", question.turn_id))
            self._undecided(question.turn_id)
        else:
            if question is not None:
                stage.out.append(ev.Trouble("silent_turn", question.turn_id))
            stage.drop("silent_turn")

    def _close(self) -> None:
        """Nothing happens after it: no phantom reply (VOICE-28)."""
        stage, question, reply = self._stage, self._stage.question, self._stage.reply
        if question is not None and stage.state is State.ASKING:
            stage.out.append(ag.StopAsking(question.turn_id))
        if reply is not None:
            stage.out += [ev.Flush(), ag.ReplyOver(reply.turn_id, reply.text)]
        elif question is not None:
            stage.out.append(ev.DropReply(question.turn_id, "closed"))
        stage.question = stage.reply = None
        stage.typed.clear()
        stage.commit.clear()
        stage.state, self._closed = State.LISTENING, True

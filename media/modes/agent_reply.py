"""The tutor's side of the machine for agent-made replies: decided, voiced, heard, over. Pure."""

from __future__ import annotations

from media import turn_events as ev
from media.modes import agent_events as ag
from media.modes.agent_stage import Stage, State
from media.modes.awaited import Awaited, Voicing


class ReplySide:
    """`admitted`: the sound that was just announced may be heard."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.admitted = False

    def decided(self, turn_id: str, text: str) -> None:
        stage, question = self._stage, self._stage.question
        if question is None or turn_id != question.turn_id or stage.state is not State.ASKING:
            return
        stage.out.append(ev.ShowTutor(question.turn_id, text))
        if question.call_id:
            stage.out.append(ag.AnswerCall(question.call_id, "move", question.turn_id))
        voicing = stage.voicing
        if voicing is Voicing.TOOL and not question.call_id:
            voicing = Voicing.SPEECH  # nobody called for it: the model has nothing to say
        reply = stage.reply = Awaited(question.turn_id, text, voicing, stage.now)
        if not stage.speech_on or stage.typed or not text.strip():
            stage.over()
            return
        stage.out += [ev.BeginReply(reply.turn_id), ag.Microphone(False)]
        stage.move(State.AWAITING, None)
        if voicing is Voicing.SPEECH or not stage.link_up:
            self._synthesise(reply)
            return
        stage.drift.request(stage.now)
        if voicing is Voicing.VERBATIM:
            stage.out.append(ag.ReadAloud(reply.turn_id, text))

    # --- sound -----------------------------------------------------------------------------------

    def audio(self, ms: float) -> None:
        """Of the Live voice. Between a failed call and the next it may say to hold the line."""
        stage, reply = self._stage, self._stage.reply
        if stage.state is State.RETRYING:
            self.admitted = True
        elif reply is not None and self._admits(reply):
            reply.sound(stage.now, ms)
            reply.completed = False
            self.admitted = True
        else:
            stage.drift.piece()

    def words(self) -> None:
        """What the Live voice says is shown from the decision; its transcript tells of drift."""
        reply = self._stage.reply
        if reply is None or not self._admits(reply):
            self._stage.drift.piece()

    def _admits(self, reply: Awaited) -> bool:
        if not reply.by_live:
            return False
        return bool(reply.audio_ms) or not self._stage.drift.fills(self._stage.now)

    def generated(self) -> None:
        reply = self._stage.reply
        if reply is not None and reply.by_live and reply.audio_ms:
            reply.generated = True

    def completed(self, in_progress: bool) -> None:
        """Of the awaited speech only: that of a drift ends the drift."""
        reply = self._stage.reply
        if in_progress:
            return
        if reply is None or not reply.by_live or not reply.audio_ms:
            self._stage.drift.over()
            return
        self.complete(reply)

    def complete(self, reply: Awaited) -> None:
        reply.completed = reply.generated = True
        self._stage.out.append(ev.EndReply(reply.turn_id))
        if reply.drained_at is not None:
            self._stage.over()

    def interrupted(self) -> None:
        """A stray one belongs to talk that our request cut short (VOICE-37, VOICE-39)."""
        reply = self._stage.reply
        self._stage.drift.over()
        if reply is not None and reply.by_live and reply.completed and reply.started:
            self.cut(shown=True)

    # --- the speech model ------------------------------------------------------------------------

    def _synthesise(self, reply: Awaited) -> None:
        reply.takes_over(self._stage.now)
        self._stage.out.append(ag.Synthesise(reply.turn_id, reply.text))

    def voiced(self, turn_id: str, ms: float) -> None:
        reply = self._stage.reply
        if reply is not None and reply.turn_id == turn_id and not reply.by_live and ms:
            reply.sound(self._stage.now, ms)
            self.admitted = True

    def all_voiced(self, turn_id: str) -> None:
        reply = self._stage.reply
        if reply is None or reply.turn_id != turn_id or reply.by_live:
            return
        if reply.audio_ms:
            self.complete(reply)
        else:
            self.unheard()

    def unvoiced(self, turn_id: str) -> None:
        reply = self._stage.reply
        if reply is not None and reply.turn_id == turn_id and not reply.by_live:
            self.unheard()

    def unheard(self) -> None:
        """The reply stays in writing."""
        reply = self._stage.reply
        if reply is not None:
            self._stage.out.append(ev.Trouble("text_without_audio", reply.turn_id))
            self._stage.over()

    # --- playout ---------------------------------------------------------------------------------

    def started(self, turn_id: str) -> None:
        reply = self._stage.reply
        if reply is not None and turn_id in ("", reply.turn_id):
            reply.started, reply.drained_at = True, None
            reply.expect_playing(self._stage.now)
            self._stage.move(State.SPEAKING, None)

    def drained(self, turn_id: str) -> None:
        reply = self._stage.reply
        if reply is not None and reply.started and turn_id in ("", reply.turn_id):
            reply.drained_at = self._stage.now
            if reply.completed:
                self._stage.over()

    # --- ends ------------------------------------------------------------------------------------

    def cut(self, *, shown: bool) -> None:
        reply = self._stage.reply
        if reply is None:
            return
        self._stage.out.append(ev.Flush())
        if shown:
            self._stage.out.append(ev.ShowInterrupted(reply.turn_id))
        self._stage.over()

    def due(self, reply: Awaited) -> None:
        """Its deadline passed: another voice, or the end."""
        if not reply.audio_ms:
            if reply.by_live:
                self._synthesise(reply)
            else:
                self.unheard()
        elif reply.started and reply.drained_at is None:
            self._stage.out.append(ev.Trouble("stuck_playout", reply.turn_id))
            self.cut(shown=False)
        else:
            self._stage.out.append(ev.EndReply(reply.turn_id))
            self._stage.over()

    def link_lost(self) -> None:
        """What has come is played; what has not is said by the speech model."""
        self._stage.drift.over()
        reply = self._stage.reply
        if reply is None or not reply.by_live:
            return
        if reply.audio_ms:
            self.complete(reply)
        else:
            self._synthesise(reply)

"""The tutor's side of the turn machine: a reply comes, plays, ends or is superseded. Pure."""

from __future__ import annotations

from media import turn_events as ev
from media.fence import Fence
from media.slot import Reply, Slot
from media.turn_limits import GRACE_S, STUCK_S
from media.turn_stage import Stage, State


class ReplySide:
    """Acts on the stage's current turn. `empty_turns`: in a row, without an answer heard."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.fence = Fence()
        self.empty_turns = 0

    @property
    def admitted(self) -> bool:
        slot = self._stage.current
        return slot is not None and slot.reply.begun and not self.fence.up

    # --- from the service ------------------------------------------------------------------------

    def audio_arrived(self, ms: float) -> None:
        slot = self._admit()
        if slot is not None:
            slot.reply.audio_ms += ms
            slot.reply.in_progress = slot.reply.completed = False
            slot.reply.drained_at = None
            self.expect_playing(slot)

    def words_arrived(self, text: str) -> None:
        stage = self._stage
        last = stage.last if stage.current is None else None
        if last and last.reply.completed and stage.now - last.ended_at < GRACE_S:
            # The transcript of a reply that is over: nothing is left to be said.
            return
        slot = self._admit() if text else None
        if slot is not None:
            slot.reply.text += text
            stage.out.append(ev.ShowTutor(slot.turn_id, slot.reply.text))

    def _admit(self) -> Slot | None:
        """The turn that a piece arriving now belongs to; None when it is superseded."""
        stage = self._stage
        if not self.fence.admits(stage.now):
            return None
        slot = stage.current
        if slot is None:
            slot = stage.open(stage.now, spoken=False)
            stage.move(State.FORMULATING)
        if not slot.reply.begun:
            slot.reply.begun = True
            slot.empty_at = None
            slot.prompts.clear()
            stage.out.append(ev.BeginReply(slot.turn_id))
            if stage.claimed:
                stage.out += stage.barge.hush(stage.now)
            elif stage.speaking is not None:
                stage.out += stage.barge.hold(stage.now)
        return slot

    def generation_completed(self) -> None:
        slot = self._stage.current
        if slot and self.admitted:
            self._end_generation(slot)

    def _end_generation(self, slot: Slot) -> None:
        if not slot.reply.generated:
            slot.reply.generated = True
            self._stage.out.append(ev.EndReply(slot.turn_id))

    def turn_completed(self, in_progress: bool) -> None:
        slot = self._stage.current
        if in_progress:
            if slot and not self.fence.up:
                self._thinking_on(slot)
            return
        owed = self.fence.completed()
        if slot and slot.reply.begun:
            self._completed(slot)
        elif slot and self._stage.state is State.FORMULATING and not owed:
            slot.empty_at = self._stage.now

    def _completed(self, slot: Slot) -> None:
        reply = slot.reply
        reply.in_progress, reply.completed = False, True
        if not reply.audio_ms:
            if not reply.voicing:
                reply.voicing = True
                self._stage.wait(slot)
                self._stage.out.append(ev.VoiceText(slot.turn_id, reply.text))
            return
        self._end_generation(slot)
        if reply.drained_at is not None:
            self.end(slot)

    def unvoiced(self, turn_id: str) -> None:
        """The reply stays in writing: it was never heard."""
        slot = self._stage.current
        if slot and slot.turn_id == turn_id and slot.reply.voicing and not slot.reply.audio_ms:
            self._stage.trouble("text_without_audio", slot)
            self._stage.out.append(ev.Flush())
            self._stage.drop(slot, "unheard")

    def _thinking_on(self, slot: Slot) -> None:
        """A filler has been said, the answer follows in the same turn (VOICE-55)."""
        reply = slot.reply
        reply.in_progress, reply.generated = True, False
        if reply.begun:
            self._stage.out.append(ev.EndReply(slot.turn_id))
        if reply.drained_at is not None:
            self._stage.wait(slot)

    def interrupted(self) -> None:
        """By the service. With nothing of ours current it is stray, or confirms our own flush."""
        if self.admitted:
            self.interrupt()
        self.fence.acknowledge()

    def lost(self) -> None:
        """The generation died with the session: what has come is all there will be."""
        self.fence.forget()
        slot = self._stage.current
        if slot is None or not slot.reply.begun or slot.reply.voicing:
            return
        if slot.reply.audio_ms:
            self._completed(slot)
        else:
            self._stage.out.append(ev.Flush())
            self._stage.barge.clear()
            slot.reply = Reply()

    # --- from the playout ------------------------------------------------------------------------

    def playout_started(self, turn_id: str) -> None:
        slot = self._sounding(turn_id)
        if slot is not None:
            slot.reply.heard = True
            slot.reply.drained_at = None
            self.expect_playing(slot)
            self.empty_turns = 0
            self._stage.move(State.TUTOR)

    def playout_drained(self, turn_id: str, audible: bool) -> None:
        slot = self._sounding(turn_id)
        if slot is None or not slot.reply.heard:
            return
        if not audible:
            self._stage.trouble("inaudible", slot)
        slot.reply.drained_at = self._stage.now
        if slot.reply.completed:
            self.end(slot)
        elif slot.reply.in_progress:
            self._stage.wait(slot)

    def _sounding(self, turn_id: str) -> Slot | None:
        slot = self._stage.current
        return slot if slot and slot.reply.audio_ms and turn_id in ("", slot.turn_id) else None

    def expect_playing(self, slot: Slot) -> None:
        barge = self._stage.barge
        start = max(self._stage.now, (barge.until or 0.0) if barge.silent else 0.0)
        slot.reply.playing_until = start + slot.reply.audio_ms / 1000 + STUCK_S

    # --- ends ------------------------------------------------------------------------------------

    def end(self, slot: Slot) -> None:
        """The exchange is over: heard as far as it came."""
        self._end_generation(slot)
        if not slot.reply.completed:
            self.fence.supersede(generated=True, completed=False)
        self._stage.retire(slot)
        self._stage.clear()

    def interrupt(self, *, handed_in: bool = False) -> None:
        """The current reply is superseded. Unheard, it leaves the turn to the learner.

        `handed_in`: the learner's next turn is complete already (typed).
        """
        stage = self._stage
        slot = stage.current
        if slot is None:
            return
        onset = stage.speaking if stage.speaking is not None else stage.barge.onset
        reply = slot.reply
        stage.out.append(ev.Flush())
        self.fence.supersede(
            generated=reply.generated or reply.completed, completed=reply.completed
        )
        stage.barge.clear()
        if not reply.heard:
            slot.reply = Reply()
            slot.waiting_since = stage.now
            stage.move(State.FORMULATING if stage.speaking is None else State.LEARNER)
        else:
            slot.interrupted = True
            stage.out.append(ev.ShowInterrupted(slot.turn_id))
            stage.retire(slot)
            if stage.speaking is not None or not handed_in:
                # Without an onset the service alone has heard somebody.
                stage.open_learner(stage.now if onset is None else onset)
        if stage.speaking is None:
            self.fence.lower_later(stage.now)

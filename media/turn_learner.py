"""The learner's side of the turn machine: speech, its transcript, typed text. Pure."""

from __future__ import annotations

from media import turn_events as ev
from media.slot import Slot
from media.turn_events import TurnId
from media.turn_limits import LATE_WORDS_S, TYPED_MAX, WORDS_LAG_S
from media.turn_reply import ReplySide
from media.turn_stage import Stage, State


class LearnerSide:
    """Typed text is kept until the link can carry it, and sent again while it is unanswered."""

    def __init__(self, stage: Stage, reply: ReplySide, *, link_up: bool) -> None:
        self._stage, self._reply = stage, reply
        self.link_up = link_up
        self._unsent: list[tuple[TurnId, str, str]] = []

    # --- speech ----------------------------------------------------------------------------------

    def evidence(self) -> None:
        stage = self._stage
        if stage.current and stage.current.reply.begun:
            stage.out += stage.barge.evidence(stage.now)

    def speech_started(self, onset: float) -> None:
        stage = self._stage
        stage.speaking, stage.spoke = onset, True
        slot = stage.current
        if slot is None:
            stage.open_learner(onset)
        elif slot.reply.begun and stage.claimed:
            self._reply.interrupt()
        elif slot.reply.begun:
            stage.out += stage.barge.started(stage.now, onset)
        else:
            slot.spoken, slot.speech_at, slot.speech_ended_at = True, stage.now, None
            slot.empty_at = None
            stage.move(State.LEARNER)

    def speech_sustained(self) -> None:
        if self._stage.barge.unconfirmed:
            self._reply.interrupt()

    def speech_ended(self) -> None:
        stage = self._stage
        stage.speaking = None
        slot = stage.current
        if slot is None:
            return
        stage.out += stage.barge.ended(stage.now)
        if stage.state is State.LEARNER:
            self.hand_in(slot)

    def hold_claimed(self) -> None:
        """Only what is said in the hold ends a reply; the key by itself just silences it."""
        stage, slot = self._stage, self._stage.current
        stage.claimed = True
        if slot and slot.reply.begun:
            stage.out += stage.barge.hush(stage.now)
            self._reply.expect_playing(slot)

    def hold_released(self) -> None:
        stage, slot = self._stage, self._stage.current
        stage.claimed = False
        stage.out += stage.barge.unhush()
        if slot and slot.reply.begun:
            self._reply.expect_playing(slot)

    def hand_in(self, slot: Slot) -> None:
        """The learner is silent: whether the turn is over is the service's to say."""
        self._reply.fence.learner_done(self._stage.now)
        self._stage.fell_silent(slot)

    # --- transcript ------------------------------------------------------------------------------

    def words(self, words: ev.LearnerWords) -> None:
        slot = self._slot_for(words)
        if slot is None or not slot.words.hear(words):
            return
        slot.spoken = True
        self._stage.show_learner(slot)
        if slot is not self._stage.current and slot.words.finished:
            self._stage.finish(slot)

    def _slot_for(self, words: ev.LearnerWords) -> Slot | None:
        """Text belongs to the speech that it came from, however late it is (T20)."""
        stage = self._stage
        if self._confirms(words):
            self._reply.interrupt()
            return stage.current
        slot = stage.current
        waiting = stage.closing[-1][1] if stage.closing else None
        if waiting and waiting.owes_words(stage.now):
            young = slot is None or stage.now - slot.speech_at < WORDS_LAG_S
            if young and not (slot and slot.words.text):
                return waiting
        if slot:
            return slot
        if stage.last and not stage.spoke and self._echoes(stage.last, words):
            return None
        if not words.text.strip():
            return None
        slot = stage.open(stage.now, spoken=True)
        stage.fell_silent(slot)
        return slot

    def _confirms(self, words: ev.LearnerWords) -> bool:
        """Words of the speech over the reply, not late ones of the speech before it."""
        stage, slot = self._stage, self._stage.current
        onset = stage.barge.onset
        if slot is None or onset is None or not stage.barge.unconfirmed or not words.text.strip():
            return False
        return stage.now - onset >= WORDS_LAG_S and not slot.owes_words(stage.now)

    def _echoes(self, last: Slot, words: ev.LearnerWords) -> bool:
        """Words of a finished exchange: shown in its bubble, too late for anything else."""
        stage = self._stage
        if stage.now - last.ended_at < LATE_WORDS_S:
            if last.words.hear(words):
                stage.out.append(ev.ShowLearner(last.turn_id, last.words.text, True))
            return True
        return last.words.text.casefold() == words.text.strip().casefold()

    # --- typed -----------------------------------------------------------------------------------

    def typed(self, text: str, request_id: str) -> None:
        stage = self._stage
        if not text.strip():
            return
        if stage.current and stage.current.reply.begun:
            self._reply.interrupt(handed_in=True)
        slot = stage.current
        if slot and len(slot.prompts) + len(self._unsent) >= TYPED_MAX:
            stage.trouble("turn_tracking", slot)
            return
        slot = slot or stage.open(stage.now, spoken=False)
        slot.typed, slot.empty_at = True, None
        slot.words.write(text.strip())
        stage.show_learner(slot)
        if self.link_up:
            slot.prompts.append((text, request_id))
            stage.out.append(ev.SendTyped(text, request_id))
        else:
            self._unsent.append((slot.turn_id, text, request_id))
        self._reply.fence.learner_done(stage.now)
        stage.wait(slot)

    def link_lost(self) -> None:
        self.link_up = False
        slot = self._stage.current
        if slot:
            self._unsent += [(slot.turn_id, text, request) for text, request in slot.prompts]
            slot.prompts.clear()

    def link_restored(self) -> None:
        stage, slot = self._stage, self._stage.current
        self.link_up = True
        for turn_id, text, request_id in self._unsent:
            if slot and slot.turn_id == turn_id:
                slot.prompts.append((text, request_id))
            stage.out.append(ev.SendTyped(text, request_id))
        self._unsent.clear()
        if slot:
            slot.waiting_since = stage.now

    def forget_unsent(self, slot: Slot) -> None:
        self._unsent = [unsent for unsent in self._unsent if unsent[0] != slot.turn_id]

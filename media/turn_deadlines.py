"""Which deadline of the turn machine is next, and what happens when it passes. Pure."""

from __future__ import annotations

from collections.abc import Callable

from media import turn_events as ev
from media import turn_limits as limits
from media.barge import Phase
from media.slot import Slot
from media.turn_learner import LearnerSide
from media.turn_reply import ReplySide
from media.turn_stage import Stage, State

Due = tuple[float, Callable[[], None]]


class Deadlines:
    """Nothing is scheduled: each deadline follows from the stage, so none can be stale."""

    def __init__(self, stage: Stage, reply: ReplySide, learner: LearnerSide) -> None:
        self._stage, self._reply, self._learner = stage, reply, learner

    def due(self) -> Due | None:
        """The earliest one. Every open turn has at least one."""
        stage, dues = self._stage, list[Due]()
        if stage.closing:
            at, closing = stage.closing[0]
            dues.append((at, lambda: stage.finish(closing)))
        if stage.barge.until is not None:
            dues.append((stage.barge.until, self._barge_due))
        if stage.current:
            dues.append(self._limit(stage.current))
        return min(dues, key=lambda due: due[0]) if dues else None

    def expire(self, at: float, *, inclusive: bool) -> None:
        """Lets every deadline before `at` pass, in order (`inclusive`: and at it)."""
        while (due := self.due()) and (due[0] < at or (inclusive and due[0] == at)):
            self._stage.now = max(self._stage.now, due[0])
            due[1]()

    def _limit(self, slot: Slot) -> Due:
        reply = slot.reply
        match self._stage.state:
            case State.LEARNER:
                at = slot.speech_at + limits.SPEECH_MAX_S
                return at, lambda: self._speech_too_long(slot)
            case State.TUTOR if reply.drained_at is not None:
                wait = limits.COMPLETION_S if reply.generated else limits.SILENT_S
                return reply.drained_at + wait, lambda: self._fell_silent(slot)
            case State.TUTOR if reply.playing_until is not None:
                return reply.playing_until, lambda: self._stuck(slot)
        if slot.empty_at is not None:
            return slot.empty_at + limits.EMPTY_S, lambda: self._stayed_empty(slot)
        at = slot.waiting_since + self._patience(slot)
        if reply.begun and self._stage.barge.phase is Phase.HUSHED:
            at = max(at, (self._stage.barge.until or 0.0) + limits.STUCK_S)
        return at, lambda: self._give_up(slot)

    def _patience(self, slot: Slot) -> float:
        if not self._learner.link_up:
            return limits.LINK_DOWN_S
        if slot.reply.in_progress:
            return limits.THINKING_S
        if not slot.words.text and not slot.reply.begun:
            return limits.NOISE_S
        return limits.FORMULATING_S

    def _barge_due(self) -> None:
        stage, slot = self._stage, self._stage.current
        effects = stage.barge.expire()
        if effects is None:
            self._reply.interrupt()
            return
        stage.out += effects
        if slot:
            self._reply.expect_playing(slot)
            if stage.state is State.LEARNER:
                stage.wait(slot)

    def _speech_too_long(self, slot: Slot) -> None:
        if self._stage.speaking is not None:
            self._stage.speaking = self._stage.now
        self._learner.hand_in(slot)

    def _fell_silent(self, slot: Slot) -> None:
        if slot.reply.generated:
            self._reply.end(slot)
        else:
            self._stage.wait(slot)

    def _stuck(self, slot: Slot) -> None:
        self._stage.trouble("stuck_playout", slot)
        self._stage.out.append(ev.Flush())
        slot.reply.generated = True
        self._reply.end(slot)

    def _stayed_empty(self, slot: Slot) -> None:
        if slot.words.text:
            self._reply.empty_turns += 1
            if self._reply.empty_turns >= limits.EMPTY_TURNS:
                self._reply.empty_turns = 0
                self._stage.trouble("empty_turns", slot)
        self._stage.drop(slot, "empty")

    def _give_up(self, slot: Slot) -> None:
        stage, reply = self._stage, slot.reply
        if not slot.words.text and not reply.begun:
            stage.drop(slot, "noise")
            return
        stage.trouble("silent_turn", slot)
        if reply.heard:
            self._reply.end(slot)
            return
        if reply.begun:
            stage.out.append(ev.Flush())
        self._learner.forget_unsent(slot)
        stage.drop(slot, "silent_turn" if self._learner.link_up else "link_down")

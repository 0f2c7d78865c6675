"""The stage of the turn machine: whose turn it is, how turns begin and end. Pure."""

from __future__ import annotations

from enum import Enum

from media import turn_events as ev
from media.barge import BargeIn
from media.slot import Slot
from media.turn_events import Effect, TurnId
from media.turn_limits import GRACE_S


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


class Stage:
    """At most one turn is current; those that only wait for a transcript are `closing`, in order.

    `speaking` is the onset of the speech that the gate hears now; `spoke` whether it has heard any
    since the last turn ended; `claimed` whether a push-to-talk key has claimed the line.
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self.opened = 0
        self.now = 0.0
        self.out: list[Effect] = []
        self.state = State.IDLE
        self.current: Slot | None = None
        self.closing: list[tuple[float, Slot]] = []
        self.last: Slot | None = None
        self.barge = BargeIn()
        self.speaking: float | None = None
        self.spoke = False
        self.claimed = False

    # --- states ----------------------------------------------------------------------------------

    def move(self, to: State) -> None:
        """The only way to another state. Raises IllegalMove."""
        before = self.state
        if to is before:
            return
        if to not in _LEGAL[before]:
            raise IllegalMove(f"{before.value} -> {to.value}")
        self.state = to
        if _SHOWN[to] != _SHOWN[before]:
            self.show_state()
        if to is State.IDLE:
            self.out.append(ev.QuietMoment())

    def wait(self, slot: Slot) -> None:
        """The learner waits for (more of) the answer from now on."""
        slot.waiting_since = self.now
        self.move(State.FORMULATING)

    def fell_silent(self, slot: Slot) -> None:
        slot.speech_ended_at = self.now
        self.wait(slot)

    # --- beginnings ------------------------------------------------------------------------------

    def open(self, speech_at: float, *, spoken: bool) -> Slot:
        self.opened += 1
        slot = Slot(TurnId(f"{self._prefix}{self.opened}"), speech_at, spoken)
        slot.waiting_since = self.now
        self.current = slot
        return slot

    def open_learner(self, onset: float) -> None:
        """The learner's next turn; their speech may be over already."""
        slot = self.open(onset, spoken=True)
        if self.speaking is not None:
            self.move(State.LEARNER)
        else:
            self.fell_silent(slot)

    # --- ends ------------------------------------------------------------------------------------

    def retire(self, slot: Slot) -> None:
        """Takes the turn off the stage; a missing transcript gets its grace."""
        self.current = None
        self.last = slot
        self.spoke = self.speaking is not None
        slot.ended_at = self.now
        if slot.is_settled(self.now):
            self.finish(slot)
        else:
            self.closing.append((self.now + GRACE_S, slot))

    def finish(self, slot: Slot) -> None:
        """Exchanges end in the order in which they began."""
        while self.closing and self.closing[0][1] is not slot:
            self.finish(self.closing[0][1])
        if self.closing:
            del self.closing[0]
        if slot.words.text and slot.words.commit():
            self.show_learner(slot)
        text = slot.words.text
        if text and slot.reply.heard:
            self.out.append(ev.FinishTurn(slot.turn_id, text, slot.interrupted, slot.typed))
        else:
            self.out.append(ev.DropReply(slot.turn_id, "unheard" if text else "no_learner"))

    def drop(self, slot: Slot, why: str) -> None:
        """The current turn ends unsaved."""
        self.finish_closing()
        self.current = None
        self.spoke = False
        # Late words after what passed for noise are an utterance of their own.
        self.last = None if why == "noise" else slot
        slot.ended_at = self.now
        self.out.append(ev.DropReply(slot.turn_id, why))
        self.clear()

    def finish_closing(self) -> None:
        for _, slot in list(self.closing):
            self.finish(slot)

    def clear(self) -> None:
        """Nobody's turn, unless the gate hears the learner already."""
        self.out += self.barge.release()
        if self.speaking is not None:
            self.open_learner(self.speaking)
        else:
            self.move(State.IDLE)

    # --- showing ---------------------------------------------------------------------------------

    def show_state(self) -> None:
        self.out.append(ev.ShowState(_SHOWN[self.state], self.state is State.TUTOR))

    def show_learner(self, slot: Slot) -> None:
        self.out.append(ev.ShowLearner(slot.turn_id, slot.words.text, slot.words.finished))

    def trouble(self, code: str, slot: Slot) -> None:
        self.out.append(ev.Trouble(code, slot.turn_id))

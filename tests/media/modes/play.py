"""Drives the machine for agent-made replies by hand: a clock, everything it decided so far."""

from __future__ import annotations

from typing import TypeVar

from media import turn_events as ev
from media.modes import agent_events as ag
from media.modes.agent_voiced import AgentVoiced, State, Voicing

E = TypeVar("E")


class Play:
    def __init__(self, voicing: Voicing = Voicing.VERBATIM, *, link_up: bool = True) -> None:
        self.machine = AgentVoiced(voicing, link_up=link_up)
        self.at = 100.0
        self.out: list[ag.AgentEffect] = []

    def feed(self, *events: ag.AgentEvent) -> None:
        for event in events:
            self.out += self.machine.handle(event)

    def wait(self, seconds: float) -> None:
        """Every deadline on the way fires at its time."""
        until = self.at + seconds
        while (due := self.machine.next_deadline()) is not None and due <= until:
            self.at = max(self.at, due)
            self.feed(ev.TimePassed(self.at))
        self.at = until

    def of(self, kind: type[E]) -> list[E]:
        return [effect for effect in self.out if isinstance(effect, kind)]

    @property
    def state(self) -> State:
        return self.machine.state

    # --- what happens in a lesson ----------------------------------------------------------------

    def say(self, text: str = "It is light.") -> None:
        self.feed(ag.Activity(self.at, True), ev.LearnerWords(self.at, text))
        self.at += 1.0
        self.feed(ag.Activity(self.at, False))
        self.wait(0.4)

    @property
    def turn_id(self) -> str:
        return str(self.of(ag.Ask)[-1].turn_id)

    def decide(self, text: str = "What bends it?") -> None:
        self.feed(ag.Decided(self.at, self.turn_id, text))

    def asked(self, text: str = "What bends it?") -> None:
        """Up to the moment in which the reply is awaited."""
        self.say()
        self.decide(text)

    def sound(self, ms: float = 1000.0) -> bool:
        self.feed(ev.TutorAudioArrived(self.at, ms))
        return self.machine.accepts_audio

    def voice(self, ms: float = 1000.0) -> bool:
        """The speech model's sound."""
        self.feed(ag.Voiced(self.at, self.turn_id, ms))
        accepted = self.machine.accepts_audio
        self.feed(ag.AllVoiced(self.at, self.turn_id))
        return accepted

    def play(self) -> None:
        self.feed(ev.PlayoutStarted(self.at, self.turn_id))

    def drain(self) -> None:
        self.feed(ev.PlayoutDrained(self.at, self.turn_id))

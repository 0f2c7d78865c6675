"""A lesson in a test: events at times, deadlines fed as a shell would feed them."""

from __future__ import annotations

from typing import TypeVar

from media import turn_events as ev
from media.turn_events import Effect, TurnEvent
from media.turns import Turns

E = TypeVar("E")


class Script:
    """`feed` an event, `wait` for time to pass; `effects` keeps (time, effect)."""

    def __init__(self, turns: Turns | None = None) -> None:
        self.turns = turns or Turns()
        self.at = 100.0
        self.effects: list[tuple[float, Effect]] = []

    def feed(self, *events: TurnEvent) -> list[Effect]:
        out: list[Effect] = []
        for event in events:
            out += self.turns.handle(event)
        self.effects += [(self.at, effect) for effect in out]
        return out

    def wait(self, seconds: float) -> list[Effect]:
        """Feeds `TimePassed` at each deadline on the way."""
        end, out = self.at + seconds, []
        while (due := self.turns.next_deadline()) is not None and due <= end:
            self.at = max(self.at, due)
            out += self.feed(ev.TimePassed(self.at))
        self.at = end
        out += self.feed(ev.TimePassed(end))
        return out

    def of(self, kind: type[E]) -> list[E]:
        return [effect for _, effect in self.effects if isinstance(effect, kind)]

    def time_of(self, kind: type[Effect]) -> float:
        """When the first such effect came."""
        return next(at for at, effect in self.effects if isinstance(effect, kind))

    @property
    def states(self) -> list[str]:
        """What the page was told to show, one after another."""
        return [shown.state for shown in self.of(ev.ShowState)]

    def forget(self) -> None:
        self.effects.clear()

    # --- common stretches ------------------------------------------------------------------------

    def speak(self, seconds: float = 1.0, words: str = "What is a fold?") -> list[Effect]:
        """The learner says something and falls silent; the transcript is final."""
        out = self.feed(ev.SpeechEvidence(self.at), ev.SpeechStarted(self.at, self.at - 0.1))
        out += self.wait(seconds)
        out += self.feed(ev.SpeechEnded(self.at))
        if words:
            out += self.feed(ev.LearnerWords(self.at, words, finished=True))
        return out

    def answer(self, words: str = "It bends rock.", ms: float = 4000) -> list[Effect]:
        """Reply audio and words arrive at once and begin to play."""
        out = self.feed(ev.TutorWords(self.at, words), ev.TutorAudioArrived(self.at, ms))
        return out + self.feed(ev.PlayoutStarted(self.at))

    def complete(self) -> list[Effect]:
        return self.feed(ev.GenerationCompleted(self.at), ev.TurnCompleted(self.at))

    def drain(self) -> list[Effect]:
        return self.feed(ev.PlayoutDrained(self.at))

    def exchange(self) -> list[Effect]:
        """A whole quiet exchange."""
        out = self.speak() + self.answer()
        out += self.complete() + self.wait(4.0) + self.drain()
        return out

    def tutor_talks(self) -> None:
        """Up to the middle of a reply of a settled turn; effects so far are forgotten."""
        self.speak()
        self.answer()
        self.wait(2.5)
        self.forget()

"""The stage of the machine for agent-made replies: how turns begin, go on and end. Pure."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import Enum

from media import turn_events as ev
from media.modes import agent_events as ag
from media.modes.awaited import Awaited, Drift, Voicing
from media.modes.commit import LearnerCommit
from media.turn_events import TurnId

# The agent's three attempts and the transaction; the operation itself ends sooner.
ASK_S = 60.0


class State(Enum):
    LISTENING = "listening"
    WRITING = "writing"  # a stretch of speech is being written down
    ASKING = "asking"  # the agent decides
    RETRYING = "retrying"  # Flow C: the call failed, the model asks again
    AWAITING = "awaiting"  # the reply is known, nothing of it has been heard
    SPEAKING = "speaking"


_SHOWN = {State.LISTENING: "listening", State.SPEAKING: "speaking"}


@dataclass(slots=True)
class Question:
    """What the learner said, from its first word until its reply is over; `call_id` in Flow C."""

    turn_id: TurnId
    text: str = ""
    call_id: str = ""
    attempts: int = 0


class Stage:
    """At most one question, and at most one reply to it, are current."""

    def __init__(self, voicing: Voicing, prefix: str, *, link_up: bool, speech_on: bool) -> None:
        self.voicing, self._prefix = voicing, prefix
        self.link_up, self.speech_on = link_up, speech_on
        self.commit = LearnerCommit()
        self.drift = Drift()
        self.typed: deque[str] = deque()
        self.question: Question | None = None
        self.reply: Awaited | None = None
        self.state = State.LISTENING
        self.due: float | None = None
        self.now = 0.0
        self.out: list[ag.AgentEffect] = []
        self.opened = 0

    def move(self, to: State, within_s: float | None) -> None:
        before = _SHOWN.get(self.state, "formulating")
        self.state = to
        self.due = None if within_s is None else self.now + within_s
        if _SHOWN.get(to, "formulating") != before:
            self.show()

    def show(self) -> None:
        """Nobody may interrupt here: the microphone waits for the end (UI-26)."""
        self.out.append(ev.ShowState(_SHOWN.get(self.state, "formulating"), False))

    def open(self) -> Question:
        if self.question is None:
            self.opened += 1
            self.question = Question(TurnId(f"{self._prefix}{self.opened}"))
        return self.question

    def ask(self, question: Question) -> None:
        self.commit.clear()
        self.move(State.ASKING, ASK_S)
        self.out.append(ev.ShowLearner(question.turn_id, question.text, True))
        self.out.append(ag.Ask(question.turn_id, question.text))

    def listen(self) -> None:
        """The learner's turn; typed words that wait go first, behind what was just said."""
        self.move(State.LISTENING, None)
        if self.typed:
            question = self.open()
            said = (question.text or self.commit.text, *self.typed)
            question.text, question.call_id = " ".join(filter(None, said)), ""
            self.typed.clear()
            self.ask(question)
        elif self.question is None:
            self.out.append(ev.QuietMoment())

    def drop(self, why: str) -> None:
        """The learner's words lead to nothing."""
        question, self.question = self.question, None
        self.commit.clear()
        if question is not None:
            self.out.append(ev.DropReply(question.turn_id, why))
        self.listen()

    def over(self) -> None:
        """What was awaited has been heard, or never will be: the microphone opens again."""
        reply, self.reply = self.reply, None
        self.question = None
        if reply is not None:
            if reply.by_live and not reply.completed:
                self.drift.piece()  # the rest of it may still come, and is nobody's
            self.out.append(ag.ReplyOver(reply.turn_id, reply.text))
        self.out.append(ag.Microphone(True))
        self.listen()

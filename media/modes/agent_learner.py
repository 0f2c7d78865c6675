"""The learner's side of the machine for agent-made replies: transcripts, typed words, cut-out
speech, and what the agent made of them. Pure."""

from __future__ import annotations

from media import turn_events as ev
from media.modes import agent_events as ag
from media.modes.agent_stage import Question, Stage, State
from media.modes.awaited import Voicing
from media.turn_events import TurnId

# Our own ears write one stretch of speech down within this.
WRITE_DOWN_S = 20.0
# Flow C: words that the model made no call for so long after their end are asked all the same.
CALL_S = 6.0
# Typed turns that wait for the agent; the newest is refused.
TYPED_MAX = 8


class LearnerSide:
    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def due(self) -> float | None:
        """When words that are known become an utterance."""
        due = self._stage.commit.due()
        calls = self._stage.voicing is Voicing.TOOL
        return due + CALL_S if due is not None and calls else due

    def words(self, words: ev.LearnerWords) -> None:
        """Commits that would come while a reply is awaited are ignored (VOICE-27)."""
        stage = self._stage
        if stage.state is not State.LISTENING:
            return
        if stage.commit.hear(words):
            stage.out.append(ev.ShowLearner(stage.open().turn_id, stage.commit.text, False))
        due = self.due()
        if due is not None and due <= stage.now:
            self.take()

    def take(self) -> None:
        """The words that are due, as a question; a repetition is dropped (VOICE-26)."""
        stage = self._stage
        text = stage.commit.take(stage.now)
        if text is None:
            stage.drop("noise")
            return
        question = stage.open()
        question.text = text
        stage.ask(question)

    # --- our own ears ----------------------------------------------------------------------------

    def uttered(self) -> None:
        if self._stage.state is State.LISTENING:
            self._stage.move(State.WRITING, WRITE_DOWN_S)
            self._stage.out.append(ag.WriteDown())

    def goes_on(self) -> None:
        """Speech again before it was written down: both are one utterance."""
        if self._stage.state is State.WRITING:
            self._stage.out.append(ag.KeepListening())
            self._stage.listen()

    def written(self, text: str) -> None:
        stage = self._stage
        if stage.state is not State.WRITING:
            return
        if text.strip():
            question = stage.open()
            question.text = text.strip()
            stage.ask(question)
        else:
            stage.listen()

    def not_written(self) -> None:
        if self._stage.state is State.WRITING:
            self._stage.out.append(ag.Deaf())
            self._stage.listen()

    # --- in writing ------------------------------------------------------------------------------

    def taken(self, turn_id: str, text: str) -> None:
        """Words that an earlier machine left unanswered keep their bubble."""
        self._stage.question = Question(TurnId(turn_id), text)
        self._stage.ask(self._stage.question)

    def keep_typed(self, text: str) -> bool:
        """Whether there are words to be asked."""
        if text.strip() and len(self._stage.typed) < TYPED_MAX:
            self._stage.typed.append(text.strip())
        return bool(text.strip())

    def ask_typed(self) -> None:
        """Nothing is being said: a decision that is being made is waited for."""
        stage = self._stage
        if stage.state is State.WRITING:
            stage.out.append(ag.KeepListening())
        if stage.state in (State.LISTENING, State.WRITING, State.RETRYING):
            stage.listen()

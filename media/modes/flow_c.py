"""Flow C: the Live model fetches every reply by `advance_turn` and says it (VOICE-41 to 43). Pure.

The ids in its arguments are never used: a lesson is bound to one session and one topic.
"""

from __future__ import annotations

from collections.abc import Mapping

from media import turn_events as ev
from media.modes import agent_events as ag
from media.modes.agent_stage import Stage, State

TOOL = "advance_turn"
# What the model sends for noise (PROMPT-34).
NOTHING_SAID = "(user said nothing / skipped)"
# After a failed call the model may say that it tries again, and has to do so (PROMPT-33).
RETRY_S = 15.0
ATTEMPTS = 3


def learner_text(args: Mapping[str, object]) -> str:
    """The learner's words in the arguments of a call; empty for anything else."""
    text = args.get("learnerText")
    return text.strip() if isinstance(text, str) else ""


class Calls:
    """The calls of the model; at most one is current, every other one gets a `noop`."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def called(self, call_id: str, said: str) -> None:
        stage, question = self._stage, self._stage.question
        waiting = stage.state in (State.LISTENING, State.RETRYING)
        text = "" if said == NOTHING_SAID else said or stage.commit.text
        if stage.state is State.RETRYING and question is not None:
            text = question.text
        if not waiting or not text:
            stage.out.append(ag.AnswerCall(call_id, "noop"))
            if stage.state is State.LISTENING:
                stage.drop("noise")
            return
        question = stage.open()
        question.text, question.call_id = text, call_id
        stage.ask(question)

    def cancelled(self, call_ids: tuple[str, ...]) -> None:
        question = self._stage.question
        if question is not None and question.call_id in call_ids:
            self._withdraw()

    def interrupted(self) -> None:
        """The model dropped its turn while the agent decides; it may still wait for an answer."""
        stage, question = self._stage, self._stage.question
        if stage.state is State.ASKING and question is not None and question.call_id:
            stage.out.append(ag.AnswerCall(question.call_id, "noop"))
            self._withdraw()

    def _withdraw(self) -> None:
        """Interrupted and cancelled calls write nothing (VOICE-42)."""
        stage, question = self._stage, self._stage.question
        if question is not None and stage.state is State.ASKING:
            stage.out.append(ag.StopAsking(question.turn_id))
            stage.drop("cancelled")

    def failed(self) -> bool:
        """The agent gave no move: whether the model may ask again."""
        stage, question = self._stage, self._stage.question
        if question is None or not question.call_id:
            return False
        stage.out.append(ag.AnswerCall(question.call_id, "error"))
        question.attempts += 1
        if question.attempts >= ATTEMPTS:
            return False
        question.call_id = ""
        stage.out.append(ev.BeginReply(question.turn_id))
        stage.move(State.RETRYING, RETRY_S)
        return True

    def link_lost(self) -> None:
        """The call died with its session; its answer is wanted all the same."""
        stage, question = self._stage, self._stage.question
        if question is None:
            return
        question.call_id = ""
        if stage.state is State.RETRYING:
            stage.ask(question)

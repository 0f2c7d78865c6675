"""The move agent's decision: what a valid one is, and how it is read from text. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from agent.json_answer import NotJson, parse_object

Mode = Literal["ask", "probe", "reveal", "conclude"]
MODES: tuple[Mode, ...] = ("ask", "probe", "reveal", "conclude")
# 2048 output tokens are about 8,000 characters of prose; escapes may multiply that.
ANSWER_CHARS = 64_000
TEXT_CHARS = 8_000


class DecisionInvalid(ValueError):
    """The answer is no decision. The message never repeats the answer."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One move. `updated_reveal_state` is as the model reported it, not yet settled."""

    mode: Mode
    text: str
    updated_reveal_state: dict[str, Any]
    discrepancy_flagged: bool


def parse_decision(text: str) -> Decision:
    """Reads a decision (MOVE-12); fences and prose around it do no harm. Raises DecisionInvalid."""
    try:
        answer = parse_object(text, key="mode", max_chars=ANSWER_CHARS)
    except NotJson as error:
        raise DecisionInvalid(str(error)) from None
    spoken = answer.get("text")
    if not isinstance(spoken, str) or not spoken.strip():
        raise DecisionInvalid("the decision has no text")
    if len(spoken) > TEXT_CHARS:
        raise DecisionInvalid(f"the decision's text is {len(spoken)} characters long")
    state = answer.get("updatedRevealState", {})
    if not isinstance(state, dict):
        raise DecisionInvalid("updatedRevealState is not an object")
    flagged = answer.get("discrepancyFlagged", False)
    if not isinstance(flagged, bool):
        raise DecisionInvalid("discrepancyFlagged is not a boolean")
    return Decision(_mode(answer["mode"]), spoken.strip(), state, flagged)


def _mode(value: object) -> Mode:
    name = value.strip().lower() if isinstance(value, str) else ""
    for mode in MODES:
        if mode == name:
            return mode
    raise DecisionInvalid("the mode is none of " + ", ".join(MODES))

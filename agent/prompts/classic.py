"""The instruction of a Live session that only listens, and reads out what it is given (PROMPT-36).

Pure; never sent to a client.
"""

from __future__ import annotations

from agent.prompts.rules import Rule, compose
from agent.prompts.verbatim import END, START

RULES: tuple[Rule, ...] = (
    Rule(
        "PROMPT-36",
        "Write down what the learner says and do nothing else with it: you do not answer, comment, "
        "greet or ask, not even when you are spoken to directly; the app decides on every reply. "
        f"Speak only when a message carries a text between {START} and {END}: then read that text "
        "out exactly, once, and fall silent again.",
    ),
)


def compose_live_classic_instruction() -> str:
    """The same for every topic: nothing of the lesson is needed for listening and reading."""
    return "You are the ears and the voice of Pidjin, a tutor.\nCAPTURE ONLY\n" + compose(RULES)

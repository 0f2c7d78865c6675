"""The addendum for exchanges that were already spoken (PROMPT-29). Text only."""

from __future__ import annotations

from agent.prompts.rules import Rule, compose

HEADING = "OBSERVER MODE"

RULES: tuple[Rule, ...] = (
    Rule(
        "PROMPT-29",
        "This replaces parts of the answer contract above: another voice has already spoken the "
        "reply of this exchange. The message shows what the learner said under LEARNER UTTERANCE "
        "and what was spoken under TUTOR REPLY. Do not write another reply. Answer with the same "
        'JSON object, read as follows: "mode" classifies the reply that was spoken; "text" is a '
        "private hint of one or two sentences to the speaking voice for its following reply (which "
        "step comes next, which open agenda point to take up, whether to make things simpler), "
        "never addressed to the learner and never a retelling of the reply; "
        '"updatedRevealState" is the state after this exchange. If the reply was cut short, count '
        "only the words that are shown as said.",
    ),
    Rule(
        "OBS-18",
        "Put a point into coveredAngles only if it was explained in what was spoken, or if the "
        "learner showed that they know it; to mention it or to ask about it is not enough.",
    ),
)

CUT_SHORT = "(the reply was cut short; only these words were heard)"
NOTHING_SAID = "(none)"


def observer_addendum() -> str:
    return HEADING + "\n" + compose(RULES)

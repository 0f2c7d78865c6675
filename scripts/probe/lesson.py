"""The little lesson that the probe holds: two points that no model can know from elsewhere.

Instruction and updates are worded by the product, so that what passes here holds in a lesson. Pure.
"""

from __future__ import annotations

from agent.context_update import compose_context_update
from agent.prompts.native import compose_live_native_instruction
from agent.topic import Grounded, Section

AGENDA = ("Slack water", "Spring tides")
DIGEST = """\
1. Slack water: Slack water is the short time without current when the tide turns.
2. Spring tides: Spring tides come at new and full moon, when sun and moon pull together."""

# What transcription cannot spell in two ways.
FIRST, SECOND = "Silver Lantern", "Copper Kettle"
POINTS = {FIRST: "The Silver Lantern wave", SECOND: "The Copper Kettle current"}
FACTS = {
    FIRST: "The Silver Lantern wave runs up the river twice a day and can be heard from afar.",
    SECOND: "The Copper Kettle current circles the bay and turns with the moon.",
}

GO_ON = "Please go on."
TELL_MUCH = (
    "Please tell me everything about spring tides and slack water, in at least twelve sentences."
)


def instruction(agenda: tuple[str, ...] = AGENDA, digest: str = DIGEST) -> str:
    outline = tuple(Section(f"s{n}", title, title) for n, title in enumerate(agenda, 1))
    topic = Grounded("Tides", "core", digest, False, (), "standard", outline)
    return compose_live_native_instruction(topic, "conversational", agenda, (), 2)


def update(name: str) -> str:
    """A state update that brings in the point of `name`, and makes it the next one."""
    return compose_context_update(
        mode="ask",
        note=f"Name the {name} in your next reply, and ask about it.",
        agenda=(*AGENDA, POINTS[name]),
        covered=AGENDA,
        refreshed_digest=f"{DIGEST}\n3. {POINTS[name]}: {FACTS[name]}",
    )


def about(name: str) -> str:
    """The instruction of another lesson, which has the point of `name` alone."""
    return instruction((POINTS[name],), f"1. {POINTS[name]}: {FACTS[name]}")

"""What a speaking tutor is told whose session is about to end. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from agent.context_update import compose_context_update

# A line of its own at the end of a state update.
WRAP_UP = (
    "Session time: about one minute of this voice session is left; the conversation can go on "
    "later. Open nothing new. Say so in one sentence of your next reply and close the point."
)

# A prompt, when nobody has spoken since: the learner hears of it all the same.
TIME_CHECK = "[TIME CHECK]"
ANNOUNCE = (
    f"{TIME_CHECK} About half a minute of this voice session is left, and nobody is speaking. Tell "
    "the learner so in one short sentence, and that the conversation can go on later. Ask nothing."
)


def wrap_up(agenda: Sequence[str], covered: Sequence[str]) -> str:
    """A whole state update for the moment at which nothing else has been decided."""
    update = compose_context_update(
        mode="wrap-up", note="Time is nearly over.", agenda=agenda, covered=covered
    )
    return f"{update}\n{WRAP_UP}"

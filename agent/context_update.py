"""The silent message that steers the speaking model after an exchange. Pure (OBS-9 to OBS-16)."""

from __future__ import annotations

from collections.abc import Sequence

from agent.agenda import agenda_lines, next_point
from agent.prompts.quoting import one_line, quote

TAG = "[TUTOR STATE UPDATE]"
NOTE_CHARS = 400
DIGEST_CHARS = 6_000

CLOSING_HINT = "Every point is covered: a short closing summary is due."
CONCLUDED = (
    "You have concluded this topic. Do not start it again; answer only what the learner still asks."
)
TOO_EARLY = (
    "The last reply wrapped up too early: points are still open. Go on with the next one naturally."
)


def compose_context_update(
    *,
    mode: str,
    note: str,
    agenda: Sequence[str],
    covered: Sequence[str],
    concluded: bool = False,
    gated: bool = False,
    refreshed_digest: str | None = None,
) -> str:
    """The whole update. `mode` is the settled one; `concluded` and `gated` exclude each other."""
    lines = [TAG, f"Move: {one_line(mode)}", f"Note: {one_line(note, NOTE_CHARS)}"]
    if agenda:
        lines += ["Agenda:", agenda_lines(agenda, covered)]
        upcoming = next_point(agenda, covered)
        lines.append(
            CLOSING_HINT if upcoming is None else f'Next point to teach: "{one_line(upcoming)}"'
        )
    if gated:
        lines.append(TOO_EARLY)
    elif concluded:
        lines.append(CONCLUDED)
    if refreshed_digest:
        lines += ["Refreshed digest:", quote(refreshed_digest[:DIGEST_CHARS])]
    return "\n".join(lines)

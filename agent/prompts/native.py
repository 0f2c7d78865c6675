"""The instruction of a speech-to-speech tutor (PROMPT-21 to PROMPT-28). Pure; never sent to a
client."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from agent.agenda import agenda_lines, remaining
from agent.prompts.kinds import kind_note
from agent.prompts.move_contract import DATA_NOTE
from agent.prompts.quoting import one_line
from agent.prompts.rules import Rule, compose
from agent.prompts.topic_block import digest_block
from agent.styles import policy
from agent.topic import Grounded

FRAME: tuple[Rule, ...] = (
    Rule(
        "PROMPT-23",
        "This is live speech. You hear the learner and reply yourself, in words of your own, as "
        "soon as the learner stops talking.",
    ),
    Rule(
        "PROMPT-24",
        "Talk as people talk: short sentences, no lists, no markdown, no stage directions. Never "
        "pronounce internal labels such as mode, agenda or reveal state.",
    ),
    Rule(
        "PROMPT-25",
        "The app keeps the agenda and saves the lesson. You produce no JSON and you have no tools; "
        "pass over whatever the policy below says about JSON, modes or state keys. Where it says "
        "conclude, speak the short closing summary.",
    ),
    Rule(
        "PROMPT-26",
        "A message that begins with [TUTOR STATE UPDATE] is the app speaking, not the learner. "
        "Take it in silently and let it guide what you say next; do not reply to it, confirm it or "
        "talk about it. It outranks your own idea of what is covered.",
    ),
    Rule("PROMPT-27", "If you hear noise without speech, stay silent."),
    Rule(
        "OWN-48",
        "Asked to switch the voice or the service behind it, say that the app manages that "
        "selection, and go on with the lesson.",
    ),
)


def compose_live_native_instruction(
    topic: Grounded,
    style: str,
    agenda: Sequence[str],
    covered: Sequence[str],
    learner_turns: int,
    *,
    grounded_at: datetime | None = None,
) -> str:
    """Frame, policy, kind, topic, digest, sources, agenda, remaining points, turn count."""
    parts = [
        "You are Pidjin, a tutor in a spoken lesson.\n" + compose(FRAME),
        policy(style),
        kind_note(topic, grounded_at) + "\n" + DATA_NOTE,
        f"TOPIC: {one_line(topic.topic)}\n" + digest_block(topic),
    ]
    if agenda:
        parts.append(
            "AGENDA:\n" + agenda_lines(agenda, covered) + "\n" + _standing(agenda, covered)
        )
    parts.append(f"The learner has already taken {learner_turns} turn(s).")
    return "\n\n".join(parts)


def _standing(agenda: Sequence[str], covered: Sequence[str]) -> str:
    left = remaining(agenda, covered)
    count = f"REMAINING: {len(left)} of {len(agenda)}."
    if not left:
        return f"{count} Every point is covered; a closing summary is due."
    return f'{count} Next point to teach: "{one_line(left[0])}"'

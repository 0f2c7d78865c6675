"""The instruction of a Live model that fetches every reply by a tool (PROMPT-30 to PROMPT-35).

Pure; composed on the server and never sent to a client.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.prompts.move_contract import DATA_NOTE
from agent.prompts.quoting import one_line, one_line_json
from agent.prompts.rules import Rule, compose
from agent.prompts.topic_block import digest_block
from agent.topic import Grounded

TOOL = "advance_turn"
NOTHING_SAID = "(user said nothing / skipped)"
HOLDING = "Let me check that - one moment"

RULES: tuple[Rule, ...] = (
    Rule(
        "PROMPT-30",
        f"Each time the learner has finished speaking, call {TOOL}(learnerText, sessionId, "
        "topicId) once: learnerText holds their exact words, the two ids are those of the META "
        "lines.",
    ),
    Rule(
        "PROMPT-31",
        "Wait for the result. Its text is all you say: speak it verbatim, from its first word to "
        "its last, with nothing before and nothing after it.",
    ),
    Rule(
        "PROMPT-32",
        "When the result's mode is conclude, speak its text and then keep silent until the learner "
        "speaks again.",
    ),
    Rule(
        "PROMPT-33",
        "Never answer by yourself; without a result there is no speech. If a call fails, call once "
        f'more. If that fails too, say "{HOLDING}" and call a third time.',
    ),
    Rule(
        "PROMPT-34",
        f'For noise, or when nothing was said, call with learnerText "{NOTHING_SAID}", and stay '
        "silent when the result says noop.",
    ),
)


def compose_live_voice_instruction(
    topic: Grounded, *, session_id: str, topic_id: str, reveal_state: Mapping[str, Any]
) -> str:
    """Rules, the ids of the lesson, its topic and digest, and its progress so far (PROMPT-35)."""
    return "\n\n".join(
        [
            "You are the voice of Pidjin, a tutor; another mind decides on what is said.\n"
            + compose(RULES),
            DATA_NOTE,
            f"META sessionId={one_line(session_id)}\nMETA topicId={one_line(topic_id)}\n"
            f"TOPIC: {one_line(topic.topic)}\n{digest_block(topic)}\n"
            f"REVEAL STATE: {one_line_json(dict(reveal_state))}",
        ]
    )

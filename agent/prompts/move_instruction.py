"""The move agent's instruction and the message it answers (MOVE-7, MOVE-8, OBS-7). Pure.

What stays the same from turn to turn comes first, so that the prefix can be cached.
"""

from __future__ import annotations

from agent.dialogue import MoveRequest
from agent.prompts.kinds import kind_note
from agent.prompts.move_contract import DATA_NOTE, TOOL_HINT, move_contract
from agent.prompts.observer import CUT_SHORT, NOTHING_SAID, observer_addendum
from agent.prompts.quoting import one_line, one_line_json, quote
from agent.prompts.topic_block import digest_block, outline_block
from agent.styles import policy

# The last exchanges are context, not record: (speaker, text) pairs and characters of each.
RECENT_MAX = 12
RECENT_CHARS = 600


def compose_move_instruction(request: MoveRequest) -> str:
    return stable_part(request) + "\n\n" + volatile_part(request)


def stable_part(request: MoveRequest) -> str:
    """Policy, contract, addendum in observer mode, kind, tools, topic: the same on every turn."""
    parts = [policy(request.style), move_contract()]
    if request.observing:
        parts.append(observer_addendum())
    topic = request.topic
    parts += [
        kind_note(topic, request.grounded_at),
        TOOL_HINT,
        DATA_NOTE,
        f"META topicId={one_line(request.topic_id)}\n"
        f"TOPIC: {one_line(topic.topic)}\n{digest_block(topic)}\n{outline_block(topic)}",
    ]
    return "\n\n".join(parts)


def volatile_part(request: MoveRequest) -> str:
    lines = []
    if request.recent:
        said = "\n".join(
            f"{'tutor' if speaker == 'tutor' else 'learner'}: {one_line(text, RECENT_CHARS)}"
            for speaker, text in request.recent[-RECENT_MAX:]
        )
        lines.append(f"RECENT EXCHANGES:\n{quote(said)}")
    lines += [
        f"REVEAL STATE: {one_line_json(request.reveal_state)}",
        f"LEARNER TURNS: {request.learner_turns}",
    ]
    return "\n".join(lines)


def compose_query(request: MoveRequest) -> str:
    """The user message: what was said, as quoted data."""
    said = request.utterance.strip()
    lines = ["LEARNER UTTERANCE", quote(said) if said else NOTHING_SAID]
    if request.observing and request.tutor_reply is not None:
        lines += ["TUTOR REPLY", quote(request.tutor_reply.strip())]
        if request.tutor_interrupted:
            lines.append(CUT_SHORT)
    return "\n".join(lines)

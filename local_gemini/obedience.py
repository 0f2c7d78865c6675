"""What an instruction makes of a turn besides a conversation: silence, an exact read, a tool call.

The machine words of such instructions are read here and nowhere else. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from local_gemini.wire import Json

START = "SPEAK_VERBATIM_OUTPUT_START"
END = "SPEAK_VERBATIM_OUTPUT_END"
# An instruction with this line wants ears, not answers.
CAPTURE = "CAPTURE ONLY"
TOOL = "advance_turn"
# A Flow C model calls so often for one utterance; before the last time it says that it waits.
ATTEMPTS = 3
HOLDING = "Let me check that - one moment"

_VERBATIM = re.compile(rf"^{START}\n(.*)\n{END}$", re.DOTALL | re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def verbatim(prompt: str) -> list[str] | None:
    """The sentences that a prompt wants read out; None for any other prompt."""
    found = _VERBATIM.search(prompt)
    return None if found is None else _SENTENCE.split(found[1].strip())


def captures_only(instruction: str) -> bool:
    return CAPTURE in instruction.splitlines()


def fetches_replies(setup: Mapping[str, Any]) -> bool:
    """Whether the setup declares the tool that every reply comes from."""
    return any(
        function.get("name") == TOOL
        for tool in setup.get("tools") or ()
        for function in tool.get("functionDeclarations") or ()
    )


def call_for(learner: str, instruction: str, number: int) -> Json:
    """The tool call for what the learner said, with the ids of the instruction's META lines."""
    ids = {
        name: match[1]
        for name in ("sessionId", "topicId")
        if (match := re.search(rf"^META {name}=(.*)$", instruction, re.MULTILINE))
    }
    return {"id": f"call-{number}", "name": TOOL, "args": {"learnerText": learner, **ids}}

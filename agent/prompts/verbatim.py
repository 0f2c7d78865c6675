"""The request to read a text out as it stands (PROMPT-37, VOICE-34). Pure."""

from __future__ import annotations

import re

from agent.prompts.rules import Rule

START = "SPEAK_VERBATIM_OUTPUT_START"
END = "SPEAK_VERBATIM_OUTPUT_END"

RULES: tuple[Rule, ...] = (
    Rule(
        "PROMPT-37",
        "Read out, word for word, what stands between the two marker lines below, and nothing but "
        "that: add no greeting, comment or answer, leave nothing out, change nothing, and do not "
        "pronounce the markers.",
    ),
)

_MARKER = re.compile(r"SPEAK_VERBATIM_OUTPUT", re.IGNORECASE)


def verbatim_request(text: str) -> str:
    """`text` between its markers; marker words inside of it lose their form."""
    harmless = _MARKER.sub(lambda found: found[0].replace("_", " "), text.strip())
    return f"{RULES[0].text}\n{START}\n{harmless}\n{END}"

"""A rule is one requirement said to a model in one breath; prompts are lists of rules. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """`id` names the requirement that the sentence carries; the model only sees `text`."""

    id: str
    text: str


def compose(rules: Iterable[Rule]) -> str:
    """One dash line per rule, in order."""
    return "\n".join(f"- {rule.text}" for rule in rules)

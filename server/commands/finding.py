"""What `pidjin doctor` finds: one sentence each, and what to do about it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """`warning`: it runs, but not as somebody may expect. `failure`: it does not run."""

    OK = "ok"
    WARNING = "warning"
    FAILURE = "failure"


@dataclass(frozen=True, slots=True)
class Finding:
    """`check` names what was looked at; `fix` is empty for what is in order."""

    check: str
    level: Level
    text: str
    fix: str = ""


def fine(check: str, text: str) -> Finding:
    return Finding(check, Level.OK, text)


def doubtful(check: str, text: str, fix: str) -> Finding:
    return Finding(check, Level.WARNING, text, fix)


def broken(check: str, text: str, fix: str) -> Finding:
    return Finding(check, Level.FAILURE, text, fix)

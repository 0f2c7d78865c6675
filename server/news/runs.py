"""What is recorded of one gathering of news (DATA-15). Plain values, no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from server.clock import day, stamp

RUNS = "topicPipelineStatus"
Trigger = Literal["manual", "schedule"]
# Stands where an admin's uid stands in a manual run.
SCHEDULER_UID = "scheduler"


def run_path(at: datetime) -> str:
    """One record per UTC day: a later run of the same day replaces it."""
    return f"{RUNS}/{day(at)}"


@dataclass(frozen=True, slots=True)
class ThemeError:
    """`message` is a sentence for the admin."""

    theme: str
    message: str


@dataclass(frozen=True, slots=True)
class Run:
    """`by_theme` counts new items; every theme of the run is in it (PIPE-16)."""

    ran_at: datetime
    trigger: Trigger
    by_uid: str
    drafts: int
    published: int
    pruned: int
    errors: tuple[ThemeError, ...]
    by_theme: Mapping[str, int]

    @property
    def generated(self) -> int:
        return self.drafts + self.published  # PIPE-17

    def to_store(self) -> dict[str, Any]:
        return {
            "ranAt": stamp(self.ran_at),
            "trigger": self.trigger,
            "byUid": self.by_uid,
            "generated": self.generated,
            "drafts": self.drafts,
            "published": self.published,
            "pruned": self.pruned,
            "errors": [{"theme": e.theme, "message": e.message} for e in self.errors],
            "byTheme": dict(self.by_theme),
        }

"""What the probe found: checks and capability columns, as lines or as JSON. No I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

PASS, FAIL, SKIP = "pass", "FAIL", "skip"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that the product relies on; `outcome` is `pass`, `FAIL` or `skip`."""

    name: str
    outcome: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """One capability: what the table says, what was seen, and whether that agrees.

    `verdict` is `as in the table`, `MISMATCH`, `not probed`, or `no row` for an unknown model.
    """

    name: str
    table: str
    observed: str
    verdict: str


@dataclass
class Report:
    model: str
    base_url: str
    checks: list[Check] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)

    @property
    def good(self) -> bool:
        return not any(check.outcome == FAIL for check in self.checks) and not any(
            column.verdict == MISMATCH for column in self.columns
        )

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "good": self.good}


AGREES, MISMATCH, UNPROBED, NO_ROW = "as in the table", "MISMATCH", "not probed", "no row"


def passed(name: str, reason: str = "") -> Check:
    return Check(name, PASS, reason)


def failed(name: str, reason: str) -> Check:
    return Check(name, FAIL, reason)


def skipped(name: str, reason: str) -> Check:
    return Check(name, SKIP, reason)


def judged(name: str, good: bool, reason: str, instead: str) -> Check:
    """`reason` for a pass, `instead` for a FAIL."""
    return passed(name, reason) if good else failed(name, instead)


def check_line(check: Check) -> str:
    return f"{check.outcome:4}  {check.name:20} {check.reason}".rstrip()


def column_lines(columns: Iterable[Column]) -> list[str]:
    head = Column("capability", "table", "observed", "verdict")
    return [
        f"{row.name:20} {row.table:18} {row.observed:18} {row.verdict}".rstrip()
        for row in (head, *columns)
    ]

"""docs/ownership.md says of each requirement what became of it, and what it claims is tested."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VERDICTS = {"holds", "client", "accepted", "not here"}


def rows() -> dict[str, str]:
    text = (ROOT / "docs/ownership.md").read_text("utf-8")
    found = re.findall(r"^\| (OWN-\d+) \| ([a-z ]+) \| .{10,} \|$", text, re.MULTILINE)
    assert len(found) == len(dict(found))
    return dict(found)


def carried() -> set[str]:
    places = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "client/test").glob("*.ts")]
    return {
        one
        for place in places
        if place != Path(__file__)
        for one in re.findall(r"OWN-\d+", place.read_text("utf-8"))
    }


def test_every_requirement_has_its_line() -> None:
    assert list(rows()) == [f"OWN-{number}" for number in range(1, 80)]
    assert set(rows().values()) == VERDICTS


def test_what_is_said_to_hold_carries_a_test_and_what_is_not_here_none() -> None:
    with_test = carried()
    holds = {one for one, verdict in rows().items() if verdict in ("holds", "client")}
    assert holds - with_test == set()
    assert {one for one, verdict in rows().items() if verdict == "not here"} & with_test == set()

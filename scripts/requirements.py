"""Prints, per area of docs/SPEC.md, how many requirements some test carries and which none does."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path

ID = re.compile(r"\b([A-Z]{2,6})-(\d+)\b")
DEFINED = re.compile(r"^- \*\*([A-Z]{2,6})-(\d+)\*\*", re.MULTILINE)
MARK = re.compile(r"\.req\(([^)]*)\)", re.DOTALL)


def defined(spec: Path) -> dict[str, set[int]]:
    areas: dict[str, set[int]] = defaultdict(set)
    for area, number in DEFINED.findall(spec.read_text("utf-8")):
        areas[area].add(int(number))
    return areas


def carried(tests: Path) -> dict[str, set[int]]:
    areas: dict[str, set[int]] = defaultdict(set)
    for path in [*tests.rglob("*.py"), *Path("client/test").rglob("*.ts")]:
        if "node_modules" in path.parts:
            continue
        text = path.read_text("utf-8")
        marks = MARK.findall(text) if path.suffix == ".py" else re.findall(r"@req ([^\n*]*)", text)
        for ids in marks:
            for area, number in ID.findall(ids):
                areas[area].add(int(number))
    return areas


def main() -> int:
    wanted, shown = defined(Path("docs/SPEC.md")), carried(Path("tests"))
    for area, numbers in wanted.items():
        missing = sorted(numbers - shown[area])
        print(f"{area:8} {len(numbers) - len(missing):3} of {len(numbers):3} carried", end="")
        print("" if not missing else "  open: " + " ".join(str(n) for n in missing))
    total = sum(len(numbers) for numbers in wanted.values())
    found = sum(len(numbers & shown[area]) for area, numbers in wanted.items())
    print(f"{'all':8} {found:3} of {total:3} carried")
    strange = [f"{a}-{n}" for a in shown for n in sorted(shown[a] - wanted.get(a, set()))]
    if strange:
        print("ids in tests that docs/SPEC.md does not define:", " ".join(strange))
    return 1 if strange else 0


if __name__ == "__main__":
    sys.exit(main())

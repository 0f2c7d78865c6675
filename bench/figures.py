"""Samples to figures, and figures against their budgets. Pure: no clock, no I/O."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, Literal

Bound = Literal["at most", "at least"]

# Share of a core that an extrapolation may fill: beyond it queues grow and packets are late.
FULL = 0.70


def quantile(samples: Sequence[float], q: float) -> float | None:
    """Nearest-rank quantile; None without samples."""
    if not samples:
        return None
    ordered = sorted(samples)
    return ordered[max(0, math.ceil(q * len(ordered)) - 1)]


def figure(
    value: float | None,
    budget: float,
    unit: str,
    *,
    bound: Bound = "at most",
    note: str = "",
    **beside: Any,
) -> dict[str, Any]:
    """One figure as printed; what was not measured (None) is not ok. `beside` are plain facts."""
    kept = value is not None and (value <= budget if bound == "at most" else value >= budget)
    entry: dict[str, Any] = {
        "value": None if value is None else rounded(value),
        "budget": budget,
        "unit": unit,
        "ok": kept,
    }
    if note:
        entry["note"] = note
    return entry | {name: rounded(fact) for name, fact in beside.items()}


def rounded(value: Any) -> Any:
    """Numbers to four significant digits, inside containers too; everything else as it is."""
    match value:
        case bool() | int() | str() | None:
            return value
        case float():
            return float(f"{value:.4g}") if math.isfinite(value) else None
        case Mapping():
            return {name: rounded(inner) for name, inner in value.items()}
        case Sequence():
            return [rounded(inner) for inner in value]
    raise TypeError(f"no figure: {value!r}")


def ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1000


def slope(points: Sequence[tuple[float, float]]) -> float | None:
    """Least-squares growth of y per x; None with fewer than two different x."""
    if len({x for x, _ in points}) < 2:
        return None
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread


def lessons_that_fit(fixed_share: float, share_each: float, full: float = FULL) -> int:
    """Extrapolation: lessons of `share_each` of a core until `full` of it is used."""
    if share_each <= 0:
        raise ValueError("a lesson that costs nothing was not measured")
    return max(0, int((full - fixed_share) / share_each))


def middle(samples: Sequence[float]) -> float | None:
    """The median; None without samples."""
    return median(samples) if samples else None

"""Counters and gauges in Prometheus text form. No I/O, no labels that grow with users."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable

Labels = tuple[tuple[str, str], ...]
Sample = tuple[str, Labels, float]
Source = Callable[[], Iterable[Sample]]


class Metrics:
    """`count` at the transition; `add_source` for values that somebody else already keeps."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, Labels]] = Counter()
        self._sources: list[Source] = []

    def count(self, name: str, /, amount: int = 1, **labels: str) -> None:
        """`name` as `pidjin_<thing>_total`; label values from small fixed sets only."""
        self._counts[name, tuple(sorted(labels.items()))] += amount

    def add_source(self, source: Source) -> None:
        """Read at each scrape; gives (name, labels, value)."""
        self._sources.append(source)

    def render(self) -> str:
        samples: list[Sample] = [(n, labels, v) for (n, labels), v in self._counts.items()]
        for source in self._sources:
            samples.extend(source())
        lines: list[str] = []
        named = ""
        for name, labels, value in sorted(samples):
            if name != named:
                lines.append(f"# TYPE {name} {'counter' if name.endswith('_total') else 'gauge'}")
                named = name
            text = ",".join(f'{key}="{_escaped(label)}"' for key, label in labels)
            lines.append(
                f"{name}{{{text}}} {_number(value)}" if text else f"{name} {_number(value)}"
            )
        return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    """Exact: a counter beyond a million still counts by ones."""
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if math.isnan(value):
        return "NaN"
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

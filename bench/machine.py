"""The machine a figure was measured on, and which of its cores do what."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Cores:
    """`server` is the measured core, `others` carries the learners and the model; the same one
    where a machine has only one."""

    server: frozenset[int]
    others: frozenset[int]
    every: frozenset[int]


def cores() -> Cores:
    usable = sorted(os.sched_getaffinity(0))
    return Cores(frozenset(usable[-1:]), frozenset(usable[:1]), frozenset(usable))


def cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def facts() -> dict[str, Any]:
    """Before the run: cores, model, load averages, Python."""
    return {
        "cores": os.cpu_count(),
        "cpu": cpu_model(),
        "load": [round(load, 2) for load in os.getloadavg()],
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
    }

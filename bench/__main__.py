"""`python -m bench`: one JSON object on stdout, progress on stderr.

Exit code 0 also when budgets are missed: it reports. 1 when the run itself broke.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
import traceback
from collections.abc import Sequence

from bench import machine, report
from bench.hearing import hearing
from bench.stages import Options, run, say

QUICK = Options(lessons=(1, 4), seconds=6.0, quick=True, sessions=20)


def options_of(argv: Sequence[str] | None) -> Options:
    parser = argparse.ArgumentParser(prog="bench", description="The budgets, measured.")
    parser.add_argument("--lessons", help="numbers of lessons, ascending: 1,8,32")
    parser.add_argument("--seconds", type=float, help="length of each measured stretch (20)")
    parser.add_argument("--quick", action="store_true", help="under a minute; not the whole truth")
    given = parser.parse_args(argv)
    base = QUICK if given.quick else Options()
    lessons = base.lessons
    if given.lessons:
        try:
            lessons = tuple(sorted({int(number) for number in given.lessons.split(",")}))
        except ValueError:
            parser.error("--lessons takes numbers, separated by commas")
        if lessons[0] < 1:
            parser.error("--lessons starts at 1")
    seconds = base.seconds if given.seconds is None else given.seconds
    if seconds < 2:
        parser.error("--seconds is at least 2")
    return Options(lessons, seconds, base.quick, base.sessions)


def main(argv: Sequence[str] | None = None) -> int:
    options = options_of(argv)
    if not sys.platform.startswith("linux"):
        sys.stderr.write("bench: reads /proc and pins processes to cores: Linux only\n")
        return 1
    before, cores, began = machine.facts(), machine.cores(), time.monotonic()
    try:
        found = asyncio.run(run(options, cores))
        say("what the gate hears")
        heard = hearing(quick=options.quick)
    except Exception:  # the edge: a broken run is told and ends with 1
        traceback.print_exc()
        return 1
    result = {
        "machine": before | {"load_after": machine.facts()["load"]},
        "run": {
            "lessons": options.lessons,
            "seconds": options.seconds,
            "quick": options.quick,
            "server_core": sorted(cores.server),
            "others_core": sorted(cores.others),
            "preferred": found.preferred,
            "took_s": round(time.monotonic() - began, 1),
            "server_idle_cpu": round(found.idle_share * 100, 2),
            "complaints": found.complaints,
        },
        "figures": report.figures(found),
        "by_lessons": report.by_lessons(found),
        "hearing": heard,
    }
    json.dump(result, sys.stdout, indent=1)
    sys.stdout.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

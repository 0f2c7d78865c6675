"""Checks a Live model for everything that Pidjin relies on, and prints its capability row.

    GEMINI_API_KEY=… python scripts/live_probe.py --model gemini-3.8-live --token
    python scripts/live_probe.py --local

Exit codes: 0 all is as the product expects, 1 a check failed or a capability differs from the
table in media/live/capabilities.py, 2 wrong usage, 77 skipped because there is no GEMINI_API_KEY.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.probe.bench import Bench
from scripts.probe.local import local_bench
from scripts.probe.recording import RecordingInvalid, local_voice, read_wav
from scripts.probe.report import Check, Column, Report, check_line, column_lines
from scripts.probe.run import GROUPS, groups_of, probe

MODEL = "gemini-3.8-live"
EXIT_FAILED, EXIT_USAGE, EXIT_SKIPPED = 1, 2, 77
NO_KEY = (
    "live_probe: skipped, there is no GEMINI_API_KEY. Set it to probe the real service, or try "
    "--local for the local tutor."
)


def options_of(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="live_probe.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--model", default=MODEL, help=f"the Live model ({MODEL})")
    parser.add_argument(
        "--base-url", default=os.environ.get("GEMINI_API_BASE"), help="default: GEMINI_API_BASE"
    )
    parser.add_argument("--local", action="store_true", help="probe the local tutor, in process")
    parser.add_argument("--token", action="store_true", help="also mint and try an ephemeral token")
    parser.add_argument(
        "--only", action="append", choices=GROUPS, help="this group of checks alone; repeatable"
    )
    parser.add_argument("--wav", type=Path, help="a spoken question, PCM16 WAV")
    parser.add_argument("--json", action="store_true", help="one JSON object at the end")
    options = parser.parse_args(argv)
    if options.local and options.base_url and "--base-url" in (argv or sys.argv):
        parser.error("--local and --base-url exclude each other")
    return options


async def run(options: argparse.Namespace, key: str) -> int:
    groups = options.only or groups_of(options.model, with_token=options.token)
    tell = (lambda found: None) if options.json else _print
    if options.local:
        async with local_bench(options.model) as bench:
            if options.wav:
                bench.speech = read_wav(options.wav, 16_000)
            report = await probe(bench, tell, groups)
    else:
        speech = read_wav(options.wav, 16_000) if options.wav else local_voice(16_000)
        bench = Bench(options.model, lambda: key, options.base_url, speech=speech)
        report = await probe(bench, tell, groups)
    _conclude(report, as_json=options.json)
    return 0 if report.good else EXIT_FAILED


def _print(found: Check | Column) -> None:
    if isinstance(found, Check):
        print(check_line(found), flush=True)


def _conclude(report: Report, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(report.to_json(), ensure_ascii=False, indent=2))
        return
    if report.columns:
        print("\n" + "\n".join(column_lines(report.columns)))
    print("\nall as the product expects" if report.good else "\nNOT as the product expects")


def main(argv: Sequence[str] | None = None) -> int:
    options = options_of(argv)
    key = os.environ.get("GEMINI_API_KEY", "").strip()
    if not key and not options.local:
        print(NO_KEY, file=sys.stderr)
        return EXIT_SKIPPED
    try:
        return asyncio.run(run(options, key))
    except (RecordingInvalid, FileNotFoundError) as error:
        print(f"live_probe: {error}", file=sys.stderr)
        return EXIT_USAGE


if __name__ == "__main__":
    sys.exit(main())

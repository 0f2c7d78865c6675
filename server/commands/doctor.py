"""`pidjin doctor`: looks at everything the server needs, and says how to mend what is wrong."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from datetime import UTC, datetime

from server.commands import machine, services
from server.commands.finding import Finding, Level, broken, doubtful, fine
from server.settings import SettingsInvalid, load_settings
from server.tracing import PACKAGE, missing_exporter

_MARKS = {Level.OK: "ok  ", Level.WARNING: "warn", Level.FAILURE: "FAIL"}


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("doctor", help="check everything the server needs")
    parser.add_argument("--json", action="store_true", help="as a JSON list")
    parser.set_defaults(run=run)


async def run(options: argparse.Namespace) -> int:
    """Exit codes: 0 in order or with warnings, 1 with a failure."""
    findings = []
    async for finding in examine():
        findings.append(finding)
        if not options.json:
            print(f"{_MARKS[finding.level]}  {finding.check:9} {finding.text}", flush=True)
            if finding.fix:
                print(f"      {'':9} {finding.fix}")
    if options.json:
        print(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False, indent=2))
    return int(any(finding.level is Level.FAILURE for finding in findings))


async def examine() -> AsyncIterator[Finding]:
    yield machine.python()
    yield machine.opus()
    yield machine.client()
    try:
        settings = load_settings()
    except SettingsInvalid as error:
        for mistake in error.mistakes:
            yield broken("settings", mistake, "Change that environment variable; see pidjin --help")
        return
    yield fine("settings", "the environment is consistent")
    if sentence := missing_exporter(settings):
        yield doubtful("traces", sentence, f"Run pip install {PACKAGE}, or unset the variable.")
    yield machine.clock(settings, datetime.now(UTC))
    usable = True
    kept_here = settings.store == "sqlite" or settings.identity == "local"
    for finding in machine.data_dir(settings) if kept_here else ():
        usable = usable and not (finding.check == "data" and finding.level is Level.FAILURE)
        yield finding
    for finding in await asyncio.to_thread(lambda: list(machine.ports(settings))):
        yield finding
    for finding in machine.addresses(settings):
        yield finding
    if not usable:
        return
    begun = settings.store != "sqlite" or settings.data_dir.exists()
    look = services.stored if begun else services.before_the_start
    found, config = await look(settings)
    for finding in found:
        yield finding
    async for finding in services.models(settings, config):
        yield finding

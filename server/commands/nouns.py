"""The list of the operator's commands, and what becomes of their errors."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys

from server.commands import config, doctor, link, users
from server.commands.console import CommandFailed
from server.errors import PidjinError
from server.identity.local import SecretDamaged
from server.settings import SettingsInvalid
from server.store.port import StoreError

EXIT_FAILED = 1
EXIT_USAGE = 2

_NOUNS = (config, users, link, doctor)


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    for noun in _NOUNS:
        noun.add(commands)


def run_command(options: argparse.Namespace) -> int:
    """Exit codes: 0 done, 1 could not be done (one sentence on stderr), 2 settings are wrong."""
    try:
        return int(asyncio.run(options.run(options)))
    except SettingsInvalid as error:
        for mistake in error.mistakes:
            print(f"pidjin: {mistake}", file=sys.stderr)
        return EXIT_USAGE
    except BrokenPipeError:
        # `pidjin … | head` is over; the interpreter must not flush into the closed pipe at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED
    except (CommandFailed, PidjinError, StoreError, SecretDamaged, OSError) as error:
        print(f"pidjin: {error}", file=sys.stderr)
        return EXIT_FAILED

"""What every command needs: the server's own composition without its sockets, and plain output."""

from __future__ import annotations

import argparse
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from server.app import CONTEXT, build_app
from server.context import Context
from server.settings import Settings, load_settings

# Who did it, in audit fields (AUTH-23): whoever has a shell on the server's machine.
OPERATOR = "operator"


class CommandFailed(Exception):
    """One sentence on why a command could not be carried out."""


@asynccontextmanager
async def opened(settings: Settings | None = None) -> AsyncIterator[Context]:
    """The context of the server with these settings: its store is usable, its models are not.

    Raises SettingsInvalid, SecretDamaged, StoreDown, OSError.
    """
    ctx = build_app(settings or load_settings())[CONTEXT]
    try:
        await ctx.store.open()
        yield ctx
    finally:
        await ctx.identity.close()
        await ctx.store.close()


def helping(parser: argparse.ArgumentParser) -> Callable[[object], Awaitable[int]]:
    """What a noun without a verb does: says which verbs there are."""

    async def run(options: object) -> int:
        parser.print_help()
        return 0

    return run


def plain(value: Any) -> str:
    """A value for a shell: text as it is, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their widest cell; the last is not padded."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (head, *rows)
    )

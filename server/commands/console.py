"""What every command needs: the server's own composition without its sockets, and plain output."""

from __future__ import annotations

import argparse
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from server.app import CONTEXT, build_app
from server.backends import STORE_FILE
from server.context import Context
from server.settings import Settings, load_settings

# Who did it, in audit fields (AUTH-23): whoever has a shell on the server's machine.
OPERATOR = "operator"


class CommandFailed(Exception):
    """One sentence on why a command could not be carried out."""


@asynccontextmanager
async def opened(
    settings: Settings | None = None, *, create: bool = False
) -> AsyncIterator[Context]:
    """The context of the server with these settings: its store is usable, its models are not.

    Without `create` a store on this machine must be there already: another working directory has
    no other Pidjin. Raises CommandFailed, SettingsInvalid, SecretDamaged, StoreDown, OSError.
    """
    settings = settings or load_settings()
    if not create and not has_store(settings):
        raise CommandFailed(
            f"there is no Pidjin in {settings.data_dir.absolute()}; PIDJIN_DATA_DIR names the "
            "folder of the one that you mean, and pidjin serve begins a new one"
        )
    ctx = build_app(settings)[CONTEXT]
    try:
        await ctx.store.open()
        yield ctx
    finally:
        await ctx.identity.close()
        await ctx.store.close()


def has_store(settings: Settings) -> bool:
    """Whether what these settings name was begun; what lies elsewhere is asked there."""
    return settings.store != "sqlite" or (settings.data_dir / STORE_FILE).is_file()


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

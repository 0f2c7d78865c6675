"""`pidjin config get|set|unset`: product behaviour, checked before it is stored.

A running server sees a change within seconds (CARD-15).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from server.commands.console import CommandFailed, has_store, helping, opened, plain
from server.config import CACHE_S, CONFIG_PATH, mistakes, overlay
from server.context import Context
from server.settings import load_settings
from server.store.port import Document, Transaction


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("config", help="read and change product behaviour (config/app)")
    parser.set_defaults(run=helping(parser))
    verbs = parser.add_subparsers(metavar="VERB")
    get = verbs.add_parser("get", help="all keys with their values, or the value of one key")
    get.add_argument("key", nargs="?", metavar="KEY")
    get.add_argument("--json", action="store_true", help="as one JSON value")
    get.set_defaults(run=run_get)
    put = verbs.add_parser("set", help="store a value over the default")
    put.add_argument("key", metavar="KEY", help="such as liveModel or contextTiers.deep.agendaMax")
    put.add_argument("value", metavar="VALUE", help="JSON; other text counts as a string")
    put.set_defaults(run=run_set)
    unset = verbs.add_parser("unset", help="go back to the default")
    unset.add_argument("key", metavar="KEY")
    unset.set_defaults(run=run_unset)


async def run_get(options: argparse.Namespace) -> int:
    async with opened() as ctx:
        stored = await _stored(ctx)
    wire = overlay(stored).model_dump(mode="json", by_alias=True)
    if options.key:
        value = _at(wire, options.key)
        print(json.dumps(value, ensure_ascii=False) if options.json else plain(value))
    elif options.json:
        print(json.dumps(wire, ensure_ascii=False, indent=2))
    else:
        for key, value in _leaves(wire):
            origin = "" if _has(stored, key) else "  (default)"
            print(f"{key} = {json.dumps(value, ensure_ascii=False)}{origin}")
        for mistake in mistakes(stored):
            print(f"! {mistake} (stored, and without effect)")
    return 0


async def run_set(options: argparse.Namespace) -> int:
    value = _checked(options.key, options.value)
    settings = load_settings()
    begins = not has_store(settings)
    async with opened(settings, create=True) as ctx:

        async def work(transaction: Transaction) -> None:
            doc = await transaction.get(CONFIG_PATH)
            data = deepcopy(doc.data) if doc else {}
            transaction.set(CONFIG_PATH, _with(data, options.key, value))

        await ctx.store.transaction(work)
    print(f"{options.key} = {plain(value)}")
    if begins:
        print(
            f"This begins a new Pidjin in {settings.data_dir.absolute()}; pidjin serve starts it."
        )
        return 0
    print(f"A running server follows within {CACHE_S:g} s; a running lesson keeps its settings.")
    return 0


async def run_unset(options: argparse.Namespace) -> int:
    async with opened() as ctx:

        async def work(transaction: Transaction) -> bool:
            doc = await transaction.get(CONFIG_PATH)
            data = deepcopy(doc.data) if doc else {}
            if not _has(data, options.key):
                return False
            transaction.set(CONFIG_PATH, _without(data, options.key.split(".")))
            return True

        removed = await ctx.store.transaction(work)
        wire = overlay(await _stored(ctx)).model_dump(mode="json", by_alias=True)
    if not removed:
        _at(wire, options.key)
        print(f"{options.key} was not set.")
    elif _has(wire, options.key):
        print(f"{options.key} = {plain(_at(wire, options.key))}  (default)")
    return 0


async def _stored(ctx: Context) -> Document:
    doc = await ctx.store.get(CONFIG_PATH)
    return doc.data if doc else {}


def _checked(key: str, text: str) -> Any:
    """The value that `text` stands for at `key`. Raises CommandFailed with every mistake."""
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    found = mistakes(_with({}, key, value))
    if found and not isinstance(value, str) and not mistakes(_with({}, key, text)):
        return text  # a string that happens to be JSON, such as a voice named 7
    if found:
        raise CommandFailed("; ".join(found))
    return value


def _with(data: Document, key: str, value: Any) -> Document:
    *head, last = key.split(".")
    target = data
    for step in head:
        if not isinstance(target.get(step), dict):
            target[step] = {}
        target = target[step]
    target[last] = value
    return data


def _without(data: Document, steps: list[str]) -> Document:
    """`data` without the value there, and without maps that became empty by it."""
    first, *rest = steps
    if rest and _without(data[first], rest):
        return data
    del data[first]
    return data


def _has(data: Any, key: str) -> bool:
    for step in key.split("."):
        if not isinstance(data, dict) or step not in data:
            return False
        data = data[step]
    return True


def _at(wire: Any, key: str) -> Any:
    if not _has(wire, key):
        problems = mistakes(_with({}, key, None))
        raise CommandFailed(problems[0] if problems else f"there is no {key}")
    for step in key.split("."):
        wire = wire[step]
    return wire


def _leaves(wire: Document, place: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in wire.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{place}{key}.")
        else:
            yield f"{place}{key}", value

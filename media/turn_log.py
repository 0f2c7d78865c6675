"""The log of a lesson's turns: events with times and what the machine made of them, no audio.

A log is a fixture: `replay` feeds it through the present machine and tells where it decides
otherwise. Words are masked unless asked for (`turn_mask`). No I/O but the command's: `python -m
media.turn_log FILE` replays one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

from media.turn_events import Effect, TurnEvent
from media.turn_mask import WordMask, effect_data
from media.turns import Turns

VERSION = 1
# A lesson of an hour has some 5,000 events; beyond this the log stops, and says how many it lost.
MAX_EVENTS = 50_000
_EVENTS: dict[str, type[TurnEvent]] = {kind.__name__: kind for kind in get_args(TurnEvent)}


class TurnLogInvalid(ValueError):
    """Not a turn log, or one of another version; the message names the line."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One event and the effects it had, as plain data."""

    event: TurnEvent
    effects: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Divergence:
    """Line of the log (from 1) at which the machine now answers otherwise."""

    line: int
    event: TurnEvent
    logged: tuple[dict[str, Any], ...]
    now: tuple[dict[str, Any], ...]


class TurnLog:
    """`write` gets one JSON line at a time, without its end."""

    def __init__(
        self,
        write: Callable[[str], None],
        *,
        prefix: str = "t",
        link_up: bool = True,
        masked: bool = True,
    ) -> None:
        self._write = write
        self._mask = WordMask(prefix, link_up=link_up) if masked else None
        self._count = 0
        self.lost = 0
        write(_line({"turnLog": VERSION, "prefix": prefix, "linkUp": link_up, "masked": masked}))

    def record(self, event: TurnEvent, effects: Sequence[Effect]) -> None:
        """Times stay exact: a rounded one could fall on the other side of a deadline."""
        if self._count >= MAX_EVENTS:
            self.lost += 1
            return
        self._count += 1
        data = [effect_data(effect) for effect in effects]
        if self._mask is not None:
            event, data = self._mask.of(event, effects)
        self._write(_line({"event": type(event).__name__} | asdict(event) | {"effects": data}))


def read(lines: Iterable[str]) -> tuple[Turns, list[Entry]]:
    """A machine as it was at the start of the log, and the entries. Raises TurnLogInvalid."""
    numbered = enumerate(lines, 1)
    _, first = next(numbered, (0, ""))
    header = _parse(first, 1)
    if header.get("turnLog") != VERSION:
        raise TurnLogInvalid(f"line 1: not a turn log of version {VERSION}")
    turns = Turns(prefix=str(header["prefix"]), link_up=bool(header["linkUp"]))
    return turns, [_entry(line, number) for number, line in numbered if line.strip()]


def replay(lines: Iterable[str]) -> list[Divergence]:
    """Where the present machine answers otherwise than the log; empty: nowhere."""
    turns, entries = read(lines)
    found: list[Divergence] = []
    for line, entry in enumerate(entries, 2):
        now = tuple(effect_data(effect) for effect in turns.handle(entry.event))
        if now != entry.effects:
            found.append(Divergence(line, entry.event, entry.effects, now))
    return found


def _entry(line: str, number: int) -> Entry:
    data = _parse(line, number)
    kind = _EVENTS.get(data.pop("event", ""))
    if kind is None:
        raise TurnLogInvalid(f"line {number}: unknown event")
    effects = tuple(data.pop("effects", ()))
    try:
        return Entry(kind(**data), effects)
    except TypeError as error:
        raise TurnLogInvalid(f"line {number}: {error}") from error


def _parse(line: str, number: int) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except json.JSONDecodeError as error:
        raise TurnLogInvalid(f"line {number}: {error}") from error
    if not isinstance(data, dict):
        raise TurnLogInvalid(f"line {number}: not an object")
    return data


def _line(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def main(arguments: Sequence[str]) -> int:
    """Prints where the present machine decides otherwise; 1 when it does, 2 for no log."""
    if len(arguments) != 1:
        print("usage: python -m media.turn_log FILE", file=sys.stderr)
        return 2
    try:
        found = replay(Path(arguments[0]).read_text("utf-8").splitlines())
    except (OSError, UnicodeDecodeError, TurnLogInvalid) as error:
        print(error, file=sys.stderr)
        return 2
    for one in found:
        print(f"line {one.line}: {one.event}")
        print(f"  logged {json.dumps(one.logged, ensure_ascii=False)}")
        print(f"  now    {json.dumps(one.now, ensure_ascii=False)}")
    print(f"{len(found)} divergences" if found else "no divergence")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

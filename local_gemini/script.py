"""Faults at named moments: what a test (or a benchmark) makes the double do. No I/O of its own.

    Script()
        .on("connect", refuse(429), times=2)
        .on("turn", close(1011), n=2)
        .on("reply", interrupt(), after_ms=400)

Moments of a Live session: `connect` (before the upgrade), `setup` (setup read, not yet answered),
`resume` (a setup with a handle), `ready` (after setupComplete), `activity_start`, `activity_end`,
`transcript` and `turn` (a reply is about to be formed), `first_audio` (before the first piece of a
reply), `reply` (after `after_ms` of reply audio was sent), `generation_complete`, `turn_complete`
(before that message), `context` (silent context arrived), `tool_response`. Moments of REST:
`generate`, `stream`, `embed`, `count`, `token`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from local_gemini.wire import Json

LIVE_MOMENTS = frozenset(
    {
        "connect",
        "setup",
        "resume",
        "ready",
        "activity_start",
        "activity_end",
        "transcript",
        "turn",
        "first_audio",
        "reply",
        "generation_complete",
        "turn_complete",
        "context",
        "tool_response",
    }
)
REST_MOMENTS = frozenset({"generate", "stream", "embed", "count", "token"})


@dataclass(slots=True)
class Plan:
    """How one turn deviates from the normal one. Set by actions at `transcript` or `turn`."""

    delay_ms: int = 0
    amplitude: float = 1.0
    mute: bool = False
    no_reply: bool = False
    reason: str = ""
    text_part: str | None = None
    filler: str | None = None
    interims: tuple[str, ...] = ()
    repeats: int = 1
    finished: bool = True
    turn_complete: bool = True
    generation_complete: bool = True
    sentences: list[str] | None = None


class MomentError(Exception):
    """An action at a moment where it has no meaning: a mistake in the script."""


class Stage:
    """What an action can do at its moment; each moment overrides what it allows."""

    def _no(self, what: str) -> MomentError:
        return MomentError(f"{what} is not possible at this moment")

    async def send(self, frame: Mapping[str, Any]) -> None:
        raise self._no("send")

    async def send_raw(self, data: bytes, text: bool) -> None:
        raise self._no("send_raw")

    async def close(self, code: int, reason: str) -> None:
        raise self._no("close")

    async def abort(self) -> None:
        raise self._no("abort")

    async def hang(self) -> None:
        raise self._no("hang")

    async def pause(self, ms: int) -> None:
        raise self._no("pause")

    async def vanish(self) -> None:
        raise self._no("vanish")

    async def go_away(self, time_left_s: float, then_close: bool) -> None:
        raise self._no("go_away")

    async def amend(self, changes: Mapping[str, Any]) -> None:
        raise self._no("plan")

    async def interrupt(self, turn_complete: bool) -> None:
        raise self._no("interrupt")

    async def call_tool(self, calls: list[Json], wait: bool) -> None:
        raise self._no("call_tool")

    async def count(self, usage: Json, cumulative: bool | None) -> None:
        raise self._no("count")

    async def answer(self, body: Json) -> None:
        raise self._no("answer")


Action = Callable[[Stage], Awaitable[None]]


@dataclass(slots=True)
class Rule:
    """`n`: only the nth time in its session; `session`: only in the nth connection; `times`: at
    most so often in all; `where`: only when the setup or request body says so."""

    moment: str
    do: Action
    n: int | None
    session: int | None
    after_ms: int
    times: int | None
    where: Callable[[Json], bool] | None
    fired: int = 0

    def matches(self, moment: str, n: int, session: int, subject: Json) -> bool:
        return (
            self.moment == moment
            and (self.n is None or self.n == n)
            and (self.session is None or self.session == session)
            and (self.times is None or self.fired < self.times)
            and (self.where is None or self.where(subject))
        )


@dataclass
class Script:
    """Rules in the order they were written; all that match are carried out."""

    rules: list[Rule] = field(default_factory=list)

    def on(
        self,
        moment: str,
        do: Action,
        *,
        n: int | None = None,
        session: int | None = None,
        after_ms: int = 0,
        times: int | None = None,
        where: Callable[[Json], bool] | None = None,
    ) -> Script:
        """Adds a rule. `after_ms` is a position in the reply's audio at `reply`, else a wait.

        Raises ValueError for an unknown moment.
        """
        if moment not in LIVE_MOMENTS | REST_MOMENTS:
            raise ValueError(f"no such moment: {moment}")
        self.rules.append(Rule(moment, do, n, session, after_ms, times, where))
        return self

    def due(self, moment: str, *, n: int = 1, session: int = 0, subject: Json) -> list[Rule]:
        """The rules of this moment; each counts as fired."""
        found = [rule for rule in self.rules if rule.matches(moment, n, session, subject)]
        for rule in found:
            rule.fired += 1
        return found

    def reply_marks(self, n: int, session: int, subject: Json) -> list[Rule]:
        """The `reply` rules of a turn by position; not yet counted as fired."""
        found = [rule for rule in self.rules if rule.matches("reply", n, session, subject)]
        return sorted(found, key=lambda rule: rule.after_ms)


async def carry_out(rules: list[Rule], stage: Stage) -> None:
    """Performs rules in order, waiting `after_ms` first."""
    for rule in rules:
        if rule.after_ms:
            await stage.pause(rule.after_ms)
        await rule.do(stage)

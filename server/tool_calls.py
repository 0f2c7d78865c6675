"""Runs the tools that a Live model asks for, each after the verdict it needs, each once.

The verdict is enforced here, before any code of a tool, and only the connection that was asked has
one. What is overtaken by the learner or by the service is called off and never answered. Tutoring
sessions declare no tools (VOICE-22); the tools are whatever the caller gives.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel

from media.live import port
from media.live.call import Call, Step
from server import rtvi
from server.errands import Errands

log = logging.getLogger(__name__)

# TOOL-5.
REQUIRING_APPROVAL = frozenset({"change_bgm", "get_location"})
# Together less than the time in which the link answers an open call by itself.
APPROVE_WITHIN_S = 18.0
RUN_WITHIN_S = 10.0
OPEN_MAX = 8
# Calls that are remembered after their end, so that nothing revives them.
REMEMBERED = 256

Arguments = Mapping[str, object]
# A tool gets its arguments, and what the page brought back with its approval (TOOL-8).
Tool = Callable[[Arguments, object], Awaitable[dict[str, object]]]


class Link(Protocol):
    """What is asked of the keeper of the Live session."""

    def answer(self, call_id: str, response: dict[str, object]) -> bool: ...
    def withdraw(self, call_id: str) -> None: ...


@dataclass(slots=True)
class _Entry:
    """`key` is what the page knows the call by; `brought` what it brings with its approval."""

    key: str
    call: Call
    args: dict[str, object]
    brought: asyncio.Future[object]


class ToolCalls:
    """`tell` reaches the page of the connection that `connection` names (empty: nobody is there).

    What takes time is an errand of the lesson. `uid` is for the log of verdicts (TOOL-13).
    """

    def __init__(
        self,
        tools: Mapping[str, Tool],
        *,
        link: Link,
        errands: Errands,
        tell: Callable[[BaseModel], None],
        connection: Callable[[], str],
        uid: str,
        requiring_approval: frozenset[str] = REQUIRING_APPROVAL,
    ) -> None:
        self._tools, self._requiring = tools, requiring_approval
        self._link, self._errands = link, errands
        self._tell, self._connection, self._uid = tell, connection, uid
        self._calls: dict[str, _Entry] = {}
        self._sessions = 0

    # --- the Live session ------------------------------------------------------------------------

    def live(self, event: port.LiveEvent) -> None:
        match event:
            case port.ToolCall(call_id=call_id, name=name, args=args) if call_id:
                self._called(call_id, name, args)
            case port.ToolCancelled(call_ids=call_ids):
                self._end(Step.WITHDRAWN, lambda call: call.call_id in call_ids)
            case port.Interrupted():
                self.superseded()
            case _:
                pass

    def superseded(self) -> None:
        """The turn that asked is over: nothing of it starts any more, nothing of it is sent."""
        self._end(Step.SUPERSEDED, lambda call: True)

    def link_lost(self) -> None:
        """Calls die with the session they were made in; the next one may use their ids again."""
        self._end(Step.WITHDRAWN, lambda call: True)
        self._sessions += 1

    def _called(self, call_id: str, name: str, args: Arguments) -> None:
        key = self._key(call_id)
        if key in self._calls:
            log.info("tool call came twice", extra={"tool": name})
            return
        asked = self._connection() if name in self._requiring else ""
        if refusal := self._refusal(name, asked):
            self._link.answer(call_id, {"error": refusal})
            return
        entry = _Entry(key, Call(call_id, name, asked), dict(args), asyncio.Future())
        self._remember(entry)
        if asked:
            self._ask(entry)
        else:
            self._run(entry)

    def _refusal(self, name: str, asked: str) -> str:
        """Why a call is not even considered; empty when it is."""
        if name not in self._tools:
            return f"there is no tool {name}"
        if name in self._requiring and not asked:
            return "nobody is there to allow it"
        return "too many calls" if len(self._open()) >= OPEN_MAX else ""

    def _ask(self, entry: _Entry) -> None:
        call = entry.call
        log.info("tool approval asked for", extra={"uid": self._uid, "tool": call.name})
        self._errands.start(
            f"approval:{entry.key}",
            lambda: _of(entry.brought),
            lambda brought: self._run(entry),
            lambda error: self._refused(entry),
            within_s=APPROVE_WITHIN_S,
        )
        self._tell(rtvi.ToolApproval(tool_call_id=entry.key, tool_name=call.name, args=entry.args))

    # --- the page --------------------------------------------------------------------------------

    def verdict(self, connection: str, result: rtvi.ToolResult) -> None:
        """One for an unknown call, a settled one or another connection's is ignored (TOOL-14)."""
        entry = self._calls.get(result.tool_call_id)
        approved = result.status == "approved"
        if entry is None or not entry.call.verdict(connection, approved):
            log.info("tool verdict ignored", extra={"uid": self._uid})
            return
        extra = {"uid": self._uid, "tool": entry.call.name, "outcome": result.status}
        log.info("tool verdict", extra=extra)
        if approved:
            entry.brought.set_result(result.result)
        else:
            self._say_no(entry)

    def left(self, connection: str) -> None:
        """Whoever was asked is gone, and with them every verdict of theirs (TOOL-15)."""
        for entry in self._open():
            if entry.call.asked == connection and entry.call.step is Step.REQUESTED:
                self._refused(entry)

    # --- running ---------------------------------------------------------------------------------

    def _run(self, entry: _Entry) -> None:
        if not entry.call.move(Step.RUNNING):
            return
        brought = entry.brought.result() if entry.brought.done() else None
        self._errands.start(
            f"tool:{entry.key}",
            lambda: self._tools[entry.call.name](entry.args, brought),
            lambda response: self._ran(entry, Step.ANSWERED, response),
            lambda error: self._ran(entry, Step.FAILED, {"error": "the tool failed"}),
            within_s=RUN_WITHIN_S,
        )

    def _ran(self, entry: _Entry, to: Step, response: dict[str, object]) -> None:
        if entry.call.move(to):
            self._link.answer(entry.call.call_id, response)

    # --- ends ------------------------------------------------------------------------------------

    def _refused(self, entry: _Entry) -> None:
        """Nobody said yes in time."""
        if entry.call.move(Step.EXPIRED):
            extra = {"uid": self._uid, "tool": entry.call.name, "outcome": "expired"}
            log.info("tool verdict", extra=extra)
            self._say_no(entry)

    def _say_no(self, entry: _Entry) -> None:
        self._call_off(entry)
        self._link.answer(entry.call.call_id, {"error": f"not done: {entry.call.step.value}"})

    def _end(self, to: Step, which: Callable[[Call], bool]) -> None:
        for entry in self._open():
            if which(entry.call) and entry.call.move(to):
                self._call_off(entry)
                self._link.withdraw(entry.call.call_id)

    def _call_off(self, entry: _Entry) -> None:
        self._errands.call_off(f"approval:{entry.key}")
        self._errands.call_off(f"tool:{entry.key}")
        entry.brought.cancel()

    # --- what is known ---------------------------------------------------------------------------

    def step(self, call_id: str) -> Step | None:
        """How far a call of the present session has come; None for one that nobody knows."""
        entry = self._calls.get(self._key(call_id))
        return entry.call.step if entry else None

    def _key(self, call_id: str) -> str:
        return f"{self._sessions}.{call_id}"

    def _open(self) -> list[_Entry]:
        return [entry for entry in self._calls.values() if not entry.call.step.final]

    def _remember(self, entry: _Entry) -> None:
        over = [one for one in self._calls.values() if one.call.step.final]
        for old in over[: max(0, len(self._calls) - REMEMBERED + 1)]:
            del self._calls[old.key]
        self._calls[entry.key] = entry


async def _of(future: asyncio.Future[object]) -> object:
    return await future

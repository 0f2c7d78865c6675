"""What the agent has under way for a turn: three causes end it, and nothing that was committed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from media.modes import agent_events as ag
from server import rtvi
from server.agent_desk import AgentDesk
from server.agent_ports import AgentPorts
from server.errands import Errands
from tests.media.peers import until


@dataclass
class Decision:
    text: str
    mode: str = "explain"
    updated_reveal_state: dict[str, Any] = field(default_factory=dict)


@dataclass
class Office:
    """`answers` is what the agent is waiting for; `stored` what it has committed."""

    desk: AgentDesk
    errands: Errands
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    asked: list[str] = field(default_factory=list)
    stored: list[str] = field(default_factory=list)
    decided: list[str] = field(default_factory=list)
    told: list[object] = field(default_factory=list)

    @property
    def turns(self) -> list[str]:
        return [one.turn_id for one in self.told if isinstance(one, rtvi.Turn) and one.saved]


@asynccontextmanager
async def office() -> AsyncIterator[Office]:
    room: Office

    async def ask(text: str) -> Decision:
        room.asked.append(text)
        await room.go_on.wait()
        room.stored.append(text)
        return Decision(f"About {text}")

    async def speak(text: str) -> bytes:
        return b""

    async def transcribe(pcm: bytes) -> str:
        return ""

    def handle(event: ag.AgentEvent) -> None:
        if isinstance(event, ag.Decided):
            room.decided.append(event.turn_id)

    errands = Errands()
    ports = AgentPorts(ask, speak, transcribe)
    now = asyncio.get_running_loop().time
    desk = AgentDesk(
        ports, errands, handle, lambda one: room.told.append(one), lambda error: None, now
    )
    room = Office(desk, errands)
    async with asyncio.TaskGroup() as group:
        group.create_task(errands.run())
        await asyncio.sleep(0)
        yield room
        errands.finish()


CAUSES: dict[str, Callable[[Office], None]] = {
    "stop": lambda room: room.desk.close(),
    "interruption": lambda room: room.desk.stop_asking(),
    "replacement": lambda room: room.desk.ask("t2", "the second"),
}


@pytest.mark.req("OWN-72")
@pytest.mark.parametrize("cause", CAUSES)
async def test_pending_work_of_a_turn_ends_with_it(cause: str) -> None:
    async with office() as room:
        room.desk.ask("t1", "the first")
        await until(lambda: room.asked == ["the first"], "asked")
        CAUSES[cause](room)
        room.go_on.set()
        if cause == "replacement":
            await until(lambda: room.decided == ["t2"], "the second is decided on")
            assert room.stored == ["the second"]
        else:
            await asyncio.sleep(0.05)
            assert (room.stored, room.decided, room.told) == ([], [], [])


@pytest.mark.req("OWN-72")
@pytest.mark.parametrize("cause", CAUSES)
async def test_what_was_committed_stays(cause: str) -> None:
    """Nothing that was decided is undone, and it is told once."""
    async with office() as room:
        room.go_on.set()
        room.desk.ask("t1", "the first")
        await until(lambda: room.decided == ["t1"], "decided")
        CAUSES[cause](room)
        if cause == "replacement":
            await until(lambda: room.decided == ["t1", "t2"], "and the second")
        await asyncio.sleep(0.05)
        assert room.stored[0] == "the first"
        assert room.turns.count("t1") == 1


@pytest.mark.req("OWN-16", "OWN-72")
async def test_after_the_end_nothing_is_begun() -> None:
    """OWN-16: whoever is disposed of refuses."""
    async with office() as room:
        room.errands.finish()
        room.desk.ask("t1", "too late")
        await asyncio.sleep(0.05)
        assert room.asked == []

"""What every talk of one lesson shares, whoever holds it. Data only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import BaseModel

from media.spans import Spans
from server.agent_ports import AgentPorts
from server.captions import Captions
from server.errands import Errands
from server.errors import PidjinError
from server.exchanges import Exchange
from server.turn_metrics import TurnSpans
from server.turn_record import TurnRecord


@dataclass(frozen=True, slots=True)
class Room:
    """`finished` takes each exchange of a native talk, `timed` the times of every turn; `denied`
    is told of access that ended, `armed` whenever a deadline or the quiet may have changed."""

    captions: Captions
    tell: Callable[[BaseModel | str], None]
    tell_level: Callable[[BaseModel], None]
    ports: AgentPorts
    errands: Errands
    record: TurnRecord
    finished: Callable[[Exchange], None]
    timed: Callable[[TurnSpans], None]
    denied: Callable[[PidjinError], None]
    armed: Callable[[], None]
    now: Callable[[], float]
    spans: Spans

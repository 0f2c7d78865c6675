"""What all connections of one server share. Holds no state machine of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from local_gemini.engine import Engine
from local_gemini.handles import Handles
from local_gemini.record import Journal
from local_gemini.script import Script
from local_gemini.tokens import Tokens
from local_gemini.workers import Workers

# More Live connections than this are refused with 429, as a quota would.
MAX_LIVE = 1000


@dataclass
class House:
    """`speed` divides every wait that stands for real time; `now` is UTC."""

    engine: Engine
    workers: Workers
    script: Script
    speed: float
    now: Callable[[], datetime]
    api_key: str | None = None
    journal: Journal = field(default_factory=Journal)
    handles: Handles = field(default_factory=Handles)
    tokens: Tokens = field(default_factory=Tokens)
    live: int = 0

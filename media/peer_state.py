"""What a peer says about itself."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class PeerState(Enum):
    """LOST: silent for 4 s (may come back), or the connection failed or was ended for good."""

    CONNECTING = "connecting"
    CONNECTED = "connected"
    LOST = "lost"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class PeerStats:
    """A snapshot, in packets unless named otherwise.

    `loss` is the share of inbound packets lost; `rtt_s` (seconds) and `remote_loss` are the
    browser's report about our packets (None before the first); `silence` counts 20 ms blocks
    made by the clock; `quiet_s` is the time since the browser was last heard.
    """

    rtt_s: float | None = None
    remote_loss: float | None = None
    loss: float = 0.0
    received: int = 0
    lost: int = 0
    concealed: int = 0
    fec: int = 0
    late: int = 0
    silence: int = 0
    sent: int = 0
    unsent: int = 0
    refused_messages: int = 0
    quiet_s: float = 0.0

"""The bounds and the counters of one link. No I/O."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LinkLimits:
    """Bounds and deadlines of one link. Overflowing sound loses its oldest part, and is counted."""

    batch_ms: int = 40
    # While a session is up, and as the pre-roll before the first one is (RTC-17).
    queue_ms: int = 1000
    # While no session is up after the first one: a hand-over, a redial, a wake-up.
    reconnect_queue_ms: int = 10_000
    compose_s: float = 10.0
    connect_s: float = 10.0
    send_s: float = 5.0
    # Both of the following fit into `close_s`, which bounds `LiveLink.close`.
    hang_up_s: float = 0.7
    close_s: float = 1.0
    # The service keeps a handle for two hours after its session ended.
    handle_ttl_s: float = 110 * 60.0


@dataclass(slots=True)
class LinkStats:
    """Counters of one link since it was made."""

    connects: int = 0
    resumptions: int = 0
    reseeds: int = 0
    rotations: int = 0
    sleeps: int = 0
    samples_sent: int = 0
    samples_dropped: int = 0
    prompts_sent: int = 0
    prompts_refused: int = 0
    updates_sent: int = 0
    updates_superseded: int = 0
    updates_withheld: int = 0
    calls_expired: int = 0
    unknown: int = 0

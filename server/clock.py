"""UTC time as a port, and its one text form. Monotonic time comes from the event loop instead."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """The present moment, aware, in UTC."""


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


class FakeClock:
    """Stands still until told to move."""

    def __init__(self, start: datetime = datetime(2026, 1, 15, 12, 0, tzinfo=UTC)) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def advance(self, **duration: float) -> None:
        """Moves on by `timedelta(**duration)`."""
        self._now += timedelta(**duration)


def stamp(moment: datetime) -> str:
    """ISO-8601 UTC with milliseconds and `Z`: fixed width, so text order is time order."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def moment(text: str) -> datetime:
    """The inverse of `stamp`. Raises ValueError on anything else than an aware ISO time."""
    parsed = datetime.fromisoformat(text)
    if parsed.tzinfo is None:
        raise ValueError(f"time without zone: {text!r}")
    return parsed.astimezone(UTC)


def day(moment: datetime) -> str:
    """The UTC day as `yyyymmdd`, the suffix of usage keys (DATA-24)."""
    return moment.astimezone(UTC).strftime("%Y%m%d")

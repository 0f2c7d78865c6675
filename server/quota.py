"""The daily cap of model calls per person: bounds abuse, best effort (AUTH-20 to AUTH-22)."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

from server.clock import Clock
from server.config import ConfigSource
from server.errors import Code, Refused
from server.usage import UsageLedger


class Quota:
    """Read, then increment, before the billable call; deliberately not one transaction."""

    def __init__(self, usage: UsageLedger, config: ConfigSource, clock: Clock) -> None:
        self._usage = usage
        self._config = config
        self._clock = clock

    async def admit(self, uid: str) -> None:
        """Counts one user-facing call, or raises `resource-exhausted` with the time to wait."""
        cap = (await self._config.load()).daily_gemini_call_cap
        if await self._usage.calls_today(uid) >= cap:
            raise Refused(
                Code.RESOURCE_EXHAUSTED,
                f"You have reached today’s limit of {cap} requests. "
                "It starts anew at midnight UTC.",
                details={"reason": "daily-cap", "dailyCap": cap},
                retry_after_s=seconds_to_midnight(self._clock.now()),
            )
        await self._usage.count_call(uid)


def seconds_to_midnight(now: datetime) -> int:
    """Whole seconds, at least 1, until the next UTC day."""
    tomorrow = datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), time(), UTC)
    return max(1, int((tomorrow - now).total_seconds()) + 1)

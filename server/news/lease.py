"""One gathering of news at a time, over all processes of a store (PIPE-22).

The lease also remembers on which days the scheduled run was done: the day's record cannot, since
a manual run of the same day replaces it.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

from server.clock import Clock, moment, stamp
from server.store.port import Doc, Store, StoreError, Transaction

log = logging.getLogger(__name__)

LEASE_PATH = "leases/newsPipeline"
# Longer than a run may take (PIPE-18): a lease of a process that died frees itself.
LEASE = timedelta(seconds=600)
# A clock that was wrong for a while may have gone through days out of order.
DAYS_KEPT = 30


class LeaseHeld(Exception):
    """Another run is going on."""


class AlreadyRan(Exception):
    """The scheduled run of this day is done."""


@asynccontextmanager
async def leased(store: Store, clock: Clock, day: str | None = None) -> AsyncIterator[None]:
    """Holds the lease. With `day` (yyyymmdd) it is that day's scheduled run, done when the body
    ends without an error. Raises LeaseHeld or AlreadyRan before the body, or StoreError."""
    holder = secrets.token_urlsafe(9)
    await _take(store, clock.now(), holder, day)
    done = False
    try:
        yield
        done = True
    finally:
        try:
            await _release(store, holder, day if done else None)
        except StoreError as error:  # it ends by itself; the run's own outcome stands
            log.warning("news_lease_not_released", extra={"detail": str(error)})


async def _take(store: Store, now: datetime, holder: str, day: str | None) -> None:
    async def work(transaction: Transaction) -> None:
        lease = _read(await transaction.get(LEASE_PATH))
        if day is not None and day in lease["scheduledDays"]:
            raise AlreadyRan
        if _held(lease, now):
            raise LeaseHeld
        taken = {"holder": holder, "until": stamp(now + LEASE)}
        transaction.set(LEASE_PATH, {**lease, **taken})

    await store.transaction(work)


async def _release(store: Store, holder: str, done: str | None) -> None:
    async def work(transaction: Transaction) -> None:
        lease = _read(await transaction.get(LEASE_PATH))
        if done is not None:
            lease["scheduledDays"] = [*lease["scheduledDays"], done][-DAYS_KEPT:]
        if lease["holder"] == holder:
            lease["holder"] = None
        transaction.set(LEASE_PATH, lease)

    await store.transaction(work)


def _read(doc: Doc | None) -> dict[str, Any]:
    return {"holder": None, "until": None, "scheduledDays": [], **(doc.data if doc else {})}


def _held(lease: dict[str, Any], now: datetime) -> bool:
    """A lease that ends later than any taken now could is of a clock that was put back since."""
    if lease["holder"] is None:
        return False
    return now < moment(lease["until"]) <= now + LEASE

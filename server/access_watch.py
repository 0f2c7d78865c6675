"""Notices that somebody with a running lesson lost access elsewhere: in another process, or by an
operator's command."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from server.announcements import Announcements, RoleChanged
from server.roles import Role, role_of
from server.store.port import Store, StoreError
from server.store.records import user_path

log = logging.getLogger(__name__)

# RTC-20: within seconds, for one small read per learner.
CHECK_S = 2.0


async def watch_access(
    store: Store, announcements: Announcements, uids: Callable[[], set[str]]
) -> None:
    """Publishes RoleChanged for each of `uids` whose stored role gives no access; never returns.

    A store that is down for a moment ends no lesson.
    """
    while True:
        await asyncio.sleep(CHECK_S)
        for uid in uids():
            try:
                doc = await store.get(user_path(uid))
            except StoreError as error:
                log.warning("access_not_checked", extra={"why": str(error)})
                break
            role = role_of(doc.data.get("role") if doc else None)
            if role not in (Role.APPROVED, Role.ADMIN):
                announcements.publish(RoleChanged(uid, role))

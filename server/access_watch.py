"""Notices that somebody with a running lesson lost access elsewhere: in another process, by an
operator's command, or with a sign-out there."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable

from server.announcements import Announcements, RoleChanged, SignedOut
from server.identity.port import BrowserSignIns
from server.roles import Role, role_of
from server.store.port import Store, StoreError
from server.store.records import user_path

log = logging.getLogger(__name__)

# RTC-20: within seconds, for one small read per learner.
CHECK_S = 2.0
# A sign-out in this process is told at once; of one elsewhere, a few seconds later is early enough.
ROUNDS_PER_SIGN_IN = 5

SignIn = tuple[str, str]


async def watch_access(
    store: Store,
    announcements: Announcements,
    browsers: BrowserSignIns | None,
    sign_ins: Callable[[], set[SignIn]],
) -> None:
    """Publishes RoleChanged for whom the stored role gives no access, and SignedOut for each of
    `sign_ins` (uid, credential id) that is worth nothing any more; never returns.

    A store that is down for a moment ends no lesson.
    """
    for number in itertools.count(1):
        await asyncio.sleep(CHECK_S)
        try:
            await _roles(store, announcements, {uid for uid, _ in sign_ins()})
            if browsers is not None and number % ROUNDS_PER_SIGN_IN == 0:
                await _credentials(browsers, announcements, sign_ins())
        except StoreError as error:
            log.warning("access_not_checked", extra={"why": str(error)})


async def _roles(store: Store, announcements: Announcements, uids: set[str]) -> None:
    for uid in uids:
        doc = await store.get(user_path(uid))
        role = role_of(doc.data.get("role") if doc else None)
        if role not in (Role.APPROVED, Role.ADMIN):
            announcements.publish(RoleChanged(uid, role))


async def _credentials(
    browsers: BrowserSignIns, announcements: Announcements, sign_ins: set[SignIn]
) -> None:
    for uid, credential_id in sign_ins:
        if await browsers.ended(credential_id):
            announcements.publish(SignedOut(uid, credential_id))

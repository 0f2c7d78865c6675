"""Resumption handles of running lessons, beside the conversations: `voiceSessions/{sessionId}`.

A process that was killed, restarted or left by its learner leaves one behind, so that the next
offer of the same person goes on in the same Live session (design 5.6). No client reads them
(firestore.rules), no answer contains them, and a lesson that ends in order removes its own.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from server.clock import Clock, moment, stamp
from server.lesson_plan import LessonPlan
from server.store.port import Document, Store, StoreError, Transaction
from server.store.records import voice_session_path

log = logging.getLogger(__name__)

# The service forgets a session two hours after its connection ended; ours is sure to be sooner.
HANDLE_TTL = timedelta(minutes=110)
# What is left of a session is not worth going on with: a new one has its whole time (VOICE-63).
REST_MIN = timedelta(minutes=1)
# Records of lessons that nobody came back to, removed at a start.
PURGE_MAX = 100


@dataclass(frozen=True, slots=True)
class Resumption:
    """A Live session to go on with, and when it ends."""

    handle: str
    ends_at: datetime


class VoiceSessions:
    """The only user of `voiceSessions`. `keep` and `forget` raise StoreError."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock

    async def resumption(self, plan: LessonPlan) -> Resumption | None:
        """What a lesson may go on with: left by the same person, about the same, of the same
        configuration. None also when the store cannot tell."""
        try:
            doc = await self._store.get(voice_session_path(plan.session_id))
        except StoreError as error:
            log.warning("resumption not read", extra={"why": str(error)})
            return None
        if doc is None or any(doc.data.get(key) != value for key, value in _whose(plan).items()):
            return None
        now, ends_at = self._clock.now(), moment(doc.data["endsAt"])
        if now >= moment(doc.data["expiresAt"]) or ends_at - now < REST_MIN:
            return None
        return Resumption(str(doc.data["handle"]), ends_at)

    async def purge(self) -> None:
        """Removes what has expired."""
        docs = await self._store.query("voiceSessions", order_by="expiresAt", limit=PURGE_MAX)
        now = self._clock.now()
        for doc in docs:
            if moment(doc.data["expiresAt"]) <= now:
                await self._store.delete(doc.path)

    def place(self, plan: LessonPlan, ends_at: datetime) -> VoiceSessionPlace:
        return VoiceSessionPlace(self._store, self._clock, plan, ends_at)


class VoiceSessionPlace:
    """Where one lesson keeps its newest handle. Of two lessons of one session, on two machines, the
    one that began later has the place."""

    def __init__(self, store: Store, clock: Clock, plan: LessonPlan, ends_at: datetime) -> None:
        self._store, self._clock = store, clock
        self._path = voice_session_path(plan.session_id)
        self._owner = secrets.token_hex(8)
        self._fixed: Document = {
            **_whose(plan),
            "owner": self._owner,
            "startedAt": stamp(plan.started_at),
            "endsAt": stamp(ends_at),
        }

    def composed(self, *, voice: str, style: str) -> None:
        """What the session that gives the next handles is made of."""
        self._fixed |= {"voice": voice, "style": style}

    async def keep(self, handle: str) -> None:
        data: Document = {
            **self._fixed,
            "handle": handle,
            "expiresAt": stamp(self._clock.now() + HANDLE_TTL),
        }
        await self._mine(lambda transaction: transaction.set(self._path, data))

    async def forget(self) -> None:
        await self._mine(lambda transaction: transaction.delete(self._path))

    async def _mine(self, write: Callable[[Transaction], None]) -> None:
        async def work(transaction: Transaction) -> None:
            doc = await transaction.get(self._path)
            others = doc is not None and doc.data.get("owner") != self._owner
            if doc and others and str(doc.data.get("startedAt")) > self._fixed["startedAt"]:
                return
            write(transaction)

        await self._store.transaction(work)


def _whose(plan: LessonPlan) -> Document:
    return {
        "uid": plan.uid,
        "topicId": plan.topic_id,
        "mode": plan.mode.value,
        "model": plan.model,
        "voice": plan.voice,
        "style": plan.style,
    }

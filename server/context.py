"""Everything an operation may use, composed once per process; frozen, and typed by port."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from agent.gemini import ModelGateway
from agent.move import MoveAgent
from server.announcements import Announcements
from server.callers import Callers
from server.clock import Clock
from server.config import ConfigSource
from server.identity.google import GoogleAccounts
from server.identity.links import OneTimeLinks
from server.identity.local import LocalIdentity
from server.identity.port import BrowserSignIns, IdentityVerifier
from server.local_model import ModelAccess, Models
from server.locks import SessionLocks
from server.metrics import Metrics
from server.prices import FREE, Rates, rates_of
from server.quota import Quota
from server.settings import Settings
from server.store.port import Store
from server.tracing import Tracing
from server.usage import UsageLedger

# Gives the sentence that says why not, or None when ready.
Readiness = Callable[[], Awaitable[str | None]]
Drain = Callable[[], Awaitable[None]]


# Documents that are taken apart at the same time.
READING_MAX = 2


@dataclass(frozen=True, slots=True)
class Context:
    """`local_identity`: absent where people sign in elsewhere. `browsers`: absent where only
    bearers are taken. `google`: where people sign in with Google on our page. `drain`: awaited at
    SIGTERM before the sockets close. `readiness`: asked by `/readyz`."""

    settings: Settings
    clock: Clock
    store: Store
    config: ConfigSource
    usage: UsageLedger
    quota: Quota
    identity: IdentityVerifier
    local_identity: LocalIdentity | None
    browsers: BrowserSignIns | None
    google: GoogleAccounts | None
    links: OneTimeLinks
    callers: Callers
    models: Models
    locks: SessionLocks = field(default_factory=SessionLocks)
    reading: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(READING_MAX))
    announcements: Announcements = field(default_factory=Announcements)
    metrics: Metrics = field(default_factory=Metrics)
    tracing: Tracing = field(default_factory=Tracing)
    drain: list[Drain] = field(default_factory=list)
    readiness: dict[str, Readiness] = field(default_factory=dict)

    @property
    def gateway(self) -> ModelGateway:
        return self.models.gateway

    @property
    def move_agent(self) -> MoveAgent:
        return self.models.move_agent

    @property
    def model_access(self) -> ModelAccess:
        return self.models.access

    @property
    def local_tutor(self) -> bool:
        return self.models.access.local

    def rates(self, model: str) -> Rates | None:
        """What a model costs today. The local tutor answers to the same names, and is free."""
        return FREE if self.local_tutor else rates_of(model, self.clock.now().date())

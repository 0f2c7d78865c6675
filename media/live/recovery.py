"""What to do after a Live session ended or was refused: resume, start afresh, or give up. Pure.

Google's close codes are terse, so the rule is a table over (code, reason text, what was tried). The
budget is 3 redials, given back by a completed turn (VOICE-4); delays are 0.5, 1 and 2 s, jittered.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from media.live.port import LiveClosed, LiveRefused

BACKOFF_S = (0.5, 1.0, 2.0)
JITTER = 0.25  # a delay is taken from 75 % to 125 % of its nominal value
# A service that refuses the same handle this often will not take it the next time either.
HANDLE_REFUSALS = 2

_QUOTA = re.compile(r"quota|resource[ _]?exhausted|billing|rate[ _]?limit|too many", re.I)
_DENIED = re.compile(r"api[ _]key|permission|unregistered callers|unauthenticated", re.I)
_HANDLE = re.compile(r"handle|resum|session (not found|expired)", re.I)


class Fault(Enum):
    """The kinds of end that are treated differently."""

    QUOTA = "quota"
    DENIED = "denied"
    INVALID = "invalid"
    POLICY = "policy"
    TIMEOUT = "setup_timeout"
    TRANSIENT = "transient"


class Lane(Enum):
    RESUME = "resume"
    FRESH = "fresh"


@dataclass(frozen=True, slots=True)
class Redial:
    """Connect again after `delay_s`; `resumption` False leaves it out of the setup."""

    lane: Lane
    delay_s: float = 0.0
    resumption: bool = True


@dataclass(frozen=True, slots=True)
class Stop:
    """Give up. `code`: quota, denied, invalid, policy, setup_timeout or lost."""

    code: str
    reason: str


def classify(code: int, reason: str) -> Fault:
    """The kind of a close code or HTTP status; texts count, because codes are reused."""
    if code == 429 or _QUOTA.search(reason):
        return Fault.QUOTA
    if code in (400, 401, 403, 404) or _DENIED.search(reason):
        return Fault.DENIED
    if code == 1007:
        return Fault.INVALID
    if code == 1008:
        return Fault.POLICY
    if code == 504:
        return Fault.TIMEOUT
    return Fault.TRANSIENT


class Recovery:
    """The state of one link's recovery. `jitter` returns 0..1 (`random.random`)."""

    def __init__(self, jitter: Callable[[], float]) -> None:
        self._jitter = jitter
        self._spent = 0
        self._invalid = 0
        self._policy = 0
        self._handle_refusals = 0
        self._resumption = True

    @property
    def resumption(self) -> bool:
        """False once a session was closed with 1008: some models refuse the field itself."""
        return self._resumption

    def turn_completed(self) -> None:
        """A whole exchange went well: the budget is full again."""
        self._spent = self._invalid = self._policy = self._handle_refusals = 0

    def lost(self, closed: LiveClosed, *, resumable: bool) -> Redial | Stop:
        """An open session ended by itself. A code of our own (1007: a frame that was no text)
        says nothing about our setup."""
        self._handle_refusals = 0
        lane = Lane.RESUME if resumable else Lane.FRESH
        fault = classify(closed.code, closed.reason)
        if closed.by == "local":
            fault = Fault.TRANSIENT
        return self._next(fault, lane, closed.code, closed.reason)

    def refused(self, refused: LiveRefused, *, tried: Lane, first: bool) -> Redial | Stop:
        """A session could not be opened. `first`: the link has never been up."""
        code, reason = refused.code, refused.reason
        fault = classify(code, reason)
        if first and fault in (Fault.TIMEOUT, Fault.INVALID):
            return Stop(fault.value, f"{code} {reason}")
        lane = tried
        if tried is Lane.RESUME and _HANDLE.search(reason):
            unknown = fault is Fault.DENIED and code in (400, 404) and not _DENIED.search(reason)
            if fault is Fault.POLICY or unknown:
                fault = Fault.TRANSIENT  # this handle is refused, not handles or we as such
        if tried is Lane.RESUME and fault is Fault.TRANSIENT and code:
            self._handle_refusals += 1
            if _HANDLE.search(reason) or self._handle_refusals >= HANDLE_REFUSALS:
                lane = Lane.FRESH
        return self._next(fault, lane, code, reason)

    def _next(self, fault: Fault, lane: Lane, code: int, reason: str) -> Redial | Stop:
        text = f"{code} {reason}".strip()
        if fault in (Fault.QUOTA, Fault.DENIED):
            return Stop(fault.value, text)
        if fault is Fault.INVALID:
            # Never the same setup again: without the handle, and only once.
            self._invalid += 1
            lane = Lane.FRESH
            if self._invalid > 1:
                return Stop(fault.value, text)
        if fault is Fault.POLICY:
            self._policy += 1
            lane = Lane.FRESH
            self._resumption = False
            if self._policy > 1:
                return Stop(fault.value, text)
        if self._spent >= len(BACKOFF_S):
            return Stop("lost", text)
        delay_s = BACKOFF_S[self._spent] * (1 - JITTER + 2 * JITTER * self._jitter())
        self._spent += 1
        return Redial(lane, delay_s, self._resumption)

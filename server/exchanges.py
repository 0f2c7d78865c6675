"""Finished exchanges, strictly in order: saved through the observer, then told, then steered by.

One exchange lags: the reply never waits for its own bookkeeping (OBS-24). A store that is down is
tried again while the conversation goes on; an observer that fails loses its exchange with a
notice (OBS-28). Nothing here knows sound.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import BaseModel

from agent.failures import ModelUnavailable
from server import rtvi
from server.errors import Code, PidjinError, Unavailable
from server.store.port import Conflict, StoreDown

log = logging.getLogger(__name__)

# Exchanges that wait for the observer; at one exchange in ten seconds this is ten minutes of it.
QUEUE_MAX = 64
# Pauses before the next try while the store or the model is unavailable.
RETRY_S = (1.0, 2.0, 4.0, 8.0, 15.0)
# One try: the observer's three attempts and the transaction.
SAVE_DEADLINE_S = 60.0
# API-14, OBS-30: longer speech is cut, not refused.
LEARNER_MAX = 2000
TUTOR_MAX = 4000

SAVE_FAILED = "Could not save that turn — the conversation continues."


@dataclass(frozen=True, slots=True)
class Exchange:
    """One exchange as heard: `tutor` is what was played, `unheard` the rest of the reply."""

    turn_id: str
    learner: str
    tutor: str
    unheard: str
    interrupted: bool


class Saved(Protocol):
    """What the lesson needs of a stored turn (the response of `dialogueTurn`)."""

    @property
    def mode(self) -> str: ...
    @property
    def updated_reveal_state(self) -> dict[str, Any]: ...
    @property
    def context_update(self) -> str | None: ...


class Exchanges:
    """`save` stores one exchange; `tell` reaches the learner; `steer` gets the context update;
    `denied` is called when the learner lost access (RTC-20)."""

    def __init__(
        self,
        save: Callable[[Exchange], Awaitable[Saved]],
        tell: Callable[[BaseModel], None],
        steer: Callable[[str], None],
        denied: Callable[[PidjinError], None],
    ) -> None:
        self._save, self._tell, self._steer, self._denied = save, tell, steer, denied
        self._queue: asyncio.Queue[Exchange | None] = asyncio.Queue(QUEUE_MAX + 1)
        self._unsaved: list[Exchange] = []
        self._notified = ""
        self.saved = 0
        self.lost = 0

    @property
    def waiting(self) -> int:
        return self._queue.qsize()

    @property
    def unsaved(self) -> tuple[Exchange, ...]:
        """Exchanges that are over and not in the store yet, oldest first."""
        return tuple(self._unsaved)

    def add(self, exchange: Exchange) -> None:
        """Takes an exchange with words on both sides; on overflow it is refused with a notice."""
        if not exchange.learner.strip() or not exchange.tutor.strip():
            return  # OBS-26: noise or silence is no exchange
        if len(exchange.learner) > LEARNER_MAX or len(exchange.tutor) > TUTOR_MAX:
            log.info("exchange cut to the limits", extra={"turn": exchange.turn_id})
        if self._queue.qsize() >= QUEUE_MAX:
            self._lose(exchange, "observer queue full")
            return
        self._unsaved.append(exchange)
        self._queue.put_nowait(exchange)

    def finish(self) -> None:
        """No more will come: `run` ends when what waits is done."""
        self._queue.put_nowait(None)

    async def run(self) -> None:
        while (exchange := await self._queue.get()) is not None:
            try:
                saved = await self._persist(exchange)
            except PidjinError as error:
                self._lose(exchange, error.code)
                if error.code in (Code.PERMISSION_DENIED, Code.UNAUTHENTICATED):
                    self._denied(error)
            except TimeoutError:
                self._lose(exchange, "deadline-exceeded")
            except Exception:  # boundary: a bug in one exchange costs that exchange
                log.exception("observer broke", extra={"turn": exchange.turn_id})
                self._lose(exchange, "internal")
            else:
                self.saved += 1
                self._tell(self._turn(exchange, saved.mode, saved=True))
                self._tell(agenda_message(saved.updated_reveal_state))
                if saved.context_update:
                    self._steer(saved.context_update)
            finally:
                self._unsaved.remove(exchange)

    async def _persist(self, exchange: Exchange) -> Saved:
        for pause in (*RETRY_S, None):
            try:
                async with asyncio.timeout(SAVE_DEADLINE_S):
                    return await self._save(exchange)
            except PidjinError as error:
                if pause is None or not passing(error):
                    raise
                self._notify(exchange, "save-delayed")
                log.info("turn waits", extra={"turn": exchange.turn_id, "why": error.code})
                await asyncio.sleep(pause)
        raise AssertionError("unreachable: the last try returns or raises")

    def _notify(self, exchange: Exchange, code: str) -> None:
        """Once an exchange, however often it is tried."""
        if self._notified != exchange.turn_id:
            self._notified = exchange.turn_id
            self._tell(rtvi.Notice(text=SAVE_FAILED, code=code))

    def _lose(self, exchange: Exchange, why: str) -> None:
        self.lost += 1
        # A conversation deleted or closed meanwhile is its owner's wish, and nobody's fault.
        level = logging.INFO if why == Code.FAILED_PRECONDITION else logging.WARNING
        log.log(level, "turn not saved", extra={"turn": exchange.turn_id, "why": why})
        self._notify(exchange, "save-failed")
        self._tell(self._turn(exchange, None, saved=False))

    @staticmethod
    def _turn(exchange: Exchange, mode: str | None, *, saved: bool) -> rtvi.Turn:
        return rtvi.Turn(
            turn_id=exchange.turn_id,
            mode=mode,
            user_text=exchange.learner,
            text=exchange.tutor,
            unheard=exchange.unheard,
            interrupted=exchange.interrupted,
            saved=saved,
        )


def passing(error: PidjinError) -> bool:
    """Whether the same exchange may be stored by a later try: what failed was the store or the
    reach of the model, not the answer (the agent has had its own attempts, OBS-28)."""
    if error.code is Code.ABORTED:
        return True
    away = isinstance(error.__cause__, StoreDown | Conflict | ModelUnavailable)
    return isinstance(error, Unavailable) and away


def agenda_message(reveal_state: dict[str, Any]) -> rtvi.Agenda:
    """The checklist of a reveal state; complete when every point is covered (AGND-9)."""
    agenda = [str(point) for point in reveal_state.get("agenda") or []]
    covered = [str(point) for point in reveal_state.get("coveredAngles") or []]
    complete = bool(agenda) and set(agenda) <= set(covered)
    return rtvi.Agenda(agenda=agenda, covered_angles=covered, complete=complete)

"""The newest resumption handle of a lesson on its way to the store: one write at a time, the newest
wins, and the last word is whether the lesson may be resumed at all."""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol

from server.store.port import StoreError

log = logging.getLogger(__name__)

WRITE_S = 5.0


class HandlePlace(Protocol):
    """Where the handle of one lesson is kept, and of which Live session. Raises StoreError."""

    def composed(self, *, voice: str, style: str) -> None: ...

    async def keep(self, handle: str) -> None: ...

    async def forget(self) -> None: ...


class HandleKeeper:
    """`note` at each new handle; `finish` once; `run` ends when the last word is written."""

    def __init__(self, place: HandlePlace) -> None:
        self._place = place
        self._newest = self._stored = ""
        self._stir = asyncio.Event()
        self._finished = False
        self._survives = False

    def note(self, handle: str) -> None:
        self._newest = handle
        self._stir.set()

    def finish(self, *, survives: bool) -> None:
        """`survives`: the lesson ends with this process, and may go on in another."""
        self._finished, self._survives = True, survives
        self._stir.set()

    async def run(self) -> None:
        while not self._finished:
            await self._stir.wait()
            self._stir.clear()
            if not self._finished:
                await self._keep()
        if self._survives:
            await self._keep()
        else:
            await self._write("forget")

    async def _keep(self) -> None:
        handle = self._newest
        if handle and handle != self._stored and await self._write("keep"):
            self._stored = handle

    async def _write(self, what: str) -> bool:
        """A store that is down costs the resumption, not the lesson."""
        try:
            async with asyncio.timeout(WRITE_S):
                await (self._place.keep(self._newest) if what == "keep" else self._place.forget())
        except (StoreError, TimeoutError) as error:
            log.warning("handle not written", extra={"what": what, "why": type(error).__name__})
            return False
        return True

"""A learner's wish for another style during a lesson: stored one at a time, the newest last."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from pydantic import BaseModel

from server import rtvi
from server.errors import PidjinError
from server.operations.fields import Style

STORE_S = 10.0


class StyleChange:
    """`store` tells whether there was a session to store the style in; storing announces the
    change, so `changed` is called only when there was none to store it in."""

    def __init__(
        self,
        store: Callable[[Style], Awaitable[bool]],
        changed: Callable[[], None],
        tell: Callable[[BaseModel], None],
    ) -> None:
        self._store, self._changed, self._tell = store, changed, tell
        self._wanted: Style | None = None
        self._asked = asyncio.Event()
        self._finished = False

    def choose(self, style: Style) -> None:
        self._wanted = style
        self._asked.set()

    def finish(self) -> None:
        """No more will come: `run` ends when what waits is stored."""
        self._finished = True
        self._asked.set()

    async def run(self) -> None:
        while not (self._finished and self._wanted is None):
            await self._asked.wait()
            self._asked.clear()
            style, self._wanted = self._wanted, None
            if style is not None:
                await self._change(style)

    async def _change(self, style: Style) -> None:
        try:
            async with asyncio.timeout(STORE_S):
                stored = await self._store(style)
        except PidjinError as error:
            self._tell(rtvi.Notice(text=error.message, code=error.code))
        except TimeoutError:
            self._tell(rtvi.Notice(text="The style could not be changed.", code="style-failed"))
        else:
            if not stored:
                self._changed()

"""What a lesson writes down while it goes on: exchanges, tokens, handles, the style. Each in its
own order and at its own pace; what waits at the end is still written, within a bound."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from server.boundary import Boundary
from server.exchanges import Exchanges
from server.handle_keeper import HandleKeeper
from server.meter import Meter
from server.style_change import StyleChange

log = logging.getLogger(__name__)

# For what is still to be written when the sound is off.
DRAIN_S = 10.0


@dataclass(frozen=True, slots=True)
class Books:
    """`run` is owned by the lesson; `finish` once, after which it has DRAIN_S to end."""

    exchanges: Exchanges
    meter: Meter
    handles: HandleKeeper
    styles: StyleChange
    boundary: Boundary

    async def run(self, name: str, closed: asyncio.Event) -> None:
        """Until DRAIN_S after `closed`. Raises what keeping exchanges or tokens raises."""
        kept = self.boundary.kept
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self.exchanges.run(), name=f"{name}:observer"),
                group.create_task(self.meter.run(), name=f"{name}:usage"),
                group.create_task(kept(self.handles.run), name=f"{name}:handle"),
                group.create_task(kept(self.styles.run), name=f"{name}:style"),
            ]
            await closed.wait()
            _, late = await asyncio.wait(tasks, timeout=DRAIN_S)
            for task in late:
                waiting = self.exchanges.waiting
                log.error(
                    "bookkeeping cut off", extra={"task": task.get_name(), "waiting": waiting}
                )
                task.cancel()

    def finish(self, *, survives: bool) -> None:
        """Nothing more comes; `survives`: the lesson may go on in another process."""
        self.exchanges.finish()
        self.meter.finish()
        self.handles.finish(survives=survives)
        self.styles.finish()

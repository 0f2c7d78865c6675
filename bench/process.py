"""One child process by its handle: started, pinned to a core, read through /proc, ended."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

ROOT = Path(__file__).resolve().parent.parent
STOP_S = 20.0
LINE_MAX = 1 << 20
_TICKS = os.sysconf("SC_CLK_TCK")

Heed = Callable[[str], None]


class ProcessBroken(RuntimeError):
    """A child that ended or did not do its duty in time; the text may end with its last words."""


class Child:
    """An async context manager: stopped by SIGTERM and, after STOP_S, by SIGKILL.

    `on_line` gets each line of stdout and stderr; the last lines are kept for the message of a
    failure.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        env: Mapping[str, str],
        cores: frozenset[int],
        on_line: Heed = lambda _: None,
        *,
        preferred: bool = True,
    ) -> None:
        self.name, self._preferred = name, preferred
        self._command, self._env, self._cores, self._on_line = command, env, cores, on_line
        self._last: list[str] = []
        self._readers: list[asyncio.Task[None]] = []
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        pipe = asyncio.subprocess.PIPE
        process = self._process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            cwd=ROOT,
            env=dict(self._env),
            start_new_session=True,
            limit=LINE_MAX,
        )
        os.sched_setaffinity(process.pid, self._cores)  # threads made later inherit it
        if self._preferred:
            prefer(process.pid)
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            self._readers.append(asyncio.create_task(self._read(stream), name=f"read {self.name}"))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        process = self.process
        if process.returncode is None:
            process.terminate()
        try:
            async with asyncio.timeout(STOP_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
        await asyncio.wait(self._readers, timeout=STOP_S)

    async def _read(self, stream: asyncio.StreamReader) -> None:
        while line := await stream.readline():
            text = line.decode(errors="replace").rstrip()
            self._last = [*self._last[-19:], text]
            self._on_line(text)

    @property
    def process(self) -> asyncio.subprocess.Process:
        if self._process is None:
            raise RuntimeError("the process is not started")
        return self._process

    @property
    def pid(self) -> int:
        return self.process.pid

    def write(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text.encode())

    def check(self) -> None:
        """Raises ProcessBroken when the process has ended."""
        code = self.process.returncode
        if code is not None:
            raise ProcessBroken(f"{self.name} ended with {code}:\n" + "\n".join(self._last))

    async def until(self, fact: Callable[[], object], what: str, within_s: float) -> None:
        """Waits for a fact about the process. Raises ProcessBroken."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + within_s
        while not fact():
            self.check()
            if loop.time() > deadline:
                last = "\n".join(self._last)
                raise ProcessBroken(f"{self.name}: no {what} within {within_s:g} s:\n{last}")
            await asyncio.sleep(0.01)

    # --- what the kernel knows ------------------------------------------------------------------

    def cpu_s(self) -> float:
        """User and system time so far, all threads."""
        return cpu_of(Path(f"/proc/{self.pid}/stat").read_text())

    def waited_s(self) -> float:
        """How long the main thread was ready to run and did not: others had its core."""
        return int(Path(f"/proc/{self.pid}/schedstat").read_text().split()[1]) / 1e9

    def rss_mb(self) -> float:
        return status_of(Path(f"/proc/{self.pid}/status").read_text(), "VmRSS") / 1024

    def threads(self) -> int:
        return status_of(Path(f"/proc/{self.pid}/status").read_text(), "Threads")

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.pid}/fd"))


def prefer(pid: int) -> bool:
    """Puts a process before what else runs on its cores; False where that is not permitted.

    Round robin at the lowest real-time rank: being nice does not reach beyond a session where the
    kernel groups processes by session.
    """
    try:
        os.sched_setscheduler(pid, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        return False
    return True


def cpu_of(stat: str) -> float:
    """CPU seconds in the text of /proc/PID/stat; the command may contain anything."""
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def status_of(status: str, name: str) -> int:
    """A number of /proc/PID/status (kB where it has a unit). Raises KeyError."""
    for line in status.splitlines():
        key, _, rest = line.partition(":")
        if key == name:
            return int(rest.split()[0])
    raise KeyError(name)

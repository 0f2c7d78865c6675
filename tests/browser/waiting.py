"""What a browser test needs and waits for."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest


def need(*programs: str) -> None:
    """Skips (in CI: fails) when a program is missing, with the line that installs it."""
    _need([program for program in programs if shutil.which(program) is None])


def need_file(file: Path) -> None:
    """The same for data."""
    _need([] if file.exists() else [str(file)])


def _need(missing: list[str]) -> None:
    if missing:
        reason = f"not installed: {', '.join(missing)} (make system-deps)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)


async def until(probe: Callable[[], Awaitable[Any]], what: str, within: float = 30.0) -> Any:
    """The first true answer of `probe`; a loaded two-core machine needs generous limits."""
    end = time.monotonic() + within
    while True:
        answer = await probe()
        if answer:
            return answer
        assert time.monotonic() < end, f"not within {within} s: {what}"
        await asyncio.sleep(0.1)

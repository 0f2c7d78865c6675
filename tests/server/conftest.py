"""One running server per test."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.server.world import World, open_world


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the machine that runs the tests reaches them."""
    for name in list(os.environ):
        if name.startswith(("PIDJIN_", "GEMINI_", "GOOGLE_", "FIREBASE_", "FIRESTORE_")):
            monkeypatch.delenv(name)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path) as opened:
        yield opened

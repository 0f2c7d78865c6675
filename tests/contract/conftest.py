"""Every store, opened and empty. A new adapter joins here; the suite below names no backend."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.store.firestore import Deadlines, FirestoreStore
from server.store.port import Store
from server.store.sqlite import SqliteStore
from tests.emulator import new_project

# A cold emulator on a busy machine has been seen to think for 8 s about its first call.
PATIENT = Deadlines(call=30.0, query=30.0, transaction=60.0)


@pytest.fixture
async def sqlite(tmp_path: Path) -> AsyncIterator[Store]:
    opened = SqliteStore(tmp_path / "fresh" / "store.sqlite3", indexes=("owner",))
    yield opened
    await opened.close()


@pytest.fixture
async def firestore(firestore_host: str) -> AsyncIterator[Store]:
    opened = FirestoreStore(new_project(), emulator_host=firestore_host, deadlines=PATIENT)
    yield opened
    await opened.close()


@pytest.fixture(params=["sqlite", "firestore"])
def store(request: pytest.FixtureRequest) -> Store:
    opened: Store = request.getfixturevalue(request.param)
    return opened

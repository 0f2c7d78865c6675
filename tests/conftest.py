"""Rules that hold for every test: marks name real requirements, leaked task errors fail the run."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.emulator import EmulatorMissing, emulator


@pytest.fixture(scope="session")
def firestore_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """host:port of a running Firestore emulator; CI may not silently run half of the suite."""
    try:
        with emulator(tmp_path_factory.mktemp("firestore")) as host:
            yield host
    except EmulatorMissing as missing:
        if os.environ.get("CI"):
            pytest.fail(str(missing))
        pytest.skip(str(missing))

"""Rules that hold for every test: marks name real requirements, leaked task errors fail the run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

# Their assertions tell what they found, as those of the tests do.
pytest.register_assert_rewrite("tests.call", "tests.rig", "tests.media.peers")

from tests.emulator import EmulatorMissing, emulator  # noqa: E402


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


# `make test` uses two workers. What plays in real time mostly waits: the browsers' tests on one,
# the lessons' on the other, one after another; all else goes where there is room (loadgroup).
REAL_TIME = {
    "browser": "browser",
    "lesson": "lesson",
    "smoke": "lesson",
    "ecosystem": "lesson",
    "firebase_client": "lesson",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        room = item.path.relative_to(here).parts[0]
        if room in REAL_TIME:
            item.add_marker(pytest.mark.xdist_group(REAL_TIME[room]))

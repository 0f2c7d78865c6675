"""Rules that hold for every test: marks name real requirements, leaked task errors fail the run."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

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


# What plays in real time mostly waits, and two of a kind disturb each other: the lessons' tests run
# on one worker, the browsers' on another, one after another. Of all else a file goes where there is
# room: first to the third worker, which steps back (`nice`) for those two.
REAL_TIME = {
    "browser": "browser",
    "smoke": "browser",
    "ecosystem": "browser",
    "firebase_client": "browser",
    "lesson": "lesson",
}
BACKGROUND, NICE = "gw2", 10


class Rooms(LoadScopeScheduling):
    """Scopes are kinds of real time, and files. (xdist 3.8 has groups of its own for this; with
    pytest 9.2 they are silently without effect: docs/notes/libraries.md.)"""

    def _split_scope(self, nodeid: str) -> str:
        return room_of(nodeid)

    def _assign_work_unit(self, node: WorkerController) -> None:
        """The kinds of real time first, and never to the one that steps back."""
        steps_back = node.gateway.id == BACKGROUND
        fit = [scope for scope in self.workqueue if (scope in REAL_TIME.values()) is not steps_back]
        if fit:
            self.workqueue.move_to_end(fit[0], last=False)
        super()._assign_work_unit(node)


def room_of(nodeid: str) -> str:
    """What runs one after another on one worker: a kind of real time, or a file."""
    file = nodeid.partition("::")[0]
    return REAL_TIME.get(file.split("/")[1], file)


def pytest_sessionstart(session: pytest.Session) -> None:
    if getattr(session.config, "workerinput", {}).get("workerid") == BACKGROUND:
        os.nice(NICE)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Rooms:
    return Rooms(config, log)

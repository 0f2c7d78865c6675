"""What plays in real time is not disturbed by another of its kind."""

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import BACKGROUND, room_of

PROBE = """
import os
import pytest

@pytest.mark.parametrize("n", range(6))
def test_something(n):
    steps_back = os.environ["PYTEST_XDIST_WORKER"] == "gw2"
    assert os.nice(0) == min(19, int(os.environ["NICE"]) + 10 * steps_back)
"""


def test_lessons_are_a_room_and_browsers_another() -> None:
    lesson = {room_of(f"tests/lesson/test_{n}.py::test_a[x/y]") for n in "ab"}
    browser = {room_of(f"tests/browser/test_{n}.py::TestA::test_b") for n in "ab"}
    others = {room_of(f"tests/media/test_{n}.py::test_c") for n in "ab"}
    assert len(lesson) == len(browser) == 1
    assert lesson != browser
    assert len(others) == 2


def test_the_workers_keep_to_the_rooms(tmp_path: Path) -> None:
    """Run for real: an upgrade that no longer asks our scheduler shows here."""
    here = Path(__file__).parent
    rooms = tmp_path / "tests"
    for name in ("lesson", "browser", "media"):
        (rooms / name).mkdir(parents=True)
        for n in "ab":
            (rooms / name / f"test_{name}_{n}.py").write_text(PROBE)
    (rooms / "conftest.py").write_text((here / "conftest.py").read_text())
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    environment = {**os.environ, "PYTHONPATH": str(here.parent), "NICE": str(os.nice(0))}
    command = ["-n", "3", "--dist", "loadscope", "-v", "-p", "no:cacheprovider"]
    told = subprocess.run(
        [sys.executable, "-m", "pytest", *command], cwd=tmp_path, env=environment,
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    passed = [line.split() for line in told.splitlines() if " PASSED " in line]
    assert len(passed) == 3 * 2 * 6, told
    workers = {
        name: {words[0].strip("[]") for words in passed if f"/{name}/" in words[-1]}
        for name in ("lesson", "browser")
    }
    assert sum(len(found) for found in workers.values()) == 2, told
    assert workers["lesson"] != workers["browser"], told
    assert BACKGROUND not in workers["lesson"] | workers["browser"], told

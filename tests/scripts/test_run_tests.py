"""The batteries by name: what each runs, that together they run everything, and wrong names."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

BATTERIES = ("functions", "rules", "smoke", "app", "bridge", "scan")


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["scripts/run-tests.sh", *words], capture_output=True, text=True, timeout=60
    )


def commands(battery: str) -> list[list[str]]:
    done = run("--print", battery)
    assert done.returncode == 0, done.stderr
    return [line.split() for line in done.stdout.splitlines()]


def selected(battery: str) -> set[str]:
    """Paths under tests/ that a battery gives to pytest."""
    words = [word for command in commands(battery) for word in command]
    return {word for word in words if word == "tests" or word.startswith("tests/")}


@pytest.mark.req("TEST-1")
@pytest.mark.parametrize("words", [(), ("everything",), ("--print",), ("--print", "nope")])
def test_a_wrong_name_tells_the_names_and_fails(words: tuple[str, ...]) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert "functions|rules|smoke|app|bridge|scan" in done.stderr
    assert done.stdout == ""


@pytest.mark.req("TEST-1", "TEST-12", "TEST-14", "TEST-15", "TEST-16")
@pytest.mark.parametrize(
    ("battery", "paths"),
    [
        ("rules", {"tests/rules", "tests/server/test_access.py"}),
        ("smoke", {"tests/smoke"}),
        ("bridge", {"tests/media", "tests/bench"}),
    ],
)
def test_a_battery_runs_its_tests(battery: str, paths: set[str]) -> None:
    assert selected(battery) == paths
    for path in paths:
        assert Path(path).exists(), path


@pytest.mark.req("TEST-1", "TEST-2")
def test_what_no_other_battery_takes_is_of_functions() -> None:
    (command,) = commands("functions")
    assert "tests" in command
    ignored = {word.removeprefix("--ignore=") for word in command if word.startswith("--ignore=")}
    assert ignored == set().union(*(selected(name) for name in BATTERIES if name != "functions"))


@pytest.mark.req("TEST-13")
def test_the_app_battery_has_the_clients_own_tests() -> None:
    npm = [command for command in commands("app") if "npm" in command]
    assert [command[-1] for command in npm] == ["check", "test"]
    assert {"tests/lesson", "tests/browser"} <= selected("app")


@pytest.mark.req("AUTH-16", "TEST-16")
def test_the_scan_battery_runs_and_tells_its_outcome(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("AIza" + "Sy" * 17 + "x")
    done = run("scan", str(tmp_path))
    assert done.returncode == 1
    assert "notes.txt:1: Google API key" in done.stdout


def test_further_words_go_to_pytest() -> None:
    done = run("--print", "rules", "-k", "admin")
    assert done.stdout.strip().endswith("-k admin")

"""What the client is built with comes from a registry, and a registry may stumble."""

from pathlib import Path

import pytest

import hatch_build

EMPTY_LOCK = '{"name": "x", "version": "1.0.0", "lockfileVersion": 3, "packages": {}}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With a part of an earlier installation, and a lock file that npm refuses."""
    (tmp_path / "package.json").write_text('{"name": "x", "version": "1.0.0"}')
    (tmp_path / "package-lock.json").write_text("not a lock file")
    (tmp_path / "node_modules" / "a-part").mkdir(parents=True)
    return tmp_path


def test_nothing_is_left_of_an_installation_that_failed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("hatch_build.time.sleep", pauses.append)
    with pytest.raises(RuntimeError, match=r"^npm ci .* failed in "):
        hatch_build.install(folder)
    assert pauses == list(hatch_build.PAUSES_S)
    assert not (folder / "node_modules").exists()


def test_a_later_attempt_may_do(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            (folder / "package-lock.json").write_text(EMPTY_LOCK)

    monkeypatch.setattr("hatch_build.time.sleep", pause)
    hatch_build.install(folder)
    assert pauses == list(hatch_build.PAUSES_S[:2])

"""Preparing a release, and deploying rules and indexes: what is touched, and what is not."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from datetime import date
from pathlib import Path

import pytest

from scripts import release
from scripts.release import CannotRelease, bump, check, main, present_version, stage, staged

ROOT = Path(__file__).resolve().parents[2]
ROOT_FILES = {"index.html", "robots.txt", "design.md", "SPEC.md", "web/index.html"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """What a release reads of the tree, built as version 9.9.9."""
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copyfile(ROOT / name, tmp_path / name)
    for source in release.FILES:
        (tmp_path / source).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / source).write_text(source)
    app = tmp_path / "client" / "dist" / "9.9.9"
    app.mkdir()
    for name in ("index.html", "app.js", "app.css", "app.js.map"):
        (app / name).write_text(name)
    return tmp_path


@pytest.mark.req("HOME-17")
def test_a_dry_run_lists_the_root_files_and_one_version_folder(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = (ROOT / "pyproject.toml").read_text()
    assert main(["9.9.9", "--dry-run"]) == 0
    first, *listed = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{present_version()} -> 9.9.9")
    assert set(listed) >= ROOT_FILES
    assert [line for line in listed if line[:5] == "web/9"] == ["web/9.9.9/"]
    assert (ROOT / "pyproject.toml").read_text() == before


@pytest.mark.req("HOME-17", "HOME-14", "HOME-16")
def test_what_is_staged_is_what_the_web_serves(tree: Path) -> None:
    (tree / "site" / "web" / "0.0.1").mkdir(parents=True)
    addresses = set(stage("9.9.9", tree / "site", tree))
    assert addresses >= ROOT_FILES
    there = {path.relative_to(tree / "site").as_posix() for path in (tree / "site").rglob("*.*")}
    assert there - {"web/9.9.9"} == addresses
    assert {name for name in addresses if "9.9.9" in name} == {
        "web/9.9.9/index.html",
        "web/9.9.9/app.js",
        "web/9.9.9/app.css",
    }
    assert (tree / "site" / "index.html").read_text() == "client/dist/home.html"


def test_every_file_that_the_home_page_names_is_staged(tree: Path) -> None:
    home = (ROOT / "client" / "src" / "home.html").read_text()
    named = set(re.findall(r'(?:src|href)="/(web/[^"]+\.\w+|\w+\.\w+)"', home))
    assert named >= {"web/home.css", "web/icon.svg", "SPEC.md"}
    assert named <= set(staged("9.9.9", tree))


@pytest.mark.req("HOME-17")
def test_the_version_moves_in_both_places(tree: Path) -> None:
    bump("9.9.9", date(2026, 12, 1), tree)
    assert present_version(tree) == "9.9.9"
    log = (tree / "CHANGELOG.md").read_text()
    assert log.index("## Unreleased") < log.index("## 9.9.9 (2026-12-01)")
    old, new = ((root / "pyproject.toml").read_text().splitlines() for root in (ROOT, tree))
    assert sum(a != b for a, b in zip(old, new, strict=True)) == 1


@pytest.mark.parametrize("version", ["0.0.1", "1", "v1.2.3", "1.2.3-rc1", "1.2.3\n", ""])
def test_an_odd_or_earlier_version_is_refused(version: str) -> None:
    with pytest.raises(CannotRelease):
        check(version)
    assert main([version, "--dry-run"]) == 1


def test_an_unbuilt_client_is_no_release(tree: Path) -> None:
    with pytest.raises(CannotRelease, match="not built"):
        stage("9.9.8", tree / "site", tree)
    (tree / "client/dist/home.html").unlink()
    with pytest.raises(CannotRelease, match=r"home\.html"):
        stage("9.9.9", tree / "site", tree)


def deploy(*words: str, path: str = os.defpath) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ROOT / "scripts" / "deploy-rules.sh", *words],
        capture_output=True,
        text=True,
        timeout=30,
        env={"PATH": path},
    )


@pytest.mark.req("HOME-17")
def test_rules_and_indexes_are_deployed_by_one_script(tmp_path: Path) -> None:
    done = deploy("--dry-run", "my-school-4f2a1")
    assert done.returncode == 0
    assert done.stdout.split("\n")[:2] == ["firestore.rules", "firestore.indexes.json"]
    seen = tmp_path / "seen"
    tool = tmp_path / "firebase"
    tool.write_text(f'#!/bin/sh\n{{ echo "$@"; cat firebase.json; ls; }} > {seen}\n')
    tool.chmod(0o755)
    done = deploy("my-school-4f2a1", path=f"{tmp_path}:{os.defpath}")
    assert done.returncode == 0, done.stderr
    text = seen.read_text()
    assert text.startswith("deploy --only firestore --project my-school-4f2a1\n")
    assert '"indexes": "firestore.indexes.json"' in text
    assert "firestore.rules\n" in text


@pytest.mark.parametrize("words", [(), ("a b",), ("--force",), ("x", "y"), ("",)])
def test_a_deployment_needs_a_project(words: tuple[str, ...]) -> None:
    assert deploy(*words).returncode == 2


@pytest.mark.req("HOME-18")
def test_no_hosted_workflow_is_relied_on_and_one_command_runs_everything() -> None:
    for hosted in (".github/workflows", ".gitlab-ci.yml", ".circleci", "azure-pipelines.yml"):
        assert not (ROOT / hosted).exists()
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    commands = [line for line in lines if line and not line.startswith(("#", "set ", "cd "))]
    assert commands == ["make test"]
    make = subprocess.run(
        ["make", "--dry-run", "--always-make", "test", "check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
    ).stdout
    for step in ("ruff check", "mypy", "secret_scan.py", "run -s test", "-m pytest"):
        assert step in make, step

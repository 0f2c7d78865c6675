"""The secret scan: clean trees pass, every kind of planted key fails, and lock files name no index.

The planted keys are put together here, so that this file passes the scan itself.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.secret_scan import PATTERNS, findings

SCRIPT = Path("scripts/secret_scan.py").resolve()
ROOT = SCRIPT.parent.parent
BASE64 = "MIIEvQIBADANBgkqhkiG9w0BAQ"

PLANTED = {
    "Google API key": "AIza" + "Sy" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q",
    "private key": "-----BEGIN " + f"PRIVATE KEY-----\n{BASE64}\n",
    "service account": '"private_key' + '_id": "' + "0a1b2c3d4e" * 4 + '"',
    "GitHub token": "gh" + "p_" + "a1B2" * 9,
    "AWS key": "AKI" + "A" + "ABCDEFGH12345678",
    "bearer JSON web token": ".".join(("ey" + "J" + "a" * 24, "ey" + "J" + "b" * 24, "c" * 24)),
}


def scan(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), str(root)], capture_output=True, text=True, timeout=120
    )


def tree(root: Path) -> Path:
    """A small project without secrets."""
    (root / "src").mkdir()
    (root / "src" / "app.py").write_text('KEY = os.environ["GEMINI_API_KEY"]\n# AIza is a prefix\n')
    (root / "requirements.lock").write_text("aiohttp==3.14.5 --hash=sha256:" + "0" * 64 + "\n")
    (root / "README.md").write_text("See https://example.org/ for more.\n")
    return root


@pytest.mark.req("AUTH-16", "TEST-16")
def test_a_clean_tree_passes(tmp_path: Path) -> None:
    done = scan(tree(tmp_path))
    assert (done.returncode, done.stdout) == (0, "secret scan: nothing found\n")


@pytest.mark.req("AUTH-16")
def test_every_pattern_has_a_planted_key() -> None:
    assert PLANTED.keys() == PATTERNS.keys()


@pytest.mark.req("AUTH-16", "TEST-16")
@pytest.mark.parametrize("what", PLANTED)
def test_a_planted_key_fails_with_its_place_and_without_itself(tmp_path: Path, what: str) -> None:
    key = PLANTED[what]
    (tree(tmp_path) / "src" / "notes.txt").write_text(f"first line\nsecret: {key}\n")
    done = scan(tmp_path)
    assert done.returncode == 1
    assert done.stdout == f"src/notes.txt:2: {what}\n"
    assert key.splitlines()[-1] not in done.stdout


@pytest.mark.req("AUTH-16")
def test_a_checkout_is_scanned_with_what_is_not_committed_yet(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tree(tmp_path))], check=True)
    (tmp_path / ".gitignore").write_text("ignored/\n")
    (tmp_path / "ignored").mkdir()
    (tmp_path / "ignored" / "own.env").write_text(PLANTED["GitHub token"])
    assert findings(tmp_path) == []
    (tmp_path / "new.env").write_text(PLANTED["GitHub token"])
    assert findings(tmp_path) == ["new.env:1: GitHub token"]


def test_a_lock_file_names_no_download_address(tmp_path: Path) -> None:
    (tree(tmp_path) / "requirements.lock").write_text("--index-url https://example.org/simple\n")
    assert findings(tmp_path) == ["requirements.lock:1: download address in a lock file"]


@pytest.mark.req("AUTH-16", "TEST-16")
def test_this_tree_passes() -> None:
    assert findings(ROOT) == []

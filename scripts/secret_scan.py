"""Fails on strings in the tree that look like keys, and on addresses that do not belong here.

`python scripts/secret_scan.py [ROOT]`: scans what git tracks (or every file under ROOT when it is
no checkout), prints `file:line: what` and exits 1 on a finding.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PATTERNS = {
    "Google API key": re.compile(r"AIza[0-9A-Za-z_-]{35}"),
    "private key": re.compile(r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----\s*\n?[A-Za-z0-9+/=]{16,}"),
    "service account": re.compile(r'"private_key_id"\s*:\s*"[0-9a-f]{40}"'),
    "GitHub token": re.compile(r"gh[pousr]_[A-Za-z0-9]{36,}"),
    "AWS key": re.compile(r"AKIA[0-9A-Z]{16}"),
    "bearer JSON web token": re.compile(r"eyJ[\w-]{20,}\.eyJ[\w-]{20,}\.[\w-]{20,}"),
}
ADDRESS = re.compile(r"https?://")
LOCK_FILES = re.compile(
    r"(requirements.*\.(lock|txt)|package-lock\.json|uv\.lock|\.npmrc|pip\.conf)$"
)
MAX_BYTES = 4 << 20


def files(root: Path) -> list[Path]:
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0:
        return [root / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in root.rglob("*") if path.is_file()]


def findings(root: Path) -> list[str]:
    found = []
    for path in files(root):
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            continue
        text = path.read_text("utf-8", "ignore")
        checks = dict(PATTERNS)
        if LOCK_FILES.search(path.name):
            checks["download address in a lock file"] = ADDRESS
        for what, pattern in checks.items():
            for match in pattern.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                found.append(f"{path.relative_to(root)}:{line}: {what}")
    return found


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    found = findings(root)
    print("\n".join(found) if found else "secret scan: nothing found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

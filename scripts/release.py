"""Prepares a release: the new version in pyproject.toml and CHANGELOG.md, the built client, and
everything that the web serves as files, staged in one folder.

    python scripts/release.py 0.2.0             # build/site: for a look, or for a static host
    python scripts/release.py 0.2.0 --dry-run   # says what it would do, and touches nothing

Nothing is committed, tagged or sent. An installed server serves the same files itself.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STAGE = Path("build/site")
UNRELEASED = "## Unreleased"
_VERSION = re.compile(r'^version = "([^"]+)"$', re.MULTILINE)
_WANTED = re.compile(r"\d+\.\d+\.\d+\Z")
# Where a file is in the tree -> where the web has it.
FILES = {
    "client/dist/home.html": "index.html",
    "client/dist/home.css": "web/home.css",
    "client/dist/icon.svg": "web/icon.svg",
    "client/dist/index.html": "web/index.html",
    "client/dist/app.js": "web/app.js",
    "server/static/robots.txt": "robots.txt",
    "docs/SPEC.md": "SPEC.md",
    "docs/design.md": "design.md",
}


class CannotRelease(Exception):
    """One sentence on why not."""


def present_version(root: Path = ROOT) -> str:
    found = _VERSION.search((root / "pyproject.toml").read_text("utf-8"))
    if found is None:
        raise CannotRelease("pyproject.toml names no version")
    return found[1]


def check(version: str, root: Path = ROOT) -> None:
    """Raises CannotRelease unless `version` is a later one than the present."""
    if not _WANTED.match(version):
        raise CannotRelease(f"{version} is no version such as 1.2.3")
    present = present_version(root)
    if _numbers(version) <= _numbers(present):
        raise CannotRelease(f"{version} is not later than {present}")
    if UNRELEASED not in (root / "CHANGELOG.md").read_text("utf-8"):
        raise CannotRelease(f"CHANGELOG.md has no {UNRELEASED}")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def bump(version: str, today: date, root: Path = ROOT) -> None:
    """The version in pyproject.toml, and the heading of what changed with it."""
    for name, old, new in (
        ("pyproject.toml", f'version = "{present_version(root)}"', f'version = "{version}"'),
        ("CHANGELOG.md", UNRELEASED, f"{UNRELEASED}\n\n## {version} ({today:%Y-%m-%d})"),
    ):
        file = root / name
        file.write_text(file.read_text("utf-8").replace(old, new, 1), "utf-8")


def staged(version: str, root: Path = ROOT) -> dict[str, Path]:
    """Address without the first slash -> file. The app's own folder as far as it is built."""
    files = {address: root / source for source, address in FILES.items()}
    built = root / "client" / "dist" / version
    for file in sorted(built.rglob("*")) if built.is_dir() else ():
        if file.is_file() and file.suffix != ".map":
            files[f"web/{version}/{file.relative_to(built).as_posix()}"] = file
    return files


def stage(version: str, folder: Path, root: Path = ROOT) -> list[str]:
    """Copies the files into an emptied `folder`; their addresses."""
    files = staged(version, root)
    absent = [str(file.relative_to(root)) for file in files.values() if not file.is_file()]
    if absent or f"web/{version}/index.html" not in files:
        raise CannotRelease(f"not built: {', '.join(absent) or f'client/dist/{version}'}")
    shutil.rmtree(folder, ignore_errors=True)
    for address, file in files.items():
        target = folder / address
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    return sorted(files)


def main(argv: Sequence[str] | None = None) -> int:
    """Exit codes: 0 prepared, 1 not, with one sentence on standard error."""
    parser = argparse.ArgumentParser(prog="release.py", description="Prepares a release.")
    parser.add_argument("version", help="such as 1.2.3, later than the present one")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
    options = parser.parse_args(argv)
    try:
        check(options.version)
        if options.dry_run:
            print(f"{present_version()} -> {options.version}; files of {STAGE}:")
            print(*sorted({*staged(options.version), f"web/{options.version}/"}), sep="\n")
            return 0
        bump(options.version, datetime.now(UTC).date())
        subprocess.run([sys.executable, ROOT / "hatch_build.py"], check=True)
        print(*stage(options.version, ROOT / STAGE), sep="\n")
    except (CannotRelease, OSError, subprocess.CalledProcessError) as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    print(f"{options.version} is prepared. Next: make test, commit, tag v{options.version}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

